"""Has a person already said no to this very call?"""

from placet.gate.request import GateRequest
from placet.values.decision import NO_OBJECTION, Decision, Deny, Reason


def check_rejection(request: GateRequest) -> Decision:
    """Refuse a call that a person has rejected in this run: nobody is asked twice."""
    if request.rejected:
        return Deny(
            Reason.REJECTED,
            "a person has rejected exactly this call in this conversation",
            hint="do not propose it again; tell the person what was decided",
            rule="rejected before",
        )
    return NO_OBJECTION
