"""MemoryStore: everything in this process, for tests, demonstrations and tools that need no memory.

Nothing survives the process. Between looking and taking there is no `await`, so every verb
is atomic among the tasks of one event loop; threads and processes need `SqliteStore`.
"""

import secrets
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal

from placet.errors import LeaseLostError, StoreError
from placet.ports import AuditHead, NotDecided, StoredRun
from placet.stores.chain import Chain, known_heads, writer_entry
from placet.stores.judgement import (
    IN_DOUBT,
    LEASE_LOST,
    expiry_entry,
    judge_approval,
    judge_decision,
    judge_effect,
)
from placet.stores.verification import Verification
from placet.stores.windows import Windows
from placet.values.approval import ApprovalDecision, ApprovalRequest, ApprovalStatus
from placet.values.audit import AuditEntry, AuditRecord, AuditVerification
from placet.values.decision import Reason
from placet.values.effect import Claim, ClaimAnswer, Claimed, EffectRecord, EffectState, Lease, Take
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
        self._runs: dict[str, StoredRun] = {}
        self._journals: dict[str, list[str]] = {}
        self._woken: set[str] = set()
        self._approvals: dict[str, ApprovalRequest] = {}
        self._effects: dict[str, EffectRecord] = {}
        self._in_doubt: dict[tuple[str, str, str], set[str]] = {}
        self._windows = Windows()
        self._principals: dict[str, Principal] = {}
        self._demo = False

    async def open(self) -> None:
        """Do nothing: memory is open."""

    async def close(self) -> None:
        """Do nothing: there is nothing to keep."""

    # ── runs ──────────────────────────────────────────────────────────────────────────

    def open_run(self, run: StoredRun, lease: Lease) -> None:
        """Store a new run, owned by its lease. A run of this id that exists stays as it is."""
        if run.id in self._runs:
            return
        self._journals[run.id] = list(run.journal)
        self._runs[run.id] = replace(run, journal=(), owner=lease.owner, fence=lease.fence, lease_until=lease.until)

    def journal(self, lease: Lease, entry: str) -> None:
        """Store what has happened in a run; dropped when the lease no longer holds."""
        if self._owned(lease) is not None:
            self._journals[lease.run_id].append(entry)

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
        run = self._own(lease)
        for request in approvals:
            if request.id in self._approvals:
                raise StoreError(f"there is an approval {request.id!r} already; nothing was stored")
        status = RunStatus.READY if run.id in self._woken else RunStatus.WAITING
        self._end_segment(run, status, snapshot, at)
        self._approvals.update((request.id, request) for request in approvals)
        self._add(entries)
        return status

    async def close_run(
        self, lease: Lease, status: RunStatus, snapshot: str, entries: Sequence[AuditEntry], at: datetime
    ) -> None:
        """Store that a run has ended, and give the lease back.

        Raises:
            LeaseLostError: Somebody else owns the run; nothing was stored.
        """
        self._end_segment(self._own(lease), status, snapshot, at)
        self._add(entries)

    async def claim_run(self, run_id: str, owner: str, at: datetime, ttl: timedelta) -> tuple[Lease, StoredRun] | None:
        """Take over a run that is ready or whose lease has run out; its running effects become unknown."""
        run = self._runs.get(run_id)
        if run is None or not _is_free(run, at):
            return None
        lease = Lease(run_id=run_id, owner=owner, fence=run.fence + 1, until=at + ttl)
        for effect in self._effects.values():
            if effect.run_id == run_id and effect.state is EffectState.RUNNING:
                self._effects[effect.key] = replace(effect, state=EffectState.UNKNOWN)
        self._woken.discard(run_id)
        self._runs[run_id] = replace(
            run, status=RunStatus.RUNNING, owner=owner, fence=lease.fence, lease_until=lease.until, updated_at=at
        )
        return lease, self._with_journal(run_id)

    async def renew_lease(self, lease: Lease, until: datetime) -> Lease | None:
        """Return the longer lease, or None when somebody else owns the run."""
        run = self._owned(lease)
        if run is None:
            return None
        self._runs[run.id] = replace(run, lease_until=until)
        return replace(lease, until=until)

    async def load_run(self, run_id: str) -> StoredRun | None:
        """Return the run with its journal, or None."""
        return self._with_journal(run_id) if run_id in self._runs else None

    async def list_runs(
        self, *, statuses: Sequence[RunStatus] = (), principal_id: str | None = None, limit: int = 100
    ) -> Sequence[StoredRun]:
        """Return runs, newest first, without their journals."""
        found = [
            run
            for run in reversed(self._runs.values())
            if (not statuses or run.status in statuses) and principal_id in (None, run.principal_id)
        ]
        return found[:limit]

    def _owned(self, lease: Lease) -> StoredRun | None:
        run = self._runs.get(lease.run_id)
        if run and run.status is RunStatus.RUNNING and (run.owner, run.fence) == (lease.owner, lease.fence):
            return run
        return None

    def _own(self, lease: Lease) -> StoredRun:
        run = self._owned(lease)
        if run is None:
            raise LeaseLostError(f"run {lease.run_id!r} is not owned by {lease.owner!r} any more; nothing was stored")
        return run

    def _end_segment(self, run: StoredRun, status: RunStatus, snapshot: str, at: datetime) -> None:
        self._woken.discard(run.id)
        self._journals[run.id].clear()
        self._runs[run.id] = replace(
            run, status=status, snapshot=snapshot, owner="", lease_until=None, updated_at=at
        )  # fmt: skip

    def _with_journal(self, run_id: str) -> StoredRun:
        return replace(self._runs[run_id], journal=tuple(self._journals[run_id]))

    # ── approvals ─────────────────────────────────────────────────────────────────────

    async def decide_approval(self, decision: ApprovalDecision, entry: AuditEntry) -> ApprovalRequest | NotDecided:
        """Take a person's yes or no, once, and make the run that waits ready."""
        request = self._approvals.get(decision.approval_id)
        if request is None:
            return NotDecided(Reason.NOT_FOUND)
        refused = judge_decision(request, decision)
        if refused is not None:
            if request.status is ApprovalStatus.PENDING:
                self._expire(request, decision.at)
            return refused
        decided = replace(
            request,
            status=ApprovalStatus.APPROVED if decision.yes else ApprovalStatus.REJECTED,
            arguments=request.arguments if decision.arguments is None else decision.arguments,
            digest=decision.digest or request.digest,
            decided_by=decision.by,
            decided_at=decision.at,
            note=decision.note,
            note_for_model=decision.note_for_model,
        )
        self._approvals[request.id] = decided
        self._wake(request.run_id, decision.at)
        self.queue(entry)
        return decided

    async def find_approval(self, *, id: str | None = None, token_hash: str | None = None) -> ApprovalRequest | None:  # noqa: A002 - the port's word
        """Return the request with this id, or with this token's hash, or None."""
        if id is not None:
            return self._approvals.get(id)
        return next((request for request in self._approvals.values() if request.token_hash == token_hash), None)

    async def list_approvals(
        self, *, run_id: str | None = None, statuses: Sequence[ApprovalStatus] = (), limit: int = 100
    ) -> Sequence[ApprovalRequest]:
        """Return requests, oldest first, without the hashes of their tokens."""
        found = [
            replace(request, token_hash="")
            for request in self._approvals.values()
            if run_id in (None, request.run_id) and (not statuses or request.status in statuses)
        ]
        return found[:limit]

    async def expire_approvals(self, at: datetime) -> Sequence[ApprovalRequest]:
        """Mark what waits past its expiry as expired, record it, make its run ready; return it."""
        late = [
            request
            for request in self._approvals.values()
            if request.status is ApprovalStatus.PENDING and at >= request.expires_at
        ]
        return [self._expire(request, at) for request in late]

    async def void_approval(self, approval_id: str, entry: AuditEntry) -> None:
        """Mark an approved request as void and record it; any other stays as it is."""
        request = self._approvals.get(approval_id)
        if request and request.status is ApprovalStatus.APPROVED:
            self._approvals[approval_id] = replace(request, status=ApprovalStatus.VOID)
            self.queue(entry)

    def _expire(self, request: ApprovalRequest, at: datetime) -> ApprovalRequest:
        expired = self._approvals[request.id] = replace(request, status=ApprovalStatus.EXPIRED)
        self._wake(request.run_id, at)
        self.queue(expiry_entry(request, at))
        return expired

    def _wake(self, run_id: str, at: datetime) -> None:
        run = self._runs.get(run_id)
        if run is None:
            return
        if run.status is RunStatus.WAITING:
            self._runs[run_id] = replace(run, status=RunStatus.READY, updated_at=at)
        elif run.status is RunStatus.RUNNING:
            self._woken.add(run_id)

    # ── effects and limits ────────────────────────────────────────────────────────────

    async def claim(self, claim: Claim) -> ClaimAnswer:
        """Take all that a call needs, or nothing."""
        if claim.lease is not None and self._owned(claim.lease) is None:
            return LEASE_LOST
        effect = claim.effect
        if effect is not None:
            refused = judge_effect(claim, *self._look_up(effect, claim.at))
            if refused is not None:
                return refused
        if claim.approval_id is not None:
            refused = judge_approval(claim, self._approvals.get(claim.approval_id))
            if refused is not None:
                return refused
        refused = self._windows.judge(claim.takes, claim.at)
        if refused is not None:
            return refused
        self._take(claim)
        return Claimed()

    def _look_up(self, effect: EffectRecord, at: datetime) -> tuple[EffectRecord | None, EffectRecord | None]:
        like = None
        for key in self._in_doubt.get((effect.principal_id, effect.tool, effect.digest), ()):
            row = self._effects[key]
            self._effects[key] = row = replace(row, state=row.state_at(at))
            if key != effect.key:
                like = row
        return self._effects.get(effect.key), like

    def _take(self, claim: Claim) -> None:
        effect = claim.effect
        if effect is not None:
            self._effects[effect.key] = replace(effect, state=EffectState.RUNNING)
            self._in_doubt.setdefault((effect.principal_id, effect.tool, effect.digest), set()).add(effect.key)
        if claim.approval_id is not None:
            request = self._approvals[claim.approval_id]
            self._approvals[claim.approval_id] = replace(request, status=ApprovalStatus.USED)
        self._windows.take(claim.takes, claim.at)
        if claim.intent is not None:
            self.queue(claim.intent)

    async def settle(self, key: str, state: EffectState, result: str | None, entry: AuditEntry) -> None:
        """Store how an effect ended, with its record.

        Raises:
            StoreError: There is no such effect, or the state is no end; nothing was stored.
        """
        effect = self._effects.get(key)
        if effect is None or state is EffectState.RUNNING:
            raise StoreError(f"the effect {key!r} cannot be settled as {state!r}: no such effect, or no such end")
        if effect.state in IN_DOUBT:
            self._effects[key] = replace(effect, state=state, result=result)
            if state not in IN_DOUBT:
                self._in_doubt[effect.principal_id, effect.tool, effect.digest].discard(key)
        self.queue(entry)

    async def find_effect(self, key: str) -> EffectRecord | None:
        """Return the effect of this key, or None."""
        return self._effects.get(key)

    async def list_effects(
        self, *, states: Sequence[EffectState] = (), run_id: str | None = None, limit: int = 100
    ) -> Sequence[EffectRecord]:
        """Return effects, oldest first."""
        found = [
            effect
            for effect in self._effects.values()
            if (not states or effect.state in states) and run_id in (None, effect.run_id)
        ]
        return found[:limit]

    async def usage(self, takes: Sequence[Take], at: datetime) -> Sequence[Decimal]:
        """Return how much of each window is used at a time."""
        return [self._windows.used(take, at) for take in takes]

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

    def _add(self, entries: Sequence[AuditEntry]) -> None:
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


def _is_free(run: StoredRun, at: datetime) -> bool:
    if run.status is RunStatus.RUNNING:
        return run.lease_until is None or run.lease_until <= at
    return run.status is RunStatus.READY
