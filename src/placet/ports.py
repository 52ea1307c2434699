"""Ports: protocols for what placet needs from the world.

They are cut at the verb (`claim`, `decide`, `append`), not at the query: what can be taken
once is taken by the store in one atomic step. Adapters live in `models` and `stores`;
`placet.testing` has the contract test that every store passes.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import field
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Protocol, TypeAlias, runtime_checkable

from placet.values.approval import ApprovalDecision, ApprovalRequest, ApprovalStatus
from placet.values.audit import AuditEntry, AuditRecord, AuditVerification
from placet.values.call import ToolCall
from placet.values.construction import dataclass, made_quickly
from placet.values.decision import Reason
from placet.values.effect import Claim, ClaimAnswer, CommitAnswer, EffectRecord, EffectState, Lease, Statement, Take
from placet.values.json import Json, JsonObject
from placet.values.limits import MODEL_TIMEOUT
from placet.values.message import Transcript
from placet.values.principal import Principal
from placet.values.run import RunStatus, Usage
from placet.values.tool import VisibleTools as VisibleTools  # noqa: PLC0414 - it is part of the ports too


class Clock(Protocol):
    """What time it is."""

    def now(self) -> datetime:
        """Return the time, aware and in UTC."""
        ...

    def monotonic(self) -> float:
        """Return seconds that never go back, for measuring."""
        ...


class IdSource(Protocol):
    """Where identities and secrets come from."""

    def new(self, prefix: str) -> str:
        """Return a new public id, as `run_…`; ids of one source sort by age."""
        ...

    def secret(self) -> str:
        """Return an unguessable text of at least 128 bits, URL-safe."""
        ...

    def mark(self) -> str:
        """Return a short unguessable text (at least 48 bits), letters and digits."""
        ...


class PrincipalDirectory(Protocol):
    """Who a principal is today. Asked at every decision."""

    async def find(self, principal_id: str) -> Principal | None:
        """Return the principal with today's roles, or None for an unknown id, which refuses.

        Raises:
            StoreError: The directory cannot be read; the decision refuses.
        """
        ...


# ── models ────────────────────────────────────────────────────────────────────────────


class Finish(StrEnum):
    """How an answer ended. Never trusted alone: what was said counts too."""

    STOP = "stop"
    CALLS = "calls"
    LENGTH = "length"
    REFUSAL = "refusal"
    FILTER = "filter"
    PAUSE = "pause"
    """The provider wants the same conversation sent again unchanged (Anthropic `pause_turn`)."""
    OTHER = "other"


@made_quickly
@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One question to a model.

    Attributes:
        system: The prompt.
        transcript: The conversation.
        tools: What this principal may see.
        language: Of the person.
        output_schema: JSON Schema of the structured output that is asked for, or None.
        tool_choice: `"auto"`, `"none"` or `"required"`.
        timeout: For the whole answer.
        settings: Further settings of this provider, passed on as they are.
    """

    system: str
    transcript: Transcript
    tools: VisibleTools
    language: str = "en"
    output_schema: JsonObject | None = None
    tool_choice: str = "auto"
    timeout: timedelta = MODEL_TIMEOUT
    settings: Mapping[str, Json] = field(default_factory=dict[str, Json])


@made_quickly
@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAnswer:
    """What a model said, read exactly.

    Attributes:
        text: Its words, or empty.
        calls: Its calls in order. One that cannot be known carries a `fault`.
        finish: How the answer ended.
        refusal: The provider's own words when it declined, or None.
        usage: What the provider has counted.
        model: Which model answered, as the provider names it.
        provider: Name of the client that can read `provider_state`.
        provider_state: What the provider wants back unchanged.
    """

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    finish: Finish = Finish.STOP
    refusal: str | None = None
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    provider: str = ""
    provider_state: Mapping[str, Json] | None = None


OnText: TypeAlias = Callable[[str], None]
"""Called with each piece of text as it arrives. Must not wait."""


class ModelClient(Protocol):
    """Asks one model of one provider."""

    @property
    def name(self) -> str:
        """The id under which it was made, for instance `"openai:gpt-6-luna"`."""
        ...

    @property
    def writes_prose(self) -> bool:
        """Whether it can word an answer. If not, the tools' answer templates speak."""
        ...

    async def answer(self, request: ModelRequest, on_text: OnText | None = None) -> ModelAnswer:
        """Return what the model says.

        Cancelling the call ends the request. A retry inside never repeats a tool: nothing
        has run yet.

        Args:
            request: The question.
            on_text: Told each piece of text while it streams; None asks for no streaming.

        Raises:
            ModelUnavailableError: Out of reach or overloaded, after bounded retries.
            ModelRequestError: The provider refuses the request.
            ModelProtocolError: The answer cannot be understood.
        """
        ...


@runtime_checkable
class KeepsConnections(Protocol):
    """What a model client may also be: one that holds connections open between two questions."""

    async def close(self) -> None:
        """Close the connections of the running event loop; the next question opens them again."""
        ...


