"""What a check, and the gate, can answer: Allow, Deny or NeedsApproval."""

from enum import StrEnum
from typing import Final, TypeAlias

from placet.values.approval import ApprovalRule
from placet.values.construction import dataclass


class Reason(StrEnum):
    """Why a call was refused. Stable words: programs, audit logs and models read them."""

    UNKNOWN_TOOL = "unknown_tool"
    INVALID_ARGUMENTS = "invalid_arguments"
    NOT_PERMITTED = "not_permitted"
    NOT_FOUND = "not_found"
    UNTRUSTED_ARGUMENT = "untrusted_argument"
    LIMIT_REACHED = "limit_reached"
    BUDGET_SPENT = "budget_spent"
    CHECK_FAILED = "check_failed"
    REJECTED = "rejected"
    EXPIRED = "expired"
    APPROVAL_VOID = "approval_void"
    APPROVAL_USED = "approval_used"
    EFFECT_RUNNING = "effect_running"
    EFFECT_UNKNOWN = "effect_unknown"
    KEY_CONFLICT = "key_conflict"
    KEY_REQUIRED = "key_required"
    CUT_OFF = "cut_off"
    UNRECORDED = "unrecorded"
    LEASE_LOST = "lease_lost"
    CANCELLED = "cancelled"


REASONS: Final = frozenset(reason.value for reason in Reason)
"""The words of all reasons: which codes of results and records say that something was refused."""


@dataclass(frozen=True, slots=True)
class Allow:
    """The call may run.

    Attributes:
        rule: Which rule permits it, as the audit log and a person read it.
    """

    rule: str = "allowed"


NO_OBJECTION: Final = Allow("")
"""What a check answers that has nothing against a call, and does not permit it by name either.

The gate knows it by identity: it is the most frequent answer."""


@dataclass(frozen=True, slots=True)
class Deny:
    """The call does not run. That is no error: it is an answer.

    Attributes:
        reason: The stable word for it.
        message: What the model is told. Holds nothing that the principal may not know.
        hint: What the model could do instead.
        rule: Which rule refuses it, for the audit log and `placet policy explain`.
        detail: For the audit log alone, redacted: what broke, and where.
    """

    reason: Reason
    message: str
    hint: str | None = None
    rule: str = ""
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class NeedsApproval:
    """The call may run once a person has said yes to exactly this call.

    Attributes:
        approval: Which yes is needed: whose, and how long it may take.
        rule: Which rule asks for it.
    """

    approval: ApprovalRule
    rule: str = "approval"


Decision: TypeAlias = Allow | Deny | NeedsApproval
