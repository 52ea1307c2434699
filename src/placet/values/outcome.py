"""What a person or a program gets back from a run: Answer, Waiting, Stopped or Refused."""

from dataclasses import field
from datetime import datetime
from typing import Any, TypeAlias

from placet.values.approval import Preview, Yes
from placet.values.construction import dataclass
from placet.values.decision import Reason
from placet.values.json import JsonObject
from placet.values.message import AssistantMessage, Transcript
from placet.values.run import StopReason, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The run is done.

    Attributes:
        run_id: Which run.
        text: The last word, for the person.
        output: The validated object, when structured output was asked for.
        history: The conversation so far, to pass to the next `ask`.
        usage: What the providers have counted.
    """

    run_id: str
    text: str
    output: Any = None
    history: Transcript = field(default_factory=Transcript)
    usage: Usage = field(default_factory=Usage)

    @property
    def cut(self) -> bool:
        """Whether the words end where the model's token limit was reached: they are not all that it had to say."""
        last = self.history[-1] if len(self.history) else None
        return isinstance(last, AssistantMessage) and last.cut


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingApproval:
    """One call that waits for a person, as its requester is told.

    Attributes:
        id: Public; grants nothing.
        token: Opaque, single use, known only to who holds this object: it is stored as a
            hash and never listed. Empty when the request was read back from the store.
        yes: Whose yes it needs.
        tool: The tool's name.
        arguments: What would run. Redacted, unless it is shown to the approver.
        approvers: Roles that may approve.
        preview: What would change.
        expires_at: Silence until then is a refusal. Aware, UTC.
    """

    id: str
    token: str
    yes: Yes
    tool: str
    arguments: JsonObject
    approvers: frozenset[str]
    preview: Preview | None
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """The run has ended its segment; a person has to decide.

    Attributes:
        run_id: Which run.
        approvals: What is waited for, in call order.
        history: The conversation so far; its last calls have no results yet, so go on from it
            only once they are decided.
    """

    run_id: str
    approvals: tuple[PendingApproval, ...]
    history: Transcript = field(default_factory=Transcript)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped:
    """The run has ended short of an answer.

    Attributes:
        run_id: Which run.
        reason: Why.
        text: A polite last word in the person's language.
        history: The conversation so far, valid for the next `ask`.
        usage: What the providers have counted.
    """

    run_id: str
    reason: StopReason
    text: str
    history: Transcript = field(default_factory=Transcript)
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """What was asked of placet was refused; nothing has changed.

    Attributes:
        reason: The stable word for it.
        message: What a person is told.
        run_id: The run in question, or empty.
    """

    reason: Reason
    message: str
    run_id: str = ""


Outcome: TypeAlias = Answer | Waiting | Stopped | Refused
