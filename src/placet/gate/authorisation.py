"""May this principal do this to this resource?"""

from typing import Final

from placet.gate.request import GateRequest
from placet.values.decision import NO_OBJECTION, Decision, Deny, Reason

NOT_FOUND_MESSAGE: Final = "nothing was found with these arguments that the person you act for may see"
"""The same words for what does not exist and for what belongs to somebody else."""


def check_authorisation(request: GateRequest) -> Decision:
    """Allow when the tool's rule says True for principal, resource and arguments.

    What was not found and what is not allowed are refused in the same words and with the
    same code, so that nobody learns which numbers exist; the rule differs, and only the
    audit log holds it.
    """
    tool = request.tool
    if tool.loads and request.resource is None:
        return Deny(Reason.NOT_FOUND, NOT_FOUND_MESSAGE, rule="nothing loaded")
    if tool.authorise is None:
        return NO_OBJECTION
    if tool.authorise(request.principal, request.resource, request.arguments) is True:
        return NO_OBJECTION
    rule = getattr(tool.authorise, "__name__", type(tool.authorise).__name__)
    if tool.loads:
        return Deny(Reason.NOT_FOUND, NOT_FOUND_MESSAGE, rule=rule)
    return Deny(Reason.NOT_PERMITTED, "the person you act for may not do this", rule=rule)
