"""What makes a large value out of a small number, and how far it may."""

from collections.abc import Sequence
from typing import Final

from placet.database.facts import Argument
from placet.database.policy import LARGEST_LENGTH, LONGEST_FORMAT, LONGEST_SERIES
from placet.database.series import MINUTE, count_values, seconds_of

_FLOATS: Final = frozenset({"float4", "float8"})

POWER: Final = (
    f"a power needs a number of at most {LARGEST_LENGTH} as its exponent, or a side that is cast to double precision"
)


def is_small(argument: Argument) -> bool:
    """Return whether it is a constant number, and one of at most `LARGEST_LENGTH`."""
    value = argument.value
    return argument.is_constant and isinstance(value, int | float) and abs(value) <= LARGEST_LENGTH


def is_bounded_power(sides: Sequence[Argument]) -> bool:
    """Return whether the power of two sides is bounded: numeric goes on for 100,000 digits, double precision stops."""
    return any(side.cast in _FLOATS for side in sides) or is_small(sides[-1])


def size_problem(name: str, arguments: Sequence[Argument]) -> str | None:
    """Return why a call could make too large a value, or None."""
    match name:
        case "lpad" | "rpad":
            if len(arguments) < 2 or not is_small(arguments[1]):
                return f"{name} needs its length written as a number of at most {LARGEST_LENGTH}"
        case "pow" | "power":
            if not arguments or not is_bounded_power(arguments):
                return POWER
        case "to_char" | "to_date" | "to_timestamp" | "to_number":
            if len(arguments) > 1 and not _is_format(arguments[1]):
                return f"{name} needs its format written as a text of at most {LONGEST_FORMAT} characters"
        case "generate_series":
            return _series_problem(arguments)
        case _:
            pass
    return None


def _is_format(argument: Argument) -> bool:
    return argument.is_constant and isinstance(argument.value, str) and len(argument.value) <= LONGEST_FORMAT


def _series_problem(arguments: Sequence[Argument]) -> str | None:
    count = count_values(arguments)
    if count is not None:
        return None if count <= LONGEST_SERIES else f"the series has {count:.0f} values; at most {LONGEST_SERIES}"
    step = arguments[2] if len(arguments) > 2 else Argument()
    seconds = seconds_of(step.value) if step.is_constant and isinstance(step.value, str) else None
    if seconds is not None and abs(seconds) >= MINUTE:  # of honest bounds it has few; of others the time is up
        return None
    return "generate_series needs bounds that are written as numbers or dates, or a step of a minute and more"
