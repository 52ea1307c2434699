"""Does a person have to say yes first, and does the yes at hand count for this call?"""

from placet.gate.request import GateRequest
from placet.values.approval import ApprovalRequest, ApprovalRule, ApprovalStatus
from placet.values.decision import NO_OBJECTION, Decision, Deny, NeedsApproval, Reason
from placet.values.json import Json


def check_approval(request: GateRequest) -> Decision:
    """Ask for the yes that the tool declares, unless the call carries one that counts.

    A yes counts for one principal, one tool as it was declared, and one set of arguments,
    until it expires. Where what the approver saw has changed since, it is asked anew.
    """
    rule = request.tool.approval
    if request.approval is not None:
        return _check_yes(request, request.approval, rule)
    if rule is None:
        return NO_OBJECTION
    if rule.condition is None:
        return NeedsApproval(rule, rule=f"{rule.yes}: always")
    answer = rule.condition(request.arguments)
    if answer is False:
        return NO_OBJECTION
    if answer is True:
        name = getattr(rule.condition, "__name__", "condition")
        return NeedsApproval(rule, rule=f"{rule.yes}: {name}")
    # An answer that is none must not open the door: the gate turns this into a refusal.
    message = f"the approval condition of {request.tool.name!r} answered {answer!r} instead of True or False"
    raise TypeError(message)


def _check_yes(request: GateRequest, yes: ApprovalRequest, rule: ApprovalRule | None) -> Decision:
    status = yes.status_at(request.now)
    if status is ApprovalStatus.USED and request.entered:
        status = ApprovalStatus.APPROVED
    if status is ApprovalStatus.EXPIRED:
        return Deny(Reason.EXPIRED, "the approval has run out", rule="approval expired")
    if status is not ApprovalStatus.APPROVED:
        return Deny(Reason.APPROVAL_USED, "the approval is already resolved", rule=f"approval {status}")
    bound = (yes.principal_id, yes.tool, yes.digest)
    if bound != (request.principal.id, request.tool.name, request.digest):
        return Deny(Reason.APPROVAL_VOID, "the approval was given for another call", rule="approval of another call")
    if rule is not None and not request.entered and not _still_shown(request, yes, rule):
        return NeedsApproval(rule, rule="approval void: what it rested on has changed")
    return NO_OBJECTION


def _still_shown(request: GateRequest, yes: ApprovalRequest, rule: ApprovalRule) -> bool:
    """Whether what the approver saw and what was asked of them is what would run now."""
    if (yes.schema_digest, yes.policy_digest) != (request.tool.digest, request.policy_digest):
        return False
    if yes.yes is not rule.yes:
        return False
    if not yes.approvers <= rule.approvers:
        return False  # who has said yes may hold a role that is asked no more
    shown: dict[str, Json] = dict(yes.preview.binds) if yes.preview else {}
    today: dict[str, Json] = dict(request.preview.binds) if request.preview else {}
    return shown == today
