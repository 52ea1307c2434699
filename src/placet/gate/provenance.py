"""Do the arguments that must be trusted come from where they may come from?"""

from placet.gate.request import GateRequest
from placet.values.decision import NO_OBJECTION, Decision, Deny, NeedsApproval, Reason
from placet.values.provenance import Origin


def check_provenance(request: GateRequest) -> Decision:
    """Ask a person when a trusted argument comes from untrusted output; refuse where nobody can be asked.

    A destination (a recipient, an account, an address on the web) that a web page or a
    stranger's mail has put into the conversation is not one that the person asked for.
    """
    tool = request.tool
    if not tool.trusted_arguments:
        return NO_OBJECTION
    untrusted = sorted(
        name
        for name in tool.trusted_arguments
        if name in request.provenance and request.provenance[name].origin is Origin.UNTRUSTED
    )
    if not untrusted or request.approval is not None:  # the approver has seen where each value came from
        return NO_OBJECTION
    if tool.approval is not None:
        return NeedsApproval(tool.approval, rule=f"{untrusted[0]} comes from untrusted output")
    return Deny(
        Reason.UNTRUSTED_ARGUMENT,
        f"{untrusted[0]!r} comes from the output of a tool that others can write, not from the person you act for",
        hint="ask the person for it",
        rule=f"{untrusted[0]} comes from untrusted output",
    )
