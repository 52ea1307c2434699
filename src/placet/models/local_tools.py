"""How tools are shown to the embedded model: as little as helps it.

The model is English first. What helps it in another language is the sentence that a person
reads there while the tool runs: it holds the tool's own words in that language. Right tools,
and right tools with right arguments, of the 60 questions of the shop's `tune` set:

| shown | tool | with arguments |
|---|---|---|
| first sentence of the description, types, descriptions of parameters | 34 | 30 |
| the same, and enumerations | 31 | 28 |
| the same, and the whole description | 32 | 29 |
| first sentence, enumerations, the progress sentence in brackets | 34 | 30 |
| first sentence, enumerations, the progress sentence after it | 36 | 32 |
| **the same, with the English sentence for Romanian** | **37** | **32** |
| each in its own language, and a prompt that names the language | 35 | 31 |
| the same without it, and "copied word for word" at every text | 29 | 26 |

`python -m bench.local_model` asks them again, and those that were held out.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from placet.values.json import Json, JsonObject
from placet.values.tool import ToolSpec, VisibleTools

_SENTENCE: Final = re.compile(r"(?<=[.!?])\s")
_PLACES: Final = re.compile(r"\{[^{}]*\}|…")
_HELPED: Final = ("en", "pt-BR")
"""Languages in which a tool's own sentence helps; a Romanian question is read better beside an English one."""
_SHOWN: Final = ("type", "enum", "description")


def present_tools(tools: VisibleTools, language: str) -> str:
    """Return the JSON text of the tools, as the engine takes it; made once for each set of roles and language.

    Args:
        tools: What the principal may see.
        language: Of the person.
    """
    key = f"local:{language}"
    text: str | None = tools.wire.get(key)
    if text is None:
        text = tools.wire[key] = json.dumps([_present_tool(spec, language) for spec in tools.specs], ensure_ascii=False)
    return text


def _present_tool(spec: ToolSpec, language: str) -> dict[str, Any]:
    schema = spec.input_schema
    properties = schema.get("properties")
    parameters: dict[str, Any] = {
        "type": "object",
        "properties": {
            name: _present_parameter(parameter)
            for name, parameter in (properties.items() if isinstance(properties, Mapping) else ())
        },
    }
    if required := schema.get("required"):
        parameters["required"] = required
    return {"name": spec.name, "description": _describe(spec, language), "parameters": parameters}


def _describe(spec: ToolSpec, language: str) -> str:
    first = _SENTENCE.split(" ".join(spec.description.split()), maxsplit=1)[0]
    shown = spec.progress.get(language if language in _HELPED else "en", "")
    progress = " ".join(_PLACES.sub(" ", shown).split())
    return f"{first} {progress}" if progress else first


def _present_parameter(parameter: Json) -> JsonObject:
    if not isinstance(parameter, Mapping):
        return {}
    choices = parameter.get("anyOf")
    some = (
        [one for one in choices if isinstance(one, Mapping) and one.get("type") != "null"]
        if isinstance(choices, list)
        else []
    )
    shown = {**some[0], **parameter} if len(some) == 1 else parameter
    return {word: shown[word] for word in _SHOWN if word in shown}