# ── stores ────────────────────────────────────────────────────────────────────────────


@made_quickly
@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRun:
    """A run as the store keeps it.

    Attributes:
        id: Which run.
        agent: Its agent's name.
        principal_id: On whose behalf.
        status: How far it is.
        snapshot: JSON text of the run when its segment began or ended last.
        journal: What has happened since, in order, JSON texts.
        parent: Key of the call in which it is nested, or empty.
        owner: The worker that owns it, or empty.
        fence: The fencing number of the last lease.
        lease_until: Until when it is owned, or None.
        created_at: Aware, UTC.
        updated_at: Aware, UTC.
    """

    id: str
    agent: str
    principal_id: str
    status: RunStatus
    snapshot: str
    journal: tuple[str, ...] = ()
    parent: str = ""
    owner: str = ""
    fence: int = 0
    lease_until: datetime | None = None
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class NotDecided:
    """A decision that the store did not take; nothing has changed.

    Attributes:
        reason: `NOT_FOUND`, `EXPIRED`, `REJECTED` or `APPROVAL_USED` (already resolved).
        status: How far the request is, or None when there is none.
    """

    reason: Reason
    status: ApprovalStatus | None = None


@dataclass(frozen=True, slots=True)
class AuditHead:
    """The last record of one chain: what an exported head holds, signed.

    Attributes:
        writer: Which chain.
        sequence: Its last place.
        seal: The seal there.
    """

    writer: str
    sequence: int
    seal: str


class RunStore(Protocol):
    """Remembers runs: one owner at a time, under a lease with a fencing number."""

    def open_run(self, run: StoredRun, lease: Lease) -> None:
        """Queue a new run, owned by its lease. Committed with the next awaited verb."""
        ...

    def journal(self, lease: Lease, entry: str) -> None:
        """Queue what has happened in a run; dropped when the lease no longer holds."""
        ...

    async def suspend_run(
        self, lease: Lease, snapshot: str, approvals: Sequence[ApprovalRequest], entries: Sequence[AuditEntry],
        at: datetime,
    ) -> RunStatus:  # fmt: skip
        """Store snapshot, new approvals and records together, and give the lease back. Durable.

        The journal so far is part of the snapshot and is removed.

        Returns:
            `WAITING`; or `READY` when a request that the run waits for was decided meanwhile.

        Raises:
            LeaseLostError: Somebody else owns the run; nothing was stored.
            StoreError: Nothing was stored.
        """
        ...

    async def close_run(
        self, lease: Lease, status: RunStatus, snapshot: str, entries: Sequence[AuditEntry], at: datetime
    ) -> None:
        """Store that a run has ended, and give the lease back.

        Raises:
            LeaseLostError: Somebody else owns the run; nothing was stored.
            StoreError: Nothing was stored.
        """
        ...

    async def claim_run(self, run_id: str, owner: str, at: datetime, ttl: timedelta) -> tuple[Lease, StoredRun] | None:
        """Take over a run that is ready, or whose lease has run out, in one atomic step.

        In the same step every effect of the run that is still running becomes unknown.

        Returns:
            The new lease, with a higher fencing number, and the run with its journal; None when
            there is no such run, it is owned, it waits for a person, or it has ended.
        """
        ...

    async def renew_lease(self, lease: Lease, until: datetime) -> Lease | None:
        """Return the longer lease, or None when somebody else owns the run."""
        ...

    async def load_run(self, run_id: str) -> StoredRun | None:
        """Return the run with its journal, or None."""
        ...

    async def list_runs(
        self, *, statuses: Sequence[RunStatus] = (), principal_id: str | None = None, limit: int = 100
    ) -> Sequence[StoredRun]:
        """Return runs, newest first, without their journals. No statuses means all."""
        ...

    async def purge_runs(self, before: datetime, entry: AuditEntry) -> int:
        """Forget what runs have said and done that ended before a time, in atomic steps of some hundred runs.

        Their snapshots and journals go, and with them the arguments, previews and notes of their
        approvals and the recorded results of their effects that have ended. What must stay stays: the
        keys of the ledger, so that nothing runs twice, who decided what, and the audit log.

        Args:
            before: Runs that ended earlier are purged. Aware, UTC.
            entry: What is recorded with each step that has purged something.

        Returns:
            How many runs were purged.
        """
        ...


