"""Event: what a person can watch while a run goes on. Arguments in events are redacted."""

from typing import TypeAlias

from placet.values.construction import dataclass
from placet.values.json import Json
from placet.values.outcome import Outcome, PendingApproval


@dataclass(frozen=True, slots=True)
class TextDelta:
    """The model has said a piece of its answer.

    Attributes:
        run_id: Which run.
        text: The piece.
    """

    run_id: str
    text: str


@dataclass(frozen=True, slots=True)
class OutputDelta:
    """The structured output as far as it has come. It is not validated before the run ends.

    Attributes:
        run_id: Which run.
        partial: A JSON value whose end is missing.
    """

    run_id: str
    partial: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class CallProposed:
    """The model wishes a call; nothing has been decided.

    Attributes:
        run_id: Which run.
        key: The key of the call.
        tool: Its tool, as the model named it.
    """

    run_id: str
    key: str
    tool: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CallStarted:
    """A call was permitted and runs now.

    Attributes:
        run_id: Which run.
        key: The key of the call.
        tool: Its tool.
        arguments: JSON text, redacted.
        sentence: What a person reads meanwhile, in the run's language; empty without a template.
        rule: Which rule permitted it.
    """

    run_id: str
    key: str
    tool: str
    arguments: str
    sentence: str
    rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFinished:
    """The model's wish has its result.

    Attributes:
        run_id: Which run.
        key: The key of the call.
        tool: Its tool.
        code: `"ok"`, a `Reason`, or the code of a failure.
        rule: Which rule permitted it; empty for a refusal, whose rule only the audit log tells.
        milliseconds: From the proposal to the recorded result.
    """

    run_id: str
    key: str
    tool: str
    code: str
    rule: str
    milliseconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CallWaiting:
    """A call waits for a person.

    Attributes:
        run_id: Which run.
        key: The key of the call.
        approval: What is waited for.
    """

    run_id: str
    key: str
    approval: PendingApproval


@dataclass(frozen=True, slots=True)
class RunEnded:
    """The segment has ended; nothing comes after it.

    Attributes:
        run_id: Which run.
        outcome: What came of it.
    """

    run_id: str
    outcome: Outcome


Event: TypeAlias = TextDelta | OutputDelta | CallProposed | CallStarted | CallFinished | CallWaiting | RunEnded
