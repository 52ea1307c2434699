"""`placet approvals`: what waits for a person, and their yes or no."""

from typing import Annotated, Final

import typer
from rich.text import Text

from placet.cli.command import Ended, Identity, command
from placet.cli.door import Door
from placet.cli.exits import Exit, Failure, exit_of
from placet.cli.json_argument import read_object
from placet.cli.layout import GAP, call, table, wrap
from placet.cli.present import outcome_json, present, refusal, time_left
from placet.cli.progress import watch
from placet.cli.requests import (
    argument_lines,
    complaint,
    entitled,
    redacted_arguments,
    redacted_preview,
    request_json,
    request_lines,
)
from placet.runtime.site import Emit
from placet.values.approval import ApprovalRequest, ApprovalStatus, Yes
from placet.values.decision import Reason
from placet.values.json import JsonObject
from placet.values.outcome import Outcome, Refused, Waiting
from placet.words.escape import escape_for_person
from placet.words.messages import (
    APPROVAL_STATUSES,
    APPROVED,
    ASKED_ANEW,
    CONFIRMED,
    NO_APPROVAL,
    NOTHING_WAITS,
    REJECTED,
    REQUESTER,
)

approvals = typer.Typer(help="What waits for a person, and their yes or no.", no_args_is_help=True)

ApprovalId = Annotated[str, typer.Argument(metavar="ID", help="The request, as apr_….")]

_DONE: Final = {Yes.APPROVE: APPROVED, Yes.CONFIRM: CONFIRMED, None: REJECTED}


@command(approvals, "list", identity=Identity.OPTIONAL)
async def list_approvals(
    door: Door,
    everything: Annotated[bool, typer.Option("--all", help="Also what has been decided or has expired.")] = False,
) -> Ended:
    """List what waits for a person. Arguments are redacted, and tokens are never listed."""
    statuses = () if everything else (ApprovalStatus.PENDING,)
    found = await door.agent.approvals(statuses=statuses)
    if door.screen.as_json:
        door.screen.data([_row_json(door, request) for request in found])
        return Exit.OK
    if not found:
        door.screen.note(Text(f"{GAP}{door.say(NOTHING_WAITS)}", style="dim"))
        return Exit.OK
    headings = [door.say(name) for name in ("Id", "Tool", "On behalf of", "Who may approve", "Expires")]
    header, *rows = table(headings, [_row(door, request) for request in found], door.screen.width, flexible=(3,))
    door.screen.line(header)
    for row, request in zip(rows, found, strict=True):
        door.screen.line(row)
        for line in wrap(_seen(door, request), None if door.screen.width is None else door.screen.width - 4):
            door.screen.line(Text(f"{GAP * 2}{line}", style="dim"))
    return Exit.OK


@command(approvals, "show", identity=Identity.OPTIONAL)
async def show_approval(door: Door, approval_id: ApprovalId) -> Ended:
    """Show one request. Whoever may decide it sees every argument as it will run."""
    await door.agent.store.expire_approvals(door.agent.world.clock.now())
    request = await door.agent.store.find_approval(id=approval_id)
    if request is None:
        return _missing(door, approval_id)
    if door.screen.as_json:
        door.screen.data(request_json(door, request))
    else:
        door.screen.lines(request_lines(door, request))
    return Exit.OK


@command(approvals, "approve", identity=Identity.REQUIRED, asks_model=True)
def approve(
    door: Door,
    approval_id: ApprovalId,
    edit: Annotated[
        str | None, typer.Option("--edit", metavar="JSON", help="The arguments that run instead: all of them.")
    ] = None,
) -> Ended:
    """Say yes to somebody else's call, and print what comes of their run."""
    arguments: JsonObject | None = None
    if edit is not None:
        read = read_object(door, edit)
        if isinstance(read, Failure):
            return read
        arguments = read
    return _decide(door, approval_id, Yes.APPROVE, arguments=arguments)


@command(approvals, "confirm", identity=Identity.REQUIRED, asks_model=True)
def confirm(door: Door, approval_id: ApprovalId) -> Ended:
    """Say yes to your own call, where its tool lets you, and print what comes of the run."""
    return _decide(door, approval_id, Yes.CONFIRM)


