"""What came over a wire, decoded from JSON and taken for nothing yet."""

import math
from collections.abc import Mapping
from typing import Any, Final, cast

_MOST: Final = 10**15
"""More than any answer holds: what is counted higher is no count."""


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


def show(value: object) -> str:
    """Return a value as an error message shows it: the beginning."""
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]}…"