class ApprovalStore(Protocol):
    """Remembers approvals, and is the authority on them."""

    async def decide_approval(self, decision: ApprovalDecision, entry: AuditEntry) -> ApprovalRequest | NotDecided:
        """Take a person's yes or no, in one atomic step, once. Durable.

        A pending request that is past its expiry becomes expired instead. In the same
        step the run that waits becomes ready, so that any process may start its next segment.

        Args:
            decision: What the person said. Whether that person may was checked before.
            entry: What is recorded with it, only if it is taken.

        Returns:
            The request as it is now, or why it was not decided.
        """
        ...

    async def find_approval(self, *, id: str | None = None, token_hash: str | None = None) -> ApprovalRequest | None:  # noqa: A002
        """Return the request with this id, or with this token's hash, or None."""
        ...

    async def list_approvals(
        self, *, run_id: str | None = None, statuses: Sequence[ApprovalStatus] = (), limit: int = 100
    ) -> Sequence[ApprovalRequest]:
        """Return requests, oldest first. No statuses means all. Tokens are not in them."""
        ...

    async def expire_approvals(self, at: datetime) -> Sequence[ApprovalRequest]:
        """Mark what is past its expiry as expired, record it, make its run ready; return what was marked."""
        ...

    async def void_approval(self, approval_id: str, entry: AuditEntry) -> None:
        """Mark an approved request as void: what it rested on has changed."""
        ...


class EffectStore(Protocol):
    """The ledger of effects and the limits: what is taken once, taken atomically."""

    # Not `async def`: a store may hand on its writer's future, without a coroutine of its own.
    def claim(self, claim: Claim) -> Awaitable[ClaimAnswer]:
        """Take all that a call needs, or nothing, in one atomic step (see `Claim`).

        Returns:
            `Claimed`, `AlreadyDone` or `ClaimRefused`. A race that is lost is a refusal.

        Raises:
            StoreError: Nothing was taken.
        """
        ...

    def settle(self, key: str, state: EffectState, result: str | None, entry: AuditEntry) -> Awaitable[None]:
        """Store how an effect ended, with its record.

        A late outcome of an effect that has become unknown is stored as well; one that is
        DONE or FAILED stays as it is, and only the record is added.

        Raises:
            StoreError: Nothing was stored; the effect stays as it was.
        """
        ...

    @property
    def takes_statements(self) -> bool:
        """Whether a tool may write in the store's own transaction (`survival="transaction"`)."""
        ...

    async def commit_effect(
        self, key: str, result: str, statements: Sequence[Statement], entry: AuditEntry
    ) -> CommitAnswer:
        """Carry out what a tool writes, settle its effect as DONE and record it, all in one transaction. Durable.

        Only an effect that is RUNNING or UNKNOWN is settled: of two workers that have executed
        the same call, the first to come writes, and the other one is told what it has recorded.

        Returns:
            `Committed`; `AlreadyDone` when the effect has ended meanwhile; `NotCommitted` when a
            statement has failed or changed another number of rows than it must.

        Raises:
            StoreError: Nothing was stored, or nobody knows; the ledger tells.
        """
        ...

    async def find_effect(self, key: str) -> EffectRecord | None:
        """Return the effect of this key, or None."""
        ...

    async def list_effects(
        self, *, states: Sequence[EffectState] = (), run_id: str | None = None, limit: int = 100
    ) -> Sequence[EffectRecord]:
        """Return effects, oldest first. No states means all."""
        ...

    async def usage(self, takes: Sequence[Take], at: datetime) -> Sequence[Decimal]:
        """Return how much of each window is used at a time, in the order of `takes`."""
        ...


class AuditLog(Protocol):
    """Remembers what happened, append-only, each writer's records chained."""

    def queue(self, entry: AuditEntry) -> None:
        """Add a record, committed at the latest with the next awaited verb, in order."""
        ...

    async def append(self, *entries: AuditEntry) -> None:
        """Add records; committed on return. Calls of one tick of the loop share a commit.

        Raises:
            StoreError: Nothing was added.
        """
        ...

    def read(
        self, *, run_id: str | None = None, principal_id: str | None = None, tool: str | None = None,
        last: int | None = None,
    ) -> AsyncIterator[AuditRecord]:  # fmt: skip
        """Return records, oldest first; with `last`, the newest so many of them, oldest first."""
        ...

    async def verify(self, heads: Sequence[AuditHead] = ()) -> AuditVerification:
        """Look at every record of every chain; with heads from outside, a cut tail shows too."""
        ...

    async def heads(self) -> Sequence[AuditHead]:
        """Return the last record of every chain."""
        ...


class Store(RunStore, ApprovalStore, EffectStore, AuditLog, Protocol):
    """All that placet remembers. One object, so that what belongs together commits together."""

    async def open(self) -> None:
        """Open it, and migrate it forward.

        Raises:
            StoreVersionError: It was written by a newer placet.
            StoreError: It cannot be opened.
        """
        ...

    async def close(self) -> None:
        """Commit what is queued and close it."""
        ...

    def state_principal(self, principal: Principal) -> None:
        """Queue what the host application says of a principal, for a directory that rests on it."""
        ...

    async def find_principal(self, principal_id: str) -> Principal | None:
        """Return what was last said of a principal, or None."""
        ...

    async def is_demo(self) -> bool:
        """Return whether the store is marked as a demo, so that `--as` and `--role` count."""
        ...

    async def mark_demo(self) -> None:
        """Mark the store as a demo, for good."""
        ...
