"""What rows mean for a claim or a decision: pure, so that every store answers alike.

A store reads the rows and writes what follows inside one atomic step; what follows is
decided here.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final

from placet.ports import NotDecided
from placet.values.approval import ApprovalDecision, ApprovalRequest, ApprovalStatus
from placet.values.audit import AuditEntry, AuditKind
from placet.values.decision import Reason
from placet.values.effect import AlreadyDone, Claim, ClaimAnswer, ClaimRefused, EffectRecord, EffectState, Take
from placet.values.json import canonical

IN_DOUBT: Final = frozenset({EffectState.RUNNING, EffectState.UNKNOWN})
"""The states of an effect that may have happened or may yet happen."""

LEASE_LOST: Final = ClaimRefused(Reason.LEASE_LOST, "another worker owns this run now")


def judge_effect(claim: Claim, known: EffectRecord | None, like: EffectRecord | None) -> ClaimAnswer | None:
    """Return why an effect may not begin, or None when it may.

    Args:
        claim: With its effect.
        known: The row of the effect's own key.
        like: Another row of the same principal, tool and digest that is running or unknown.
    """
    answer = None if known is None else _judge_known(claim, known)
    if answer is None and like is not None:
        if like.state_at(claim.at) is EffectState.RUNNING:
            return ClaimRefused(Reason.EFFECT_RUNNING, "an identical call is running")
        return ClaimRefused(Reason.EFFECT_UNKNOWN, "nobody knows yet whether an identical call took effect")
    return answer


def _judge_known(claim: Claim, known: EffectRecord) -> ClaimAnswer | None:
    effect = claim.effect
    if effect is None or known.digest != effect.digest or _whose(known) != _whose(effect):
        return ClaimRefused(Reason.KEY_CONFLICT, f"the key {known.key!r} stands for another call")
    match known.state_at(claim.at):
        case EffectState.DONE | EffectState.FAILED:
            return AlreadyDone(known)
        case EffectState.RUNNING:
            return ClaimRefused(Reason.EFFECT_RUNNING, "this call is running")
        case EffectState.UNKNOWN if not claim.may_repeat:
            return ClaimRefused(Reason.EFFECT_UNKNOWN, "nobody knows yet whether this call took effect")
        case EffectState.UNKNOWN:
            return None


def _whose(effect: EffectRecord) -> tuple[str, str]:
    return effect.principal_id, effect.tool


def judge_approval(claim: Claim, request: ApprovalRequest | None) -> ClaimRefused | None:
    """Return why the approval does not carry the claim, or None when it does."""
    if request is None:
        return ClaimRefused(Reason.APPROVAL_VOID, f"there is no approval {claim.approval_id!r}")
    match request.status_at(claim.at):
        case ApprovalStatus.USED:
            return ClaimRefused(Reason.APPROVAL_USED, "the approval has been used")
        case ApprovalStatus.EXPIRED:
            return ClaimRefused(Reason.EXPIRED, "the approval has expired")
        case ApprovalStatus.APPROVED if request.digest == claim.approval_digest:
            return None
        case ApprovalStatus.APPROVED:
            return ClaimRefused(Reason.APPROVAL_VOID, "the approval is for another call")
        case status:
            return ClaimRefused(Reason.APPROVAL_VOID, f"the approval is {status}")


def judge_takes(takes: Sequence[Take], used: Callable[[Take], Decimal]) -> ClaimRefused | None:
    """Return which window is full, or None when all of them have room together.

    Args:
        takes: What is to be taken.
        used: Gives what a window holds at the time of the claim.
    """
    pending: dict[tuple[str, timedelta], Decimal] = {}
    for take in takes:
        window = (take.key, take.per)
        before = pending.get(window, Decimal(0))
        refused = _judge_take(take, used(take) + before)
        if refused is not None:
            return refused
        pending[window] = before + take.amount
    return None


def _judge_take(take: Take, used: Decimal) -> ClaimRefused | None:
    # An amount below zero would give room back, so nothing but refusing it is safe.
    counts = take.amount.is_finite() and take.amount >= 0 and not take.at_most.is_nan()
    if counts and used + take.amount <= take.at_most:
        return None
    return ClaimRefused(Reason.LIMIT_REACHED, take.rule or f"the limit of {take.key!r} is reached")


def judge_decision(request: ApprovalRequest, decision: ApprovalDecision) -> NotDecided | None:
    """Return why a person's word is not taken, or None when it is."""
    match request.status_at(decision.at):
        case ApprovalStatus.PENDING:
            return None
        case ApprovalStatus.EXPIRED if request.status is not ApprovalStatus.APPROVED:
            return NotDecided(Reason.EXPIRED, ApprovalStatus.EXPIRED)
        case ApprovalStatus.REJECTED:
            return NotDecided(Reason.REJECTED, ApprovalStatus.REJECTED)
        case _:
            return NotDecided(Reason.APPROVAL_USED, request.status)


def expiry_entry(request: ApprovalRequest, at: datetime) -> AuditEntry:
    """Return what is recorded when a request runs out. Nobody decided, so it names no person."""
    return AuditEntry(
        at=at, kind=AuditKind.APPROVAL, run_id=request.run_id, call_key=request.call_key, tool=request.tool,
        decision=ApprovalStatus.EXPIRED.value, rule=request.rule, body=canonical({"approval_id": request.id}),
    )  # fmt: skip
