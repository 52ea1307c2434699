"""Run: one task, and how far it is. A value: stored, resumed by another process, replayed."""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any, Final, TypeAlias

from placet.values.call import ToolCall, ToolResult
from placet.values.construction import dataclass, made_quickly, maker
from placet.values.json import Json, JsonObject
from placet.values.limits import Budget
from placet.values.message import Transcript

SNAPSHOT_VERSION: Final = 1
"""Version of the JSON form. A change of the form raises it and adds a step to `migrate`."""

_NOTHING: Final = Decimal(0)


class RunStatus(StrEnum):
    """How far a run is, as the store and `placet runs list` say it."""

    RUNNING = "running"
    """A worker owns it, or died owning it: its lease tells."""
    WAITING = "waiting"
    """Its segment has ended; a person has to decide."""
    READY = "ready"
    """A person has decided; the next segment may start anywhere."""
    DONE = "done"
    STOPPED = "stopped"


class StopReason(StrEnum):
    """Why a run ended without the model's own last word."""

    TURNS = "turns"
    CALLS = "calls"
    SECONDS = "seconds"
    TOKENS = "tokens"
    COST = "cost"
    CANCELLED = "cancelled"
    FATAL = "fatal"
    MODEL = "model"
    """The model could not be asked, or gave nothing that can be used."""
    REFUSAL = "refusal"
    """The model, or its provider's filter, declined to answer."""
    OUTPUT = "output"
    """No structured output passed validation, re-asking included."""
    UNRECORDED = "unrecorded"
    """The store could not record what happened."""
    STAGE = "stage"
    """A stage of a workflow failed."""


@made_quickly
@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What the providers have counted, summed over a run and its nested runs.

    Attributes:
        input_tokens: Read, from a cache or not.
        output_tokens: Written, reasoning included.
        cached_tokens: Of those read: from the provider's cache.
        written_tokens: Of those read: put into the provider's cache.
        reasoning_tokens: Of those written: reasoning.
        cost: Money, in the currency of the prices that were given. Numbers and texts become `Decimal`.
        uncounted: Answers whose tokens nobody has counted.
        unpriced: Answers of which nobody knows what they cost.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    written_tokens: int = 0
    reasoning_tokens: int = 0
    cost: Decimal = _NOTHING
    uncounted: int = 0
    unpriced: int = 0

    def __post_init__(self) -> None:
        if type(self.cost) is not Decimal:  # what is stored, and what a test writes down
            object.__setattr__(self, "cost", Decimal(str(self.cost)))

    def __add__(self, other: "Usage") -> "Usage":
        return _new_usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            written_tokens=self.written_tokens + other.written_tokens,
            reasoning_tokens=self.reasoning_tokens + other.reasoning_tokens,
            cost=self.cost + other.cost,
            uncounted=self.uncounted + other.uncounted,
            unpriced=self.unpriced + other.unpriced,
        )


_new_usage: Final = maker(Usage)


@made_quickly
@dataclass(frozen=True, slots=True)
class PlannedCall:
    """One call of the turn at hand.

    Attributes:
        index: Its place among the calls of the turn, from 0.
        call: The wish.
        result: What the model will be told, once known.
        approval_id: The request that it waits for, or None.
        inside: Requests that a run nested in it waits for.
        entered: Whether its tool has begun, and was left because a nested run waits: it will be
            entered again from its first line.
    """

    index: int
    call: ToolCall
    result: ToolResult | None = None
    approval_id: str | None = None
    inside: tuple[str, ...] = ()
    entered: bool = False

    @property
    def waits_for(self) -> tuple[str, ...]:
        """The requests that it waits for."""
        return self.inside if self.approval_id is None else (self.approval_id,)


@dataclass(frozen=True, kw_only=True)
class Run:
    """One task, and how far it is.

    It has no slots: `changed` copies its dictionary, which costs a tenth of `dataclasses.replace`
    and is done several times for each call.

    Attributes:
        id: `run_…`, unique.
        agent: Name of the agent that does the task.
        principal_id: On whose behalf. Roles are looked up anew at every decision.
        language: Of the person, as `"en"`, `"pt-BR"` or `"ro"`.
        budget: What it may use up.
        transcript: What was said so far; the turn at hand is in `planned` until all its
            results are known.
        turn: Answers of the model so far.
        calls: Tool calls so far.
        planned: The calls of the turn at hand, in call order; empty between turns.
        rejected: Keyed digests of calls that a person has rejected in this run.
        usage: What the providers have counted.
        seconds: How long its segments have worked so far.
        status: How far it is.
        text: The model's last word, when done.
        output: The structured output, when one was asked for and given.
        output_schema: JSON Schema of the structured output that is asked for, or None.
        reasks: How often the model was asked again for it.
        stop: Why it stopped short.
        parent: Key of the call in which this run is nested, or empty.
        children: The runs nested in it, at any depth, by id; kept by the outermost run alone,
            so that whatever waits is stored together.
        nested_turns: Answers of the model in nested runs; they count for the budget.
        nested_calls: Tool calls in nested runs; they count for the budget.
        started_at: Aware, UTC.
    """

    id: str
    agent: str
    principal_id: str
    language: str
    budget: Budget
    transcript: Transcript
    started_at: datetime
    turn: int = 0
    calls: int = 0
    planned: tuple[PlannedCall, ...] = ()
    rejected: frozenset[str] = frozenset()
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    status: RunStatus = RunStatus.RUNNING
    text: str = ""
    output: Json = None
    output_schema: JsonObject | None = None
    reasks: int = 0
    stop: StopReason | None = None
    parent: str = ""
    children: Mapping[str, "Run"] = field(default_factory=dict[str, Any])
    nested_turns: int = 0
    nested_calls: int = 0

    def key(self, index: int) -> str:
        """Return the key of a call of the turn at hand: `run:turn.index`.

        It comes from where the call stands, never from the provider's call id, which is
        repeated and invented at will.
        """
        return f"{self.id}:{self.turn}.{index}"

    def changed(self, **changes: Any) -> "Run":
        """Return the same run with some attributes changed."""
        run = object.__new__(Run)
        object.__setattr__(run, "__dict__", self.__dict__ | changes)
        return run


@dataclass(frozen=True, slots=True)
class AskModel:
    """Next: ask the model."""


@dataclass(frozen=True, slots=True)
class InvokeTools:
    """Next: take these calls through the gate.

    Attributes:
        calls: Those of the turn without a result that wait for nobody, in call order.
    """

    calls: tuple[PlannedCall, ...]


@dataclass(frozen=True, slots=True)
class Wait:
    """Next: end the segment, a person has to decide.

    Attributes:
        approval_ids: The requests that are waited for, nested ones included, in call order.
    """

    approval_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Stop:
    """Next: nothing; the run has ended.

    Attributes:
        reason: None when the model has said its last word.
    """

    reason: StopReason | None = None


Action: TypeAlias = AskModel | InvokeTools | Wait | Stop
