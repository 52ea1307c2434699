"""CallSite: where a call stands, and what it brings along."""

from collections.abc import Callable
from typing import Any, Protocol

from placet.runtime.telemetry import CallSpan
from placet.values.approval import ApprovalRequest
from placet.values.construction import dataclass, made_quickly
from placet.values.effect import Lease
from placet.values.event import Event
from placet.values.message import Transcript

Emit = Callable[[Event], None]
"""Told what happens. It must not wait."""


class NestedRuntime(Protocol):
    """Through what one executing call starts nested runs (see `placet.runtime.nested`)."""

    @property
    def waiting(self) -> tuple[str, ...]:
        """The requests that its nested runs wait for."""
        ...

    @property
    def started(self) -> tuple[str, ...]:
        """The runs that it has started or gone on with, by id."""
        ...

    async def run(self, agent: Any, question: str) -> Any:
        """Return the outcome of a nested run."""
        ...

    async def settle(self) -> None:
        """Wait until no nested run goes on any more."""
        ...


@made_quickly
@dataclass(frozen=True, slots=True, kw_only=True)
class CallSite:
    """Where a call stands. Nothing in it can be touched by the model or a client.

    Attributes:
        run_id: The run it belongs to; empty for a direct call without an idempotency key.
        key: The key of the call: `run:turn.index`, or an id of its own where there is no run.
        principal_id: On whose behalf.
        language: Of the person.
        lease: Under which the run is owned; None where there is no stored run.
        approval: The approval that the call carries, as the store has it.
        rejected: Keyed digests of calls that a person has rejected in this run.
        may_have_run: Whether the ledger is asked first, because the call may have been
            begun before: after a takeover, and at doors where a client gives the key.
        wants_answer: Whether the tool's answer template is filled, as the model writes no prose.
        emit: Who watches, or None.
        state: A workflow's state, or None.
        conversation: In which conversations the call stands, outermost first; empty where a
            program has made it.
        runtime: Through what the tool starts nested runs, or None.
        entered: Whether the tool has begun before and was left because a nested run waited.
        span: The span of the call, or None where nothing is traced.
        again: Whether a call that was begun before a crash begins again under its own key, as
            its tool declares that it may: what it took is taken, and whose yes it had is used.
    """

    run_id: str
    key: str
    principal_id: str
    language: str = "en"
    lease: Lease | None = None
    approval: ApprovalRequest | None = None
    rejected: frozenset[str] = frozenset()
    may_have_run: bool = False
    wants_answer: bool = False
    emit: Emit | None = None
    state: Any = None
    conversation: tuple[Transcript, ...] = ()
    runtime: NestedRuntime | None = None
    entered: bool = False
    span: CallSpan | None = None
    again: bool = False

    @property
    def outermost(self) -> str:
        """The id of the run that is stored, owned and waits: the outermost of its tree."""
        return self.run_id if self.lease is None else self.lease.run_id
