"""Requests: what an approver, or who confirms, sees of a call before saying yes.

To somebody who may decide every argument is shown as it will run, whole, with what cannot
be seen made visible and a warning where that was needed. To everybody else it is redacted.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from rich.text import Text

from placet.cli.door import Door
from placet.cli.layout import GAP, arguments, labelled
from placet.cli.present import expiry, remote_json
from placet.gate.approver import check_approver
from placet.values.approval import ApprovalRequest, ApprovalStatus, Yes
from placet.values.decision import Allow, Deny
from placet.values.json import JsonObject
from placet.values.provenance import Origin
from placet.words.escape import escape_for_person, escape_json
from placet.words.formats import show_datetime
from placet.words.messages import (
    ALREADY,
    APPROVAL_STATUSES,
    DECISIONS,
    EFFECTS,
    NEEDS_APPROVAL,
    NEEDS_CONFIRMATION,
    NEEDS_ROLE,
    ORIGINS,
    OWN_CALL,
    REDACTED,
    REQUESTER,
    WARN_HIDDEN,
    WARN_MIXED,
)

COMPLAINTS: Final = {
    "needs confirm": NEEDS_CONFIRMATION,
    "needs approve": NEEDS_APPROVAL,
    "requester only": NEEDS_CONFIRMATION,
    "requester ≠ approver": OWN_CALL,
    "approver roles": NEEDS_ROLE,
}
"""What a person reads, by the rule that does not let them decide."""


def entitled(door: Door, request: ApprovalRequest) -> bool:
    """Return whether the person who asks may say yes to a request, and so sees it unredacted."""
    principal = door.principal
    return principal is not None and isinstance(check_approver(request, principal, request.yes), Allow)


def complaint(door: Door, request: ApprovalRequest, yes: Yes, *, rejecting: bool = False) -> str | None:
    """Return why the person who asks may not decide, found by deciding again; None where that is not why.

    Args:
        door: Who asks, and in which language.
        request: About what.
        yes: Which yes they gave.
        rejecting: Whether it was a no.
    """
    principal = door.principal
    refused = check_approver(request, principal, yes, rejecting=rejecting) if principal is not None else None
    if isinstance(refused, Deny) and refused.rule in COMPLAINTS:
        return door.say(COMPLAINTS[refused.rule], id=request.id, roles=", ".join(sorted(request.approvers)))
    now = door.agent.world.clock.now()
    status = request.status_at(now)
    if status is not ApprovalStatus.PENDING:
        return door.say(ALREADY, id=request.id, status=door.say(APPROVAL_STATUSES[status]))
    return None


def visible_arguments(door: Door, request: ApprovalRequest) -> JsonObject:
    """Return the arguments of a request as the person who asks may see them."""
    if entitled(door, request):
        return request.arguments
    return redacted_arguments(door, request)


def redacted_arguments(door: Door, request: ApprovalRequest) -> JsonObject:
    """Return the arguments of a request as anybody may see them."""
    world = door.agent.world
    return world.redacted(world.find_tool(request.tool), request.arguments)


def visible_preview(door: Door, request: ApprovalRequest) -> str | None:
    """Return what would change, as the person who asks may see it; None where the tool shows nothing."""
    if entitled(door, request):
        return request.preview.text if request.preview is not None else None
    return redacted_preview(door, request)


def redacted_preview(door: Door, request: ApprovalRequest) -> str | None:
    """Return what would change, as anybody may see it: it may quote the arguments."""
    world = door.agent.world
    return world.redacted_preview(world.find_tool(request.tool), request)


def request_lines(door: Door, request: ApprovalRequest) -> Iterable[Text]:
    """Yield everything that a person sees of a request."""
    now = door.agent.world.clock.now()
    status = request.status_at(now)
    yield Text.assemble((f"{GAP}{request.id}", "bold"), f"  {door.say(APPROVAL_STATUSES[status])}")
    tool = door.agent.world.toolset.find(request.tool)
    effect = f" · {door.say(EFFECTS[tool.spec.effect])}" if tool is not None else ""
    who = ", ".join(sorted(request.approvers)) if request.yes is Yes.APPROVE else door.say(REQUESTER)
    expires = expiry(door, request.expires_at) if status is ApprovalStatus.PENDING else ""
    yield from labelled(
        [
            (door.say("Tool"), f"{request.tool}{effect}"),
            (door.say("Remote tool"), str(tool.spec.remote or "") if tool is not None else ""),
            (door.say("On behalf of"), request.principal_id),
            (door.say("Asked"), moment(door, request.created_at)),
            (door.say("Rule"), request.rule),
            (door.say("Who may approve"), who),
            (door.say("Expires"), moment(door, request.expires_at) + (f" · {expires}" if expires else "")),
            (door.say("What would change"), visible_preview(door, request) or ""),
            (door.say("Decision"), _decided(door, request)),
            (door.say("Run"), request.run_id),
        ],
        door.screen.width,
    )
    yield from argument_lines(door, request)


def argument_lines(door: Door, request: ApprovalRequest) -> Iterable[Text]:
    """Yield every argument of a request, and what to be warned of."""
    shown = visible_arguments(door, request)
    yield Text(f"{GAP}{door.say('Arguments')}", style="dim")
    yield from arguments(shown, {name: _origin(door, said) for name, said in request.provenance.items()})
    if not entitled(door, request):
        yield Text(f"{GAP}{door.say(REDACTED)}", style="dim")
    for sentence in warnings(door, request):
        yield Text(f"{GAP}⚠ {sentence}", style="yellow")


def warnings(door: Door, request: ApprovalRequest) -> list[str]:
    """Return what a person is to be warned of before they decide."""
    preview = escape_for_person(visible_preview(door, request) or "", lines=True)
    found = escape_json(visible_arguments(door, request))
    said = [door.say(WARN_HIDDEN)] if found.hidden or preview.hidden else []
    mixed = dict.fromkeys((*found.mixed, *preview.mixed))
    return [*said, door.say(WARN_MIXED, words=", ".join(mixed))] if mixed else said


def request_json(door: Door, request: ApprovalRequest) -> JsonObject:
    """Return a request as a program reads it; never a token, nor the hash of one."""
    now = door.agent.world.clock.now()
    tool = door.agent.world.find_tool(request.tool)
    return {
        "id": request.id,
        "status": request.status_at(now).value,
        "yes": request.yes.value,
        "tool": request.tool,
        "remote": remote_json(tool.spec.remote if tool is not None else None),
        "arguments": visible_arguments(door, request),
        "redacted": not entitled(door, request),
        "principal": request.principal_id,
        "run_id": request.run_id,
        "rule": request.rule,
        "approvers": sorted(request.approvers),
        "preview": visible_preview(door, request),
        "provenance": dict(request.provenance),
        "created_at": request.created_at.isoformat(),
        "expires_at": request.expires_at.isoformat(),
        "decided_by": request.decided_by,
        "decided_at": request.decided_at.isoformat() if request.decided_at is not None else None,
    }


def moment(door: Door, at: datetime) -> str:
    """Return a time as the person reads it, in the zone of this machine."""
    return show_datetime(at.astimezone(), door.language)


def _origin(door: Door, said: str) -> str:
    """Return where an argument came from, as it was noted with the request, in the person's language."""
    word, _, tool = said.partition(": ")
    text = door.say(ORIGINS[Origin(word)]) if word in _ORIGINS else word
    return f"{text}: {tool}" if tool else text


_ORIGINS: Final = frozenset(origin.value for origin in Origin)


def _decided(door: Door, request: ApprovalRequest) -> str:
    if request.decided_by is None:
        return ""
    by = request.decided_by
    when = f", {moment(door, request.decided_at)}" if request.decided_at is not None else ""
    if request.status is ApprovalStatus.REJECTED:
        return door.say(DECISIONS["rejected"], person=by) + when + (f": {request.note}" if request.note else "")
    word = DECISIONS["confirmed" if request.yes is Yes.CONFIRM else "approved"]
    return door.say(word, person=by) + when
