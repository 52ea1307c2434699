"""MemoryStore: everything in this process, for tests, demonstrations and tools that need no memory.

Nothing survives the process. Between looking and taking there is no `await`, so every verb
is atomic among the tasks of one event loop; threads and processes need `SqliteStore`.
"""

import secrets
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal

from placet.errors import StoreError
from placet.ports import AuditHead, NotDecided, StoredRun
from placet.stores.chain import Chain, known_heads, writer_entry
from placet.stores.state import State
from placet.stores.verification import Verification
from placet.values.approval import ApprovalDecision, ApprovalRequest, ApprovalStatus
from placet.values.audit import AuditEntry, AuditRecord, AuditVerification
from placet.values.effect import Claim, ClaimAnswer, CommitAnswer, EffectRecord, EffectState, Lease, Statement, Take
from placet.values.principal import Principal
from placet.values.run import RunStatus


class MemoryStore:
    """Remembers all that placet needs to, as long as the process lives.

    Args:
        key: The audit key. Random when nobody has to verify the log elsewhere.
        writer: The name of its chain.
    """

    def __init__(self, *, key: bytes | None = None, writer: str | None = None) -> None:
        self._chain = Chain(key or secrets.token_bytes(32), writer or f"memory_{secrets.token_hex(8)}")
        self._entries: list[AuditEntry] = []
        self._seals: list[str] = []
        self._state = State(self.queue)
        self._principals: dict[str, Principal] = {}
        self._demo = False

    async def open(self) -> None:
        """Do nothing: memory is open."""

    async def close(self) -> None:
        """Do nothing: there is nothing to keep."""

    # ── runs ──────────────────────────────────────────────────────────────────────────

    def open_run(self, run: StoredRun, lease: Lease) -> None:
        """Store a new run, owned by its lease. A run of this id that exists stays as it is."""
        self._state.open_run(run, lease)

    def journal(self, lease: Lease, entry: str) -> None:
        """Store what has happened in a run; dropped when the lease no longer holds."""
        self._state.add_to_journal(lease, entry)

    async def suspend_run(
        self, lease: Lease, snapshot: str, approvals: Sequence[ApprovalRequest], entries: Sequence[AuditEntry],
        at: datetime,
    ) -> RunStatus:  # fmt: skip
        """Store snapshot, new approvals and records together, and give the lease back.

        Returns:
            `WAITING`; or `READY` when a request of the run was decided while it was running.

        Raises:
            LeaseLostError: Somebody else owns the run; nothing was stored.
            StoreError: There is such an approval already; nothing was stored.
        """
        return self._state.suspend_run(lease, snapshot, approvals, entries, at)

    async def close_run(
        self, lease: Lease, status: RunStatus, snapshot: str, entries: Sequence[AuditEntry], at: datetime
    ) -> None:
        """Store that a run has ended, and give the lease back.

        Raises:
            LeaseLostError: Somebody else owns the run; nothing was stored.
        """
        self._state.close_run(lease, status, snapshot, entries, at)

    async def claim_run(self, run_id: str, owner: str, at: datetime, ttl: timedelta) -> tuple[Lease, StoredRun] | None:
        """Take over a run that is ready or whose lease has run out; its running effects become unknown."""
        return self._state.claim_run(run_id, owner, at, ttl)

    async def renew_lease(self, lease: Lease, until: datetime) -> Lease | None:
        """Return the longer lease, or None when somebody else owns the run."""
        return self._state.renew_lease(lease, until)

    async def load_run(self, run_id: str) -> StoredRun | None:
        """Return the run with its journal, or None."""
        return self._state.find_run(run_id)

    async def list_runs(
        self, *, statuses: Sequence[RunStatus] = (), principal_id: str | None = None, limit: int = 100
    ) -> Sequence[StoredRun]:
        """Return runs, newest first, without their journals."""
        found = [
            run
            for run in reversed(self._state.runs.values())
            if (not statuses or run.status in statuses) and principal_id in (None, run.principal_id)
        ]
        return found[:limit]

    async def purge_runs(self, before: datetime, entry: AuditEntry) -> int:
        """Forget what runs have said and done that ended before a time; return how many."""
        return self._state.purge_runs(before, entry)

    # ── approvals ─────────────────────────────────────────────────────────────────────

    async def decide_approval(self, decision: ApprovalDecision, entry: AuditEntry) -> ApprovalRequest | NotDecided:
        """Take a person's yes or no, once, and make the run that waits ready."""
        return self._state.decide_approval(decision, entry)

    async def find_approval(self, *, id: str | None = None, token_hash: str | None = None) -> ApprovalRequest | None:  # noqa: A002 - the port's word
        """Return the request with this id, or with this token's hash, or None."""
        if id is not None:
            return self._state.approvals.get(id)
        return next((request for request in self._state.approvals.values() if request.token_hash == token_hash), None)

    async def list_approvals(
        self, *, run_id: str | None = None, statuses: Sequence[ApprovalStatus] = (), limit: int = 100
    ) -> Sequence[ApprovalRequest]:
        """Return requests, oldest first, without the hashes of their tokens."""
        found = [
            replace(request, token_hash="")
            for request in self._state.approvals.values()
            if run_id in (None, request.run_id) and (not statuses or request.status in statuses)
        ]
        return found[:limit]

    async def expire_approvals(self, at: datetime) -> Sequence[ApprovalRequest]:
        """Mark what waits past its expiry as expired, record it, make its run ready; return it."""
        return self._state.expire_approvals(at)

    async def void_approval(self, approval_id: str, entry: AuditEntry) -> None:
        """Mark an approved request as void and record it; any other stays as it is."""
        self._state.void_approval(approval_id, entry)

    # ── effects and limits ────────────────────────────────────────────────────────────

    async def claim(self, claim: Claim) -> ClaimAnswer:
        """Take all that a call needs, or nothing."""
        return self._state.claim(claim)

    async def settle(self, key: str, state: EffectState, result: str | None, entry: AuditEntry) -> None:
        """Store how an effect ended, with its record.

        Raises:
            StoreError: There is no such effect, or the state is no end; nothing was stored.
        """
        self._state.settle(key, state, result, entry)

    @property
    def takes_statements(self) -> bool:
        """No: there is no database."""
        return False

    async def commit_effect(
        self,
        key: str,
        result: str,  # noqa: ARG002 - the port names it
        statements: Sequence[Statement],  # noqa: ARG002
        entry: AuditEntry,  # noqa: ARG002
    ) -> CommitAnswer:
        """Raise: there is no database in which a tool could write.

        Raises:
            StoreError: Always.
        """
        raise StoreError(
            f"the memory store runs no statements, so the effect {key!r} stays as it is; use SQLite or PostgreSQL"
        )

    async def find_effect(self, key: str) -> EffectRecord | None:
        """Return the effect of this key, or None."""
        return self._state.effects.get(key)

    async def list_effects(
        self, *, states: Sequence[EffectState] = (), run_id: str | None = None, limit: int = 100
    ) -> Sequence[EffectRecord]:
        """Return effects, oldest first."""
        found = [
            effect
            for effect in self._state.effects.values()
            if (not states or effect.state in states) and run_id in (None, effect.run_id)
        ]
        return found[:limit]

    async def usage(self, takes: Sequence[Take], at: datetime) -> Sequence[Decimal]:
        """Return how much of each window is used at a time."""
        return [self._state.windows.used(take, at) for take in takes]

    # ── the audit log ─────────────────────────────────────────────────────────────────

    def queue(self, entry: AuditEntry) -> None:
        """Add a record."""
        if not self._entries:
            self._put(writer_entry(entry.at, ()))
        self._put(entry)

    async def append(self, *entries: AuditEntry) -> None:
        """Add records."""
        for entry in entries:
            self.queue(entry)

    def _put(self, entry: AuditEntry) -> None:
        self._seals.append(self._chain.place(entry))
        self._entries.append(entry)

    async def read(
        self, *, run_id: str | None = None, principal_id: str | None = None, tool: str | None = None,
        last: int | None = None,
    ) -> AsyncIterator[AuditRecord]:  # fmt: skip
        """Return records, oldest first; with `last`, the newest so many of them, oldest first."""
        found = [
            record
            for record in self._records()
            if run_id in (None, record.entry.run_id)
            and principal_id in (None, record.entry.principal_id)
            and tool in (None, record.entry.tool)
        ]
        for record in found if last is None else found[max(0, len(found) - last) :]:
            yield record

    async def verify(self, heads: Sequence[AuditHead] = ()) -> AuditVerification:
        """Look at every record; with heads from outside, a cut tail shows too."""
        known = known_heads(self._entries[:1], heads)
        verification = Verification(self._chain.key, known, anchored=bool(heads))
        for record in self._records():
            verification.look(record)
        return verification.result()

    async def heads(self) -> Sequence[AuditHead]:
        """Return the last record of the one chain, when there is one."""
        if not self._seals:
            return ()
        return (AuditHead(self._chain.writer, len(self._seals), self._seals[-1]),)

    def _records(self) -> list[AuditRecord]:
        writer = self._chain.writer
        pairs = zip(self._entries, self._seals, strict=True)
        return [
            AuditRecord(writer=writer, sequence=place, entry=entry, seal=mark)
            for place, (entry, mark) in enumerate(pairs, start=1)
        ]

    # ── the rest ──────────────────────────────────────────────────────────────────────

    def state_principal(self, principal: Principal) -> None:
        """Store what the host application says of a principal."""
        self._principals[principal.id] = principal

    async def find_principal(self, principal_id: str) -> Principal | None:
        """Return what was last said of a principal, or None."""
        return self._principals.get(principal_id)

    async def is_demo(self) -> bool:
        """Return whether the store is marked as a demo."""
        return self._demo

    async def mark_demo(self) -> None:
        """Mark the store as a demo, for good."""
        self._demo = True
