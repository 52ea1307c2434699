"""Is there room in every window from which the call would take?"""

from placet.gate.request import GateRequest
from placet.values.decision import Allow, Decision, Deny, Reason


def check_rate_limit(request: GateRequest) -> Decision:
    """Refuse a call for which a window has no room left.

    Room that is found here is not yet taken: the store takes it atomically when the call
    is about to run, and who comes late is refused then.
    """
    if request.entered:
        return Allow("")
    for take, used in zip(request.takes, request.used, strict=True):
        if used + take.amount > take.at_most:
            return limit_reached(take.rule)
    return Allow("")


def limit_reached(rule: str) -> Deny:
    """Return the refusal for a window that is full."""
    return Deny(
        Reason.LIMIT_REACHED,
        f"limit reached: {rule}",
        hint="do not try again now; go on with what you know, or tell the person to try later",
        rule=rule,
    )
