"""The gate: ordered checks. One refusal refuses; else one doubt asks a person.

The gate looks at values and answers with a value. It reads no clock and no store,
so deciding twice is deciding once, and a decision can be explained by repeating it.
Making the decision true (taking a token, claiming an approval, running the tool,
writing the audit log) is the runtime's work: see `placet.runtime.invoke`.
"""

from collections.abc import Callable
from typing import Final, TypeAlias, assert_never

from placet.errors import ConfigurationError, described
from placet.gate.approval import check_approval
from placet.gate.authorisation import check_authorisation
from placet.gate.permission import check_permission
from placet.gate.policy import check_policy
from placet.gate.provenance import check_provenance
from placet.gate.rate_limit import check_rate_limit
from placet.gate.rejection import check_rejection
from placet.gate.request import GateRequest
from placet.values.approval import Yes
from placet.values.construction import dataclass
from placet.values.decision import NO_OBJECTION, Allow, Decision, Deny, NeedsApproval, Reason

Check: TypeAlias = Callable[[GateRequest], Decision]
"""One question about a call. It must be pure: same request, same decision."""

STANDARD_CHECKS: Final[tuple[Check, ...]] = (
    check_permission,
    check_policy,
    check_authorisation,
    check_rejection,
    check_rate_limit,
    check_provenance,
    check_approval,
)
"""The order decides which refusal is told. Whether the tool is open to the caller is asked
first, whether the resource is the caller's second: no later answer may speak of what the
caller must not know."""


@dataclass(frozen=True, slots=True)
class Gate:
    """Checks in the order they are asked.

    Attributes:
        checks: At least one. Your own go after the standard ones:
            `Gate((*STANDARD_CHECKS, check_office_hours))`.

    Raises:
        ConfigurationError: There are no checks. A gate that asks nothing would let
            everything through.
    """

    checks: tuple[Check, ...] = STANDARD_CHECKS

    def __post_init__(self) -> None:
        if not self.checks:
            msg = "a gate needs at least one check"
            raise ConfigurationError(msg)

    def decide(self, request: GateRequest) -> Decision:
        """Return the first `Deny`, else the strictest `NeedsApproval`, else `Allow`.

        Another person's yes is stricter than the requester's own. A check that fails, or
        answers with anything but a decision, is a refusal: what came from outside must not
        find a way in by breaking a check. So is a gate in which no check permits by name.
        """
        doubt: NeedsApproval | None = None
        permit: Allow | None = None
        for check in self.checks:
            try:
                decision = check(request)
            except Exception as error:  # noqa: BLE001 - whatever broke, refuse
                return _broken(check, described(error))
            if decision is NO_OBJECTION:
                continue
            match decision:
                case Allow():
                    if decision.rule:
                        permit = _named(permit, decision)
                case Deny():
                    return decision
                case NeedsApproval():
                    if doubt is None or decision.approval.yes is Yes.APPROVE:
                        doubt = decision
                case _ as other:
                    return _no_decision(check, other)
        if permit is None:
            return Deny(Reason.NOT_PERMITTED, "no rule permits this call", rule="no permit")
        return doubt or permit


def _named(permit: Allow | None, more: Allow) -> Allow:
    """Return the permit with one more rule to its name."""
    return more if permit is None else Allow(f"{more.rule}, {permit.rule}")


def _broken(check: Check, detail: str) -> Deny:
    name = getattr(check, "__name__", type(check).__name__)
    return Deny(Reason.CHECK_FAILED, "a check failed, so the call was refused", rule=name, detail=detail)


def _no_decision(check: Check, answer: object) -> Deny:
    return _broken(check, f"answered {type(answer).__name__}, which is no decision")


def told(decision: Decision) -> str:
    """Return the one word under which a decision stands in the audit log."""
    match decision:
        case Allow():
            return "allow"
        case Deny():
            return decision.reason.value
        case NeedsApproval():
            return "waiting"
        case _:
            assert_never(decision)
