"""How much, how often, how long: the numeric defaults of agents, runs and tools.

| default | value | what it bounds |
|---|---|---|
| `Budget.turns` | 10 | answers of the model in one run |
| `Budget.calls` | 30 | tool calls in one run |
| `Budget.parallel` | 8 | tool calls of one turn that run at the same time |
| `Budget.seconds` | 120 | one segment of a run, model and tools together |
| `Budget.output_bytes` | 200,000 | what all tool results of one turn may hold together |
| `WORKFLOW_BUDGET` | 50 turns, 150 calls, 600 s | one run of a workflow, all of its agents together |
| `TOOL_TIMEOUT` | 5 s | each loading, preview and execution |
| `MODEL_TIMEOUT` | 60 s | one answer of the model |
| `RESULT_BYTES` | 50,000 | one tool result, in UTF-8 |
| `TOOL_MEMORY_BYTES` | 512 MiB | what a call with `isolation="process"` may take beyond its process's own memory |
| `ARGUMENT_BYTES` | 100,000 | the arguments of one call, in UTF-8 |
| `APPROVAL_TTL` | 15 min | how long an approval waits for a person |
| `LEASE_TTL` | 60 s | how long a silent worker owns a run |
| `OUTPUT_REASKS` | 2 | how often a model is asked again for an output that does not fit |
| `SYNC_THREADS` | 16 | synchronous tools that run at the same time in one process |
"""

import re
from datetime import timedelta
from decimal import Decimal, InvalidOperation
from typing import Final, TypeAlias

from placet.errors import ConfigurationError
from placet.values.construction import dataclass

TOOL_TIMEOUT: Final = timedelta(seconds=5)
MODEL_TIMEOUT: Final = timedelta(seconds=60)
APPROVAL_TTL: Final = timedelta(minutes=15)
LEASE_TTL: Final = timedelta(seconds=60)
RESULT_BYTES: Final = 50_000
TOOL_MEMORY_BYTES: Final = 512 * 1024 * 1024
ARGUMENT_BYTES: Final = 100_000
OUTPUT_REASKS: Final = 2
SYNC_THREADS: Final = 16

_UNITS: Final = {"s": 1, "second": 1, "m": 60, "minute": 60, "h": 3600, "hour": 3600, "d": 86400, "day": 86400}
_RATE: Final = re.compile(r"(\d+)\s*/\s*(\d*)\s*(second|minute|hour|day|s|m|h|d)s?")
_VALUE: Final = re.compile(
    r"(\d+(?:\.\d+)?)\s+of\s+([A-Za-z_]\w*)\s*/\s*(\d*)\s*(second|minute|hour|day|s|m|h|d)s?", re.ASCII
)
_SPAN: Final = re.compile(r"(\d+(?:\.\d+)?)\s*(second|minute|hour|day|s|m|h|d)s?")


def duration(value: timedelta | float | str) -> timedelta:
    """Return a positive length of time.

    Args:
        value: A `timedelta`, a number of seconds, or a text such as `"15m"` or `"2 hours"`.

    Raises:
        ConfigurationError: It is none of these, or not above zero.
    """
    match value:
        case timedelta():
            span = value
        case bool():
            span = timedelta(0)
        case int() | float():
            span = timedelta(seconds=value)
        case str():
            found = _SPAN.fullmatch(value.strip())
            span = timedelta(seconds=float(found[1]) * _UNITS[found[2]]) if found else timedelta(0)
    if span <= timedelta(0):
        msg = f"not a length of time above zero: {value!r}; say seconds, a timedelta, or a text such as '15m'"
        raise ConfigurationError(msg)
    return span


@dataclass(frozen=True, slots=True)
class RateLimit:
    """How many calls in how long, counted in an exact sliding window.

    Attributes:
        calls: How many, at least 1.
        per: The length of the window.
        scope: Whose calls are counted together: `"principal"` (each for itself) or
            `"tool"` (everybody's).

    Raises:
        ConfigurationError: There are no calls, or an unknown scope.
    """

    calls: int
    per: timedelta
    scope: str = "principal"

    def __post_init__(self) -> None:
        if self.calls < 1:
            msg = f"a limit of {self.calls} calls lets nothing through; remove the tool instead"
            raise ConfigurationError(msg)
        _check_window(self.per, self.scope)

    @staticmethod
    def parse(text: str) -> "RateLimit":
        """Return the limit that a text such as `"10/minute"` or `"3/15 minutes"` says.

        Raises:
            ConfigurationError: The text says no limit.
        """
        found = _RATE.fullmatch(text.strip())
        if not found:
            msg = f"not a limit: {text!r}; write it as '10/minute' or '3/15 minutes'"
            raise ConfigurationError(msg)
        return RateLimit(int(found[1]), _window(found[2], found[3]))

    def __str__(self) -> str:
        return f"{self.calls} calls in {self.per.total_seconds():g} s"


