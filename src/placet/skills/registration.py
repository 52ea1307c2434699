"""tool.toml: what placet decides by, for the tool of one skill.

```toml
name = "get_weather"
effect = "read"
roles = ["*"]
open_world = true
timeout = "5s"
limit = ["30/minute"]

[progress]
en = "looking up the weather in {city}…"
```

Functions are named by their names in handler.py: `resource = "load_order"`,
`authorise = "owns_order"`, `preview = "preview_refund"`. An approval is a table:
`[approval]` with `approvers = ["finance"]` (or `confirm = true`), `ttl = "15m"`, `when = "is_large"`.
"""

import tomllib
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, Final

from placet.errors import ConfigurationError, SkillError
from placet.values.approval import Approval, ApprovalRule, Confirmation
from placet.values.json import is_object
from placet.values.limits import APPROVAL_TTL

_PLAIN: Final = (
    "effect", "roles", "timeout", "limit", "redact", "waiver", "open_world", "survival", "isolation",
    "writable_output", "trusted_arguments", "max_result_bytes", "progress", "answer", "description",
)  # fmt: skip
_FUNCTIONS: Final = ("resource", "authorise", "preview")
_APPROVAL_KEYS: Final = frozenset({"approvers", "confirm", "ttl", "when"})
KEYS: Final = frozenset({"name", "handler", "approval", *_PLAIN, *_FUNCTIONS})


def read_registration(text: str, *, skill: str) -> dict[str, Any]:
    """Return the keys of a tool.toml.

    Raises:
        SkillError: It is no TOML, lacks `name` or `effect`, or has unknown keys.
    """
    try:
        form = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SkillError(f"skill {skill!r}: tool.toml is no TOML: {error}") from error
    unknown = sorted(set(form) - KEYS)
    if unknown:
        raise SkillError(f"skill {skill!r}: tool.toml has unknown keys {unknown}; known are {sorted(KEYS)}")
    for key in ("name", "effect"):
        if not isinstance(form.get(key), str):
            raise SkillError(f"skill {skill!r}: tool.toml must say {key!r}; nothing is assumed about it")
    return form


def options_of(form: Mapping[str, Any], handler: ModuleType, *, skill: str) -> dict[str, Any]:
    """Return the options of `@tool` that a registration says, its functions taken from the handler.

    Raises:
        SkillError: It names a function that the handler does not have, or an approval that is none.
    """
    options: dict[str, Any] = {key: form[key] for key in _PLAIN if key in form}
    for key in _FUNCTIONS:
        if key in form:
            options[key] = find_function(handler, form[key], skill=skill, key=key)
    if "approval" in form:
        options["approval"] = _approval(form["approval"], handler, skill)
    options["name"] = form["name"]
    return options


def find_function(handler: ModuleType, name: Any, *, skill: str, key: str) -> Callable[..., Any]:
    """Return the function of this name in a handler.

    Raises:
        SkillError: There is none.
    """
    found = getattr(handler, name, None) if isinstance(name, str) else None
    if not callable(found):
        raise SkillError(f"skill {skill!r}: tool.toml says {key} = {name!r}, and handler.py has no such function")
    function: Callable[..., Any] = found
    return function


def _approval(form: Any, handler: ModuleType, skill: str) -> ApprovalRule:
    if not is_object(form) or set(form) - _APPROVAL_KEYS or ("approvers" in form) == bool(form.get("confirm")):
        raise SkillError(
            f'skill {skill!r}: [approval] takes either approvers = ["role"] or confirm = true, and ttl and when'
        )
    ttl = form.get("ttl", APPROVAL_TTL)
    when = find_function(handler, form["when"], skill=skill, key="approval.when") if "when" in form else None
    try:
        if "approvers" not in form:
            return Confirmation.when(when, ttl=ttl) if when else Confirmation.always(ttl=ttl)
        approvers = form["approvers"]
        if when:
            return Approval.when(when, approvers=approvers, ttl=ttl)
        return Approval.always(approvers=approvers, ttl=ttl)
    except ConfigurationError as error:
        raise SkillError(f"skill {skill!r}: {error}") from error
