"""State: what a store remembers, as values, and the verbs over it without any waiting.

`MemoryStore` is one such state. `PostgresStore` loads the part that a batch touches into
one, under the locks that guard it, does the verbs here, and writes what has changed: so both
answer alike.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from placet.errors import LeaseLostError, StoreError
from placet.ports import NotDecided, StoredRun
from placet.stores.judgement import (
    IN_DOUBT,
    LEASE_LOST,
    expiry_entry,
    judge_approval,
    judge_decision,
    judge_effect,
)
from placet.stores.windows import Windows
from placet.values.approval import ApprovalDecision, ApprovalRequest, ApprovalStatus
from placet.values.audit import AuditEntry
from placet.values.decision import Reason
from placet.values.effect import Claim, ClaimAnswer, Claimed, EffectRecord, EffectState, Lease
from placet.values.run import RunStatus


class State:
    """Runs, approvals, effects and windows, and every verb that changes them.

    A verb judges before it changes anything: what raises or is refused has changed nothing.

    Args:
        record: Takes what a verb records.
    """

    def __init__(self, record: Callable[[AuditEntry], None]) -> None:
        self.record = record
        self.runs: dict[str, StoredRun] = {}
        self.journals: dict[str, list[str]] = {}
        self.woken: set[str] = set()
        self.approvals: dict[str, ApprovalRequest] = {}
        self.effects: dict[str, EffectRecord] = {}
        self.in_doubt: dict[tuple[str, str, str], set[str]] = {}
        self.windows = Windows()

    # ── runs ──────────────────────────────────────────────────────────────────────────

    def open_run(self, run: StoredRun, lease: Lease) -> None:
        """Store a new run, owned by its lease. A run of this id that exists stays as it is."""
        if run.id in self.runs:
            return
        self.journals[run.id] = list(run.journal)
        self.runs[run.id] = replace(run, journal=(), owner=lease.owner, fence=lease.fence, lease_until=lease.until)

    def add_to_journal(self, lease: Lease, entry: str) -> None:
        """Store what has happened in a run; dropped when the lease no longer holds."""
        if self._owned(lease) is not None:
            self.journals[lease.run_id].append(entry)

    def suspend_run(
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
            if request.id in self.approvals:
                raise StoreError(f"there is an approval {request.id!r} already; nothing was stored")
        status = RunStatus.READY if run.id in self.woken else RunStatus.WAITING
        self._end_segment(run, status, snapshot, at)
        self.approvals.update((request.id, request) for request in approvals)
        for entry in entries:
            self.record(entry)
        return status

    def close_run(
        self, lease: Lease, status: RunStatus, snapshot: str, entries: Sequence[AuditEntry], at: datetime
    ) -> None:
        """Store that a run has ended, and give the lease back.

        Raises:
            LeaseLostError: Somebody else owns the run; nothing was stored.
        """
        self._end_segment(self._own(lease), status, snapshot, at)
        for entry in entries:
            self.record(entry)

    def claim_run(self, run_id: str, owner: str, at: datetime, ttl: timedelta) -> tuple[Lease, StoredRun] | None:
        """Take over a run that is ready or whose lease has run out; its running effects become unknown."""
        run = self.runs.get(run_id)
        if run is None or not _is_free(run, at):
            return None
        lease = Lease(run_id=run_id, owner=owner, fence=run.fence + 1, until=at + ttl)
        for effect in self.effects.values():
            if effect.run_id == run_id and effect.state is EffectState.RUNNING:
                self.effects[effect.key] = replace(effect, state=EffectState.UNKNOWN)
        self.woken.discard(run_id)
        self.runs[run_id] = replace(
            run, status=RunStatus.RUNNING, owner=owner, fence=lease.fence, lease_until=lease.until, updated_at=at
        )
        return lease, self._with_journal(run_id)

    def renew_lease(self, lease: Lease, until: datetime) -> Lease | None:
        """Return the longer lease, or None when somebody else owns the run."""
        run = self._owned(lease)
        if run is None:
            return None
        self.runs[run.id] = replace(run, lease_until=until)
        return replace(lease, until=until)

    def purge_runs(self, before: datetime, entry: AuditEntry) -> int:
        """Forget what runs have said and done that ended before a time; return how many."""
        ended = [
            run.id
            for run in self.runs.values()
            if run.status in (RunStatus.DONE, RunStatus.STOPPED) and run.updated_at < before
        ]
        for run_id in ended:
            del self.runs[run_id], self.journals[run_id]
        purged = set(ended)
        for request in self.approvals.values():
            if request.run_id in purged:
                self.approvals[request.id] = replace(request, arguments={}, preview=None, provenance={}, note=None)
        for effect in self.effects.values():
            if effect.run_id in purged and effect.state not in IN_DOUBT:
                self.effects[effect.key] = replace(effect, result=None)
        if ended:
            self.record(entry)
        return len(ended)

    def find_run(self, run_id: str) -> StoredRun | None:
        """Return the run with its journal, or None."""
        return self._with_journal(run_id) if run_id in self.runs else None

    def _owned(self, lease: Lease) -> StoredRun | None:
        run = self.runs.get(lease.run_id)
        if run and run.status is RunStatus.RUNNING and (run.owner, run.fence) == (lease.owner, lease.fence):
            return run
        return None

    def _own(self, lease: Lease) -> StoredRun:
        run = self._owned(lease)
        if run is None:
            raise LeaseLostError(f"run {lease.run_id!r} is not owned by {lease.owner!r} any more; nothing was stored")
        return run

    def _end_segment(self, run: StoredRun, status: RunStatus, snapshot: str, at: datetime) -> None:
        self.woken.discard(run.id)
        self.journals[run.id].clear()
        self.runs[run.id] = replace(
            run, status=status, snapshot=snapshot, owner="", lease_until=None, updated_at=at
        )  # fmt: skip

    def _with_journal(self, run_id: str) -> StoredRun:
        return replace(self.runs[run_id], journal=tuple(self.journals[run_id]))

    # ── approvals ─────────────────────────────────────────────────────────────────────

    def decide_approval(self, decision: ApprovalDecision, entry: AuditEntry) -> ApprovalRequest | NotDecided:
        """Take a person's yes or no, once, and make the run that waits ready."""
        request = self.approvals.get(decision.approval_id)
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
        self.approvals[request.id] = decided
        self._wake(request.run_id, decision.at)
        self.record(entry)
        return decided

    def expire_approvals(self, at: datetime) -> Sequence[ApprovalRequest]:
        """Mark what waits past its expiry as expired, record it, make its run ready; return it."""
        late = [
            request
            for request in self.approvals.values()
            if request.status is ApprovalStatus.PENDING and at >= request.expires_at
        ]
        return [self._expire(request, at) for request in late]

    def void_approval(self, approval_id: str, entry: AuditEntry) -> None:
        """Mark an approved request as void and record it; any other stays as it is."""
        request = self.approvals.get(approval_id)
        if request and request.status is ApprovalStatus.APPROVED:
            self.approvals[approval_id] = replace(request, status=ApprovalStatus.VOID)
            self.record(entry)

    def _expire(self, request: ApprovalRequest, at: datetime) -> ApprovalRequest:
        expired = self.approvals[request.id] = replace(request, status=ApprovalStatus.EXPIRED)
        self._wake(request.run_id, at)
        self.record(expiry_entry(request, at))
        return expired

    def _wake(self, run_id: str, at: datetime) -> None:
        run = self.runs.get(run_id)
        if run is None:
            return
        if run.status is RunStatus.WAITING:
            self.runs[run_id] = replace(run, status=RunStatus.READY, updated_at=at)
        elif run.status is RunStatus.RUNNING:
            self.woken.add(run_id)

    # ── effects and limits ────────────────────────────────────────────────────────────

    def claim(self, claim: Claim) -> ClaimAnswer:
        """Take all that a call needs, or nothing."""
        if claim.lease is not None and self._owned(claim.lease) is None:
            return LEASE_LOST
        effect = claim.effect
        if effect is not None:
            refused = judge_effect(claim, *self._look_up(effect, claim.at))
            if refused is not None:
                return refused
        if claim.approval_id is not None:
            refused = judge_approval(claim, self.approvals.get(claim.approval_id))
            if refused is not None:
                return refused
        refused = self.windows.judge(claim.takes, claim.at)
        if refused is not None:
            return refused
        self._take(claim)
        return Claimed()

    def _look_up(self, effect: EffectRecord, at: datetime) -> tuple[EffectRecord | None, EffectRecord | None]:
        like = None
        for key in self.in_doubt.get((effect.principal_id, effect.tool, effect.digest), ()):
            row = self.effects[key]
            if row.state_at(at) is not row.state:
                self.effects[key] = row = replace(row, state=EffectState.UNKNOWN)
            if key != effect.key:
                like = row
        return self.effects.get(effect.key), like

    def _take(self, claim: Claim) -> None:
        effect = claim.effect
        if effect is not None:
            running = effect if effect.state is EffectState.RUNNING else replace(effect, state=EffectState.RUNNING)
            self.effects[effect.key] = running
            self.in_doubt.setdefault((effect.principal_id, effect.tool, effect.digest), set()).add(effect.key)
        if claim.approval_id is not None:
            request = self.approvals[claim.approval_id]
            self.approvals[claim.approval_id] = replace(request, status=ApprovalStatus.USED)
        self.windows.take(claim.takes, claim.at)
        if claim.intent is not None:
            self.record(claim.intent)

    def settle(self, key: str, state: EffectState, result: str | None, entry: AuditEntry) -> None:
        """Store how an effect ended, with its record.

        Raises:
            StoreError: There is no such effect, or the state is no end; nothing was stored.
        """
        if state is EffectState.RUNNING:
            raise StoreError(f"the effect {key!r} cannot be settled as {state.value!r}: that is no end")
        effect = self.effects.get(key)
        if effect is None:
            raise StoreError(f"the effect {key!r} cannot be settled: there is none; nothing was stored")
        if effect.state in IN_DOUBT:
            self.effects[key] = EffectRecord(
                key=key, principal_id=effect.principal_id, tool=effect.tool, digest=effect.digest,
                run_id=effect.run_id, state=state, deadline=effect.deadline, result=result,
                approval_id=effect.approval_id,
            )  # fmt: skip
            if state not in IN_DOUBT:
                self.in_doubt[effect.principal_id, effect.tool, effect.digest].discard(key)
        self.record(entry)


def _is_free(run: StoredRun, at: datetime) -> bool:
    if run.status is RunStatus.RUNNING:
        return run.lease_until is None or run.lease_until <= at
    return run.status is RunStatus.READY
