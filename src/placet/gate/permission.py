"""Is the tool open to this principal at all?"""

from placet.gate.request import GateRequest
from placet.values.decision import NO_OBJECTION, Allow, Decision, Deny, Reason
from placet.values.principal import EVERYONE, Principal
from placet.values.tool import ToolSpec


def permitting_role(tool: ToolSpec, principal: Principal) -> str | None:
    """Return the role by which the tool is open to the principal, or None when it is not.

    Nothing undeclared is permitted: a tool that names no roles is open to nobody here.
    """
    roles = tool.roles
    if not roles:
        return None
    if EVERYONE in roles:
        return EVERYONE
    held = roles & principal.roles
    return min(held) if held else None


def check_permission(request: GateRequest) -> Decision:
    """Allow when one of the principal's roles of today is among those that the tool names.

    It is asked again here although tools are hidden by role before: a role can be lost
    between the proposal and the moment when the call runs.
    """
    role = permitting_role(request.tool, request.principal)
    if request.tool.roles is None and request.policy is not None:
        return NO_OBJECTION  # the tool leaves it to the policy, which is asked next
    if role is None:
        return Deny(
            Reason.NOT_PERMITTED,
            "this tool is not open to the person you act for",
            rule="no role permits it",
        )
    rule = "everyone" if role == EVERYONE else f"role {role}"
    if request.tool.authorise is not None:
        rule = f"{rule}, {_name(request.tool.authorise)}"
    return Allow(rule)


def _name(function: object) -> str:
    return getattr(function, "__name__", type(function).__name__)
