"""Is there room in every window from which the call would take?"""

from decimal import Decimal, InvalidOperation

from placet.gate.request import GateRequest
from placet.values.decision import NO_OBJECTION, Decision, Deny, Reason
from placet.values.effect import Take
from placet.values.json import Json, JsonObject
from placet.values.limits import RateLimit
from placet.values.tool import ToolSpec


def what_it_takes(tool: ToolSpec, principal_id: str, arguments: JsonObject) -> tuple[Take, ...] | Deny:
    """Return what a call takes from which windows, or the refusal for a value that cannot be counted.

    Args:
        tool: With its limits.
        principal_id: On whose behalf.
        arguments: The validated arguments, as they will run.
    """
    takes: list[Take] = []
    for limit in tool.limits:
        if isinstance(limit, RateLimit):
            at_most, amount = Decimal(limit.calls), Decimal(1)
        else:
            counted = _amount(arguments.get(limit.argument))
            if counted is None:
                return Deny(
                    Reason.INVALID_ARGUMENTS,
                    f"{limit.argument!r} must be a number, zero or more: it counts towards a limit",
                    rule=f"{limit} of {tool.name}",
                )
            at_most, amount = limit.at_most, counted
        whose = principal_id if limit.scope == "principal" else "*"
        key = f"{tool.name}|{whose}|{limit}"
        takes.append(Take(key=key, at_most=at_most, per=limit.per, amount=amount, rule=f"{limit} of {tool.name}"))
    return tuple(takes)


def _amount(value: Json) -> Decimal | None:
    """Return a value as it counts: a number, or a number in a text, as decimals are written in JSON."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        amount = Decimal(str(value))
    except InvalidOperation:
        return None
    # Below zero would give room back.
    return amount if amount.is_finite() and amount >= 0 else None


def check_rate_limit(request: GateRequest) -> Decision:
    """Refuse a call for which a window has no room left.

    Room that is found here is not yet taken: the store takes it atomically when the call
    is about to run, and who comes late is refused then.
    """
    if request.entered:
        return NO_OBJECTION
    for take, used in zip(request.takes, request.used, strict=True):
        if used + take.amount > take.at_most:
            return limit_reached(take.rule)
    return NO_OBJECTION


def limit_reached(rule: str) -> Deny:
    """Return the refusal for a window that is full."""
    return Deny(
        Reason.LIMIT_REACHED,
        f"limit reached: {rule}",
        hint="do not try again now; go on with what you know, or tell the person to try later",
        rule=rule,
    )
