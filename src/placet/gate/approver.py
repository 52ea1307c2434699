"""May this person decide about that request?"""

from placet.values.approval import ApprovalRequest, Yes
from placet.values.decision import Allow, Decision, Deny, Reason
from placet.values.principal import Principal


def check_approver(request: ApprovalRequest, by: Principal, yes: Yes, *, rejecting: bool = False) -> Decision:  # noqa: PLR0911 - one return for each answer
    """Allow when `by` may give this kind of answer to the request.

    A confirmation is the requester's own; an approval needs another person who holds one
    of the approver roles today. The requester may always take back what they asked for.

    Args:
        request: What waits.
        by: The authenticated person.
        yes: Which of the two kinds of yes is being given (`confirm` or `approve`).
        rejecting: Whether it is a no.
    """
    requester = by.id == request.principal_id
    if rejecting and requester:
        return Allow("the requester")
    if not rejecting and yes is not request.yes:
        return Deny(
            Reason.NOT_PERMITTED,
            f"this call needs to be {'confirmed by its requester' if request.yes is Yes.CONFIRM else 'approved'}",
            rule=f"needs {request.yes}",
        )
    if request.yes is Yes.CONFIRM:
        if requester:
            return Allow("the requester")
        return Deny(Reason.NOT_PERMITTED, "only its requester may confirm this call", rule="requester only")
    if requester:
        return Deny(Reason.NOT_PERMITTED, "nobody approves their own call", rule="requester ≠ approver")
    held = request.approvers & by.roles
    if not held:
        return Deny(Reason.NOT_PERMITTED, "this needs another role", rule="approver roles")
    return Allow(f"role {min(held)}")