@dataclass(frozen=True, slots=True)
class ValueLimit:
    """How much of one argument in how long, all calls together, in an exact sliding window.

    Attributes:
        at_most: What the values may come to, above zero.
        argument: Whose values are summed up: a number that every call has, zero or more.
        per: The length of the window.
        scope: Whose calls are summed up together: `"principal"` (each for itself) or
            `"tool"` (everybody's).

    Raises:
        ConfigurationError: It lets nothing through, or has an unknown scope.
    """

    at_most: Decimal
    argument: str
    per: timedelta
    scope: str = "principal"

    def __post_init__(self) -> None:
        if not (self.at_most.is_finite() and self.at_most > 0):
            msg = f"a limit of {self.at_most} of {self.argument!r} lets nothing through; give a number above zero"
            raise ConfigurationError(msg)
        _check_window(self.per, self.scope)

    @staticmethod
    def parse(text: str) -> "ValueLimit":
        """Return the limit that a text such as `"500 of amount/day"` says.

        Raises:
            ConfigurationError: The text says no such limit.
        """
        found = _VALUE.fullmatch(text.strip())
        if not found:
            msg = f"not a limit of a value: {text!r}; write it as '500 of amount/day'"
            raise ConfigurationError(msg)
        return ValueLimit(Decimal(found[1]), found[2], _window(found[3], found[4]))

    def __str__(self) -> str:
        return f"{self.at_most} of {self.argument} in {self.per.total_seconds():g} s"


Limit: TypeAlias = RateLimit | ValueLimit
"""What a tool's calls may come to in a window: so many of them, or so much of one of their arguments."""


def parse_limit(text: str) -> Limit:
    """Return the limit that a text says: `"10/minute"` of calls, `"500 of amount/day"` of a value.

    Raises:
        ConfigurationError: The text says neither.
    """
    return ValueLimit.parse(text) if " of " in text else RateLimit.parse(text)


def _window(count: str, unit: str) -> timedelta:
    return timedelta(seconds=int(count or 1) * _UNITS[unit])


def _check_window(per: timedelta, scope: str) -> None:
    duration(per)
    if scope not in ("principal", "tool"):
        msg = f"unknown scope of a limit: {scope!r}; use 'principal' or 'tool'"
        raise ConfigurationError(msg)


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What one run may use up, its nested runs included.

    Attributes:
        turns: Answers of the model.
        calls: Tool calls, refused ones included: a refusal costs a turn too.
        parallel: Calls of one turn that run at the same time.
        seconds: One segment, model and tools together. Waiting for a person is free.
        output_bytes: What the tool results of one turn may hold together, in UTF-8.
        tokens: Tokens read and written, as the providers count them. An answer that nobody has
            counted ends the run. None: no bound.
        cost: Money, in the currency of the prices that were given (`Agent(…, prices=…)`); numbers
            and texts become `Decimal`. An answer that nobody can price ends the run. None: no bound.

    Raises:
        ConfigurationError: A bound is not above zero.
    """

    turns: int = 10
    calls: int = 30
    parallel: int = 8
    seconds: float = 120.0
    output_bytes: int = 200_000
    tokens: int | None = None
    cost: Decimal | None = None

    def __post_init__(self) -> None:
        if self.cost is not None:
            object.__setattr__(self, "cost", _money(self.cost))
        for name in ("turns", "calls", "parallel", "seconds", "output_bytes", "tokens", "cost"):
            bound = getattr(self, name)
            if bound is not None and not bound > 0:  # so that NaN is refused too
                msg = f"a budget of {bound} {name} lets nothing happen; give a number above zero"
                raise ConfigurationError(msg)


def _money(value: object) -> Decimal:
    try:
        amount = Decimal(str(value))
    except InvalidOperation:
        amount = Decimal("NaN")
    if isinstance(value, bool) or not amount.is_finite():
        raise ConfigurationError(f"a budget of {value!r} cost is no amount of money; write it as '0.50'")
    return amount


WORKFLOW_BUDGET: Final = Budget(turns=50, calls=150, seconds=600.0)
