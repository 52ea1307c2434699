"""How tools are shown to the embedded model: as little as helps it.

Measured with `bench/local_model.py`.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from placet.values.json import Json, JsonObject
from placet.values.tool import ToolSpec, VisibleTools

_SENTENCE: Final = re.compile(r"(?<=[.!?])\s")
_PLACES: Final = re.compile(r"\{[^{}]*\}|…")
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
    progress = " ".join(_PLACES.sub(" ", spec.progress.get(language, "")).split())
    return f"{first} ({progress})" if progress else first


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
