"""Quoted arguments: a list or an object that a model has sent as JSON in a text.

Some models write one argument as they would write all of them. Where the tool declares a
list or an object, and nothing that could be text, what such a text means is no guess: the
JSON in it, if it is exactly one value without repeated keys. Where a text may stand, it is one.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import jiter

from placet.tools.schema_parts import definition
from placet.values.json import Json, JsonObject

_KINDS: Final[Mapping[str, type]] = {"array": list, "object": dict}


def unquote(parsed: Mapping[str, Any], schema: JsonObject) -> tuple[dict[str, Any], str] | None:
    """Return arguments without one level of quotes, and what is noted of it; None where nothing is quoted.

    Args:
        parsed: The arguments, which the tool does not take.
        schema: What it takes.
    """
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return None
    found: dict[str, Any] = {}
    for name, value in parsed.items():
        if isinstance(value, str) and name in properties:
            kinds = _kinds_of(properties[name], schema, 0)
            inner = _read(value) if kinds and kinds <= {*_KINDS, "null"} else None
            if any(kind in kinds and type(inner) is _KINDS[kind] for kind in _KINDS):
                found[name] = inner
    if not found:
        return None
    return {**parsed, **found}, f"one level of quotes around {', '.join(map(repr, found))} was unwrapped"


def write(parsed: Mapping[str, Any]) -> bytes:
    """Return arguments as JSON."""
    return json.dumps(parsed, ensure_ascii=False, allow_nan=False).encode()


def _read(text: str) -> Any:
    try:
        return jiter.from_json(text.encode(), catch_duplicate_keys=True, allow_inf_nan=False)
    except ValueError:
        return None


def _kinds_of(part: Json, schema: JsonObject, depth: int) -> set[str]:
    """Return the kinds of JSON that a schema takes; empty where that is not plain to see."""
    if not isinstance(part, Mapping) or depth > 8:
        return set()
    reference = part.get("$ref")
    if isinstance(reference, str):
        return _kinds_of(definition(schema, reference), schema, depth + 1)
    kind = part.get("type")
    if isinstance(kind, str):
        return {kind}
    if isinstance(kind, Sequence):
        return {one for one in kind if isinstance(one, str)}
    arms = part.get("anyOf", part.get("oneOf"))
    if not isinstance(arms, Sequence) or isinstance(arms, str) or not arms:
        return set()
    kinds = [_kinds_of(arm, schema, depth + 1) for arm in arms]
    return set[str]().union(*kinds) if all(kinds) else set()
