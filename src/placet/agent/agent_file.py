"""Agent files: an agent written down in Markdown.

```markdown
---
description: Answers questions about orders.
tools: [get_order_status, cancel_order]
limits: {turns: 3}
---
You help the customers of a small shop …
```
"""

import math
from dataclasses import fields
from datetime import timedelta
from typing import Any, Final

from placet.agent.definition import AgentDefinition
from placet.agent.markdown import read_markdown
from placet.errors import AgentFileError, ConfigurationError
from placet.values.json import is_array, is_object
from placet.values.limits import MODEL_TIMEOUT, Budget, duration
from placet.words.language import LANGUAGES, normalise_language

_KEYS: Final = frozenset({"name", "description", "tools", "model", "limits", "timeout", "language", "settings"})


def parse_agent(text: str, *, name: str) -> AgentDefinition:
    """Return the agent that a Markdown text with front matter defines.

    Args:
        text: The whole file.
        name: The agent's name, unless the front matter gives one.

    Raises:
        AgentFileError: It has no front matter, an unknown key, one twice, or a value of the wrong kind.
    """
    try:
        front, prompt = read_markdown(text)
        unknown = sorted(str(key) for key in front if key not in _KEYS)
        if unknown:
            raise AgentFileError(f"unknown keys {unknown}; known are {sorted(_KEYS)}")
        return _definition(front, prompt, name)
    except (ConfigurationError, TypeError) as error:
        raise AgentFileError(f"agent {name!r}: {error}") from error


def _definition(front: dict[str, Any], prompt: str, name: str) -> AgentDefinition:
    return AgentDefinition(
        name=_text(front, "name", name),
        prompt=prompt,
        description=_text(front, "description", ""),
        tools=_tools(front["tools"]) if "tools" in front else None,
        model=_text(front, "model", None),
        budget=_budget(front.get("limits", {})),
        model_timeout=_timeout(front["timeout"]) if "timeout" in front else MODEL_TIMEOUT,
        language=_language(_text(front, "language", "en")),
        settings=_mapping(front.get("settings", {}), "settings"),
    )


def _text(front: dict[str, Any], key: str, default: Any) -> Any:
    value = front.get(key, default)
    if value is not default and not isinstance(value, str):
        raise AgentFileError(f"{key!r} must be a text, not {value!r}")
    return value


def _tools(value: Any) -> tuple[str, ...]:
    if value is None:
        raise AgentFileError("'tools' says nothing: write [] for none, or leave the key out for all")
    names: Any = [name.strip() for name in value.split(",")] if isinstance(value, str) else value
    if not is_array(names) or not all(isinstance(name, str) and name for name in names):
        raise AgentFileError(f"'tools' must be a list of names, not {value!r}")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise AgentFileError(f"'tools' names {twice} twice")
    return tuple(names)


def _budget(value: Any) -> Budget:
    limits = _mapping(value, "limits")
    known = {bound.name for bound in fields(Budget)}
    unknown = sorted(set(limits) - known)
    if unknown:
        raise AgentFileError(f"'limits' has unknown keys {unknown}; known are {sorted(known)}")
    for key, bound in limits.items():
        if isinstance(bound, bool) or not isinstance(bound, int | float) or not math.isfinite(bound):
            raise AgentFileError(f"'limits.{key}' must be a number, not {bound!r}")
    return Budget(**limits)


def _timeout(value: Any) -> timedelta:
    if not isinstance(value, int | float | str) or (isinstance(value, float) and not math.isfinite(value)):
        raise AgentFileError(f"'timeout' must be seconds or a text such as '30s', not {value!r}")
    return duration(value)


def _language(tag: str) -> str:
    language = normalise_language(tag)
    if language is None:
        raise AgentFileError(f"'language' {tag!r} is none that placet speaks; it speaks {', '.join(LANGUAGES)}")
    return language


def _mapping(value: Any, key: str) -> dict[str, Any]:
    if not is_object(value):
        raise AgentFileError(f"{key!r} must be keys with values, not {value!r}")
    return value
