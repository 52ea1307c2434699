"""What came over a wire, decoded from JSON and taken for nothing yet."""

import math
from collections.abc import Mapping
from typing import Any, Final, cast

from placet.errors import ModelProtocolError

_MOST: Final = 10**15
"""More than any answer holds: what is counted higher is no count."""

_DEEPEST: Final = 64


def as_object(value: object) -> Mapping[str, Any] | None:
    """Return a JSON object, or None for anything else."""
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else None


def as_list(value: object) -> list[Any] | None:
    """Return a JSON array, or None for anything else."""
    if not isinstance(value, list):
        return None
    return cast("list[Any]", value)  # type: ignore[redundant-cast]  # not to pyright


def as_text(value: object) -> str:
    """Return a text, or the empty one for anything else."""
    return value if isinstance(value, str) else ""


def as_amount(value: object) -> float:
    """Return an amount, or 0 for what is none: a budget must not be blinded by NaN or a negative price."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return value if 0 < value <= _MOST and math.isfinite(value) else 0


def keep(state: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return what a provider wants back in a form that can be stored; None for nothing.

    Some decoders let NaN and infinities through, which JSON has not: they become null.

    Raises:
        ModelProtocolError: It is nested so deep that nobody can store it.
    """
    return {key: _storable(value, 0) for key, value in state.items()} if state else None


def _storable(value: Any, depth: int) -> Any:
    if depth > _DEEPEST:
        raise ModelProtocolError(f"the model's answer is nested deeper than {_DEEPEST} levels")
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    body, items = as_object(value), as_list(value)
    if body is not None:
        return {key: _storable(inner, depth + 1) for key, inner in body.items()}
    return [_storable(inner, depth + 1) for inner in items] if items is not None else value


def show(value: object) -> str:
    """Return a value as an error message shows it: the beginning."""
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]}…"
