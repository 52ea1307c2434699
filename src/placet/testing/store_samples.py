"""What the laws of the store contract are tried with: plain values, each with its own identity."""

# ruff: noqa: S101 - a law asserts

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, Final

from placet.ports import ApprovalStore, RunStore, Store, StoredRun
from placet.values.approval import ApprovalDecision, ApprovalRequest, Preview, Yes
from placet.values.audit import AuditEntry, AuditKind, AuditRecord
from placet.values.effect import Claim, EffectRecord, EffectState, Lease, Take
from placet.values.run import RunStatus

NOW: Final = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
"""The time at which the laws begin."""

MINUTE: Final = timedelta(minutes=1)
HOUR: Final = timedelta(hours=1)


def an_entry(kind: AuditKind = AuditKind.CALL, **changes: Any) -> AuditEntry:
    """Return a record's content, with these fields changed."""
    entry = AuditEntry(
        at=NOW, kind=kind, run_id="run_1", call_key="run_1:1.0", principal_id="c17", tool="refund", decision="allow",
        rule="standard", body='{"euro":5}',
    )  # fmt: skip
    return replace(entry, **changes)


def a_run(run_id: str = "run_1", **changes: Any) -> StoredRun:
    """Return a run as it is opened, with these fields changed."""
    run = StoredRun(
        id=run_id, agent="support", principal_id="c17", status=RunStatus.RUNNING, snapshot='{"turn":0}',
        created_at=NOW, updated_at=NOW,
    )  # fmt: skip
    return replace(run, **changes)


def a_lease(run_id: str = "run_1", **changes: Any) -> Lease:
    """Return the first lease of a run, with these fields changed."""
    return replace(Lease(run_id=run_id, owner="worker_1", fence=1, until=NOW + MINUTE), **changes)


def a_request(request_id: str = "apr_1", **changes: Any) -> ApprovalRequest:
    """Return a request that waits, with these fields changed."""
    request = ApprovalRequest(
        id=request_id, token_hash=f"hash of {request_id}", run_id="run_1", call_key="run_1:1.0", principal_id="c17",
        tool="refund", arguments={"order": "8842", "euro": 5, "note": "Ölfleck \u2014 \u0219i gata"}, digest="digest_1",
        schema_digest="schema_1", policy_digest="policy_1", rule="refund needs a supervisor", yes=Yes.APPROVE,
        approvers=frozenset({"supervisor", "manager"}), preview=Preview("5,00 EUR", {"version": 3}),
        provenance={"order": "question", "euro": "model"}, created_at=NOW, expires_at=NOW + HOUR,
    )  # fmt: skip
    return replace(request, **changes)


def a_decision(request_id: str = "apr_1", *, yes: bool = True, **changes: Any) -> ApprovalDecision:
    """Return a person's word on a request, with these fields changed."""
    return replace(ApprovalDecision(approval_id=request_id, yes=yes, by="s1", at=NOW + MINUTE), **changes)


def an_approval_entry(decision: str = "approved") -> AuditEntry:
    """Return what is recorded with a person's word."""
    return an_entry(AuditKind.APPROVAL, principal_id="s1", decision=decision)


def an_effect(key: str = "run_1:1.0", **changes: Any) -> EffectRecord:
    """Return an effect that begins, with these fields changed."""
    effect = EffectRecord(
        key=key, principal_id="c17", tool="refund", digest="digest_1", run_id="run_1", state=EffectState.RUNNING,
        deadline=NOW + MINUTE,
    )  # fmt: skip
    return replace(effect, **changes)


def a_claim(effect: EffectRecord | None = None, **changes: Any) -> Claim:
    """Return a claim at `NOW`, with these fields changed."""
    return replace(Claim(at=NOW, effect=effect), **changes)


def a_take(**changes: Any) -> Take:
    """Return one call out of three in a minute, with these fields changed."""
    return replace(Take(key="refund:c17", at_most=Decimal(3), per=MINUTE, rule="3 calls in 60 s"), **changes)


async def open_and_suspend(store: Store, *requests: ApprovalRequest, run_id: str = "run_1") -> None:
    """Bring a run to where it waits for these requests."""
    store.open_run(a_run(run_id), a_lease(run_id))
    await store.suspend_run(a_lease(run_id), '{"turn":1}', requests, (), NOW)


async def status_of(store: RunStore, run_id: str = "run_1") -> RunStatus | None:
    """Return how far a run is."""
    run = await store.load_run(run_id)
    return None if run is None else run.status


async def approve(store: ApprovalStore, request_id: str = "apr_1", **changes: Any) -> None:
    """Have a request approved."""
    answer = await store.decide_approval(a_decision(request_id, **changes), an_approval_entry())
    assert isinstance(answer, ApprovalRequest), answer


async def records_of(store: Store, **wanted: Any) -> list[AuditRecord]:
    """Return the records that are asked for, without those that begin a chain."""
    return [record async for record in store.read(**wanted) if record.entry.kind is not AuditKind.WRITER]


async def entries_of(store: Store, **wanted: Any) -> list[AuditEntry]:
    """Return what the records say, in their order."""
    return [record.entry for record in await records_of(store, **wanted)]
