"""Json: what goes over a wire, and its one canonical form."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, TypeGuard

Json: TypeAlias = "Mapping[str, Json] | Sequence[Json] | str | int | float | bool | None"
"""A JSON value. Objects are `dict`, arrays are `list`; NaN and infinities are not JSON."""

JsonObject: TypeAlias = Mapping[str, "Json"]


def is_object(value: object) -> TypeGuard[dict[Any, Any]]:
    """Return whether something that was read (JSON, TOML, YAML) is an object; of what it holds nothing is known."""
    return isinstance(value, dict)


def is_mapping(value: object) -> TypeGuard[Mapping[Any, Any]]:
    """Return whether a value is any mapping; of its keys and values nothing is known."""
    return isinstance(value, Mapping)


def is_array(value: object) -> TypeGuard[list[Any]]:
    """Return whether something that was read is an array; of its items nothing is known."""
    return isinstance(value, list)


_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False).encode


def canonical(value: object) -> str:
    """Return the one text of a JSON value: sorted keys, no blanks, ASCII.

    In the spirit of RFC 8785, but integers of any size keep their digits (RFC 8785
    would refuse them past 2**53) and lone surrogates stay escaped instead of failing.

    Raises:
        ValueError: The value holds NaN, an infinity or a cycle.
        TypeError: The value holds something that is not JSON.
    """
    return _canonical(value)