@command(approvals, "reject", identity=Identity.REQUIRED, asks_model=True)
def reject(
    door: Door,
    approval_id: ApprovalId,
    reason: Annotated[str | None, typer.Option("--reason", metavar="TEXT", help="Why not.")] = None,
    hide_reason: Annotated[bool, typer.Option("--hide-reason", help="Keep the reason from the model.")] = False,
) -> Ended:
    """Say no, for good: the same call is not asked for again in that run."""
    return _decide(door, approval_id, None, reason=reason, hide_reason=hide_reason)


def _decide(
    door: Door,
    approval_id: str,
    yes: Yes | None,
    *,
    arguments: JsonObject | None = None,
    reason: str | None = None,
    hide_reason: bool = False,
) -> Ended:
    """Take a person's answer, and print what came of the run that waited."""
    agent = door.agent
    request = door.wait(agent.store.find_approval(id=approval_id))
    if request is None:
        return _missing(door, approval_id)

    async def decide(emit: Emit) -> Outcome:
        match yes:
            case Yes.APPROVE:
                return await agent.approve(approval_id, by=door.who, arguments=arguments, emit=emit)
            case Yes.CONFIRM:
                return await agent.confirm(approval_id, by=door.who, emit=emit)
            case None:
                return await agent.reject(
                    approval_id, by=door.who, reason=reason, reason_for_model=not hide_reason, emit=emit
                )

    if yes is not None and arguments is None and not door.screen.as_json and entitled(door, request):
        for line in argument_lines(door, request):
            door.screen.note(line)
    outcome = watch(door, decide)
    if isinstance(outcome, Refused):
        return _refused(door, request, yes, outcome)
    door.screen.note(Text(f"{GAP}{door.say(_DONE[yes])}", style="green" if yes else "yellow"))
    if isinstance(outcome, Waiting) and _is_void(door, approval_id):
        door.screen.note(Text(f"{GAP}{door.say(ASKED_ANEW)}", style="yellow"))
    return present(door, outcome)


def _is_void(door: Door, approval_id: str) -> bool:
    """Return whether a yes that was just taken counts no more: what its preview showed is no longer so."""
    request = door.wait(door.agent.store.find_approval(id=approval_id))
    return request is not None and request.status is ApprovalStatus.VOID


def _refused(door: Door, request: ApprovalRequest, yes: Yes | None, refused: Refused) -> Ended:
    if door.screen.as_json:
        door.screen.data(outcome_json(door, refused))
        return exit_of(refused)
    if refused.reason is Reason.INVALID_ARGUMENTS:
        failure = refusal(door, refused)
        return Failure(exit=failure.exit, code=failure.code, message=failure.message, fix=refused.message)
    return refusal(door, refused, complaint(door, request, yes or request.yes, rejecting=yes is None))


def _missing(door: Door, approval_id: str) -> Failure:
    return Failure(exit=Exit.NOT_FOUND, code=Reason.NOT_FOUND, message=door.say(NO_APPROVAL, id=approval_id))


def _row(door: Door, request: ApprovalRequest) -> list[str]:
    now = door.agent.world.clock.now()
    status = request.status_at(now)
    left = time_left(request.expires_at, now)
    return [
        request.id,
        request.tool,
        request.principal_id,
        ", ".join(sorted(request.approvers)) if request.yes is Yes.APPROVE else door.say(REQUESTER),
        left if status is ApprovalStatus.PENDING else door.say(APPROVAL_STATUSES[status]),
    ]


def _seen(door: Door, request: ApprovalRequest) -> str:
    """Return what would change, as anybody may see it: the preview, else the call with its secrets left out."""
    preview = redacted_preview(door, request)
    if preview:
        return escape_for_person(preview).text
    return call(request.tool, redacted_arguments(door, request))


def _row_json(door: Door, request: ApprovalRequest) -> JsonObject:
    return {
        **request_json(door, request),
        "arguments": redacted_arguments(door, request),
        "preview": redacted_preview(door, request),
        "redacted": True,
    }
