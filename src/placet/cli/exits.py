"""Exit codes: what a program that starts placet is told. They are a contract (docs/cli.md)."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Final, assert_never

from placet.errors import ConfigurationError, PlacetError
from placet.values.call import OK, ToolResult
from placet.values.decision import Reason
from placet.values.outcome import Answer, Outcome, Refused, Stopped, Waiting
from placet.values.run import StopReason


class Exit(IntEnum):
    """How a command ended."""

    OK = 0
    ERROR = 1
    """It failed, the audit log is broken, or the model or the store is out of reach."""
    USAGE = 2
    """An option, an argument or the configuration is wrong."""
    NOT_FOUND = 3
    DENIED = 4
    CONFLICT = 5
    """Somebody was faster, or what was asked contradicts what is known."""
    PENDING = 6
    """A person has to decide first."""
    REJECTED = 7
    """A person said no, or nobody answered in time."""
    LIMITED = 8
    TIMEOUT = 9
    INVALID = 10
    """The arguments of a call are not valid."""
    INTERRUPTED = 130


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why a command did not do what was asked.

    Attributes:
        exit: What a program is told.
        code: The stable word for it: a `Reason`, or `"usage"`, `"configuration"`, `"error"`.
        message: What a person is told, in their language.
        fix: What they can do, or empty.
    """

    exit: Exit
    code: str
    message: str
    fix: str = ""


BY_REASON: Final[Mapping[Reason, Exit]] = {
    Reason.UNKNOWN_TOOL: Exit.NOT_FOUND,
    Reason.INVALID_ARGUMENTS: Exit.INVALID,
    Reason.NOT_PERMITTED: Exit.DENIED,
    Reason.NOT_FOUND: Exit.NOT_FOUND,
    Reason.UNTRUSTED_ARGUMENT: Exit.DENIED,
    Reason.LIMIT_REACHED: Exit.LIMITED,
    Reason.BUDGET_SPENT: Exit.LIMITED,
    Reason.CHECK_FAILED: Exit.DENIED,
    Reason.REJECTED: Exit.REJECTED,
    Reason.EXPIRED: Exit.REJECTED,
    Reason.APPROVAL_VOID: Exit.CONFLICT,
    Reason.APPROVAL_USED: Exit.CONFLICT,
    Reason.EFFECT_RUNNING: Exit.CONFLICT,
    Reason.EFFECT_UNKNOWN: Exit.CONFLICT,
    Reason.KEY_CONFLICT: Exit.CONFLICT,
    Reason.KEY_REQUIRED: Exit.USAGE,
    Reason.CUT_OFF: Exit.INVALID,
    Reason.UNRECORDED: Exit.ERROR,
    Reason.LEASE_LOST: Exit.CONFLICT,
    Reason.CANCELLED: Exit.INTERRUPTED,
}

BY_STOP: Final[Mapping[StopReason, Exit]] = {
    StopReason.TURNS: Exit.LIMITED,
    StopReason.CALLS: Exit.LIMITED,
    StopReason.SECONDS: Exit.TIMEOUT,
    StopReason.TOKENS: Exit.LIMITED,
    StopReason.COST: Exit.LIMITED,
    StopReason.CANCELLED: Exit.INTERRUPTED,
    StopReason.REFUSAL: Exit.DENIED,
}
"""Every other stop is an error."""

UNEXPECTED: Final = frozenset(StopReason) - BY_STOP.keys()
"""The stops of which the run's own last word does not say why: the audit log does."""

_BY_CODE: Final[Mapping[str, Exit]] = {
    **{reason.value: code for reason, code in BY_REASON.items()},
    OK: Exit.OK,
    "timeout": Exit.TIMEOUT,
}


def exit_of_code(code: str) -> Exit:
    """Return how a command ends whose one call has ended with this code."""
    return _BY_CODE.get(code, Exit.ERROR)


def exit_of(outcome: Outcome | ToolResult) -> Exit:
    """Return how a command ends that has this outcome."""
    match outcome:
        case Answer():
            return Exit.OK
        case Waiting():
            return Exit.PENDING
        case Stopped(reason=stop):
            return BY_STOP.get(stop, Exit.ERROR)
        case Refused(reason=reason):
            return BY_REASON[reason]
        case ToolResult(code=code):
            return exit_of_code(code)
        case _:
            assert_never(outcome)


def exit_of_error(error: PlacetError) -> Exit:
    """Return how a command ends that this error has ended."""
    return Exit.USAGE if isinstance(error, ConfigurationError) else Exit.ERROR
