"""Does a rule of the policy permit this call, and does none forbid it?"""

from placet.errors import PolicyError
from placet.gate.policy_facts import check_condition
from placet.gate.request import GateRequest
from placet.values.decision import NO_OBJECTION, Allow, Decision, Deny, Reason
from placet.values.policy import Policy, Verdict
from placet.values.principal import EVERYONE, Principal
from placet.values.tool import ToolSpec


def check_policy(request: GateRequest) -> Decision:
    """Allow when some rule permits and none forbids; without a policy, the tool's own roles decide alone."""
    policy = request.policy
    if policy is None:
        return NO_OBJECTION
    applying = policy.applying(request.tool.name, request.principal, request.arguments, request.written)
    forbids = sorted(rule.id for rule in applying if rule.verdict is Verdict.FORBID)
    if forbids:
        return Deny(Reason.NOT_PERMITTED, "a rule forbids this call", rule=f"forbidden by {forbids[0]}")
    permits = sorted(rule.id for rule in applying if rule.verdict is Verdict.PERMIT)
    if not permits:
        return Deny(Reason.NOT_PERMITTED, "no rule permits this call", rule="no rule permits it")
    return Allow(f"rule {permits[0]}")


def is_open(tool: ToolSpec, principal: Principal, policy: Policy | None) -> bool:
    """Return whether the tool is open to the principal at all, so that they may see it.

    With a policy, some rule must be able to permit it, and the tool's own roles, where it
    names any, must let the principal in as well. Without one, its roles decide.
    """
    roles = tool.roles
    own = roles is not None and (EVERYONE in roles or not roles.isdisjoint(principal.roles))
    if policy is None:
        return own
    return (roles is None or own) and policy.may_permit(tool.name, principal.roles)


def check_names(policy: Policy, tools: dict[str, ToolSpec]) -> None:
    """Refuse a policy that names what does not exist: such a rule can never do what it says.

    Args:
        policy: The policy.
        tools: Every tool of the product, by name.

    Raises:
        PolicyError: A rule names a tool or an argument that does not exist, or compares an argument
            with what it can never be.
    """
    for rule in policy.rules:
        for name in sorted(rule.tools):
            if name not in tools:
                raise PolicyError(
                    f"rule {rule.id!r} names the tool {name!r}, which does not exist; tools are {sorted(tools)}"
                )
            for condition in rule.conditions:
                check_condition(rule.id, condition, tools[name])
