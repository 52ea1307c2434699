"""Decide: take a person's yes or no to one request.

The store is the authority: a decision is one conditional statement there, taken once. What
is decided runs later, through the gate, in a new segment of the run that waits.
"""

from typing import Final

from placet.gate.approver import check_approver
from placet.ports import NotDecided
from placet.runtime.keys import call_digest, token_hash
from placet.runtime.record import json_text
from placet.runtime.world import World
from placet.tools.text import cut, make_safe
from placet.values.approval import ApprovalDecision, ApprovalRequest, ApprovalStatus, Yes
from placet.values.audit import AuditEntry, AuditKind
from placet.values.decision import Deny, Reason
from placet.values.json import JsonObject
from placet.values.outcome import Refused

NOTE_BYTES: Final = 4_000
"""Of a person's reason, in UTF-8: what the store, the audit log and the model get of it."""


async def decide(
    world: World,
    approval: str,
    by: str,
    yes: Yes | None,
    *,
    note: str | None = None,
    note_for_model: bool = True,
    arguments: JsonObject | None = None,
) -> ApprovalRequest | Refused:
    """Take a person's answer to a request; nothing runs here.

    Args:
        world: What the runtime needs from outside.
        approval: The token of the request, or its public id. Neither grants anything
            without an authenticated person who may decide.
        by: Principal id of that person, as the host application has authenticated them.
        yes: Which yes is given; None for a no.
        note: The reason for a no; its beginning and end are kept when it is very long.
        note_for_model: Whether the model may read it.
        arguments: What runs instead, when the person has edited the call.

    Raises:
        StoreError: The store or the directory cannot be read.
    """
    note = None if note is None else cut(note, NOTE_BYTES)[0]
    request = await _find_approval(world, make_safe(approval))
    person = await world.directory.find(by)
    if request is None or person is None:
        return Refused(reason=Reason.NOT_FOUND, message="there is no such approval for this person")
    allowed = check_approver(request, person, yes or request.yes, rejecting=yes is None)
    if isinstance(allowed, Deny):
        await world.record(_decision_entry(world, request, by, allowed.reason.value, allowed.rule, note))
        return Refused(reason=allowed.reason, message=allowed.message, run_id=request.run_id)
    digest = None
    if yes is not None and arguments is not None:
        edited = _edit(world, request, arguments)
        if isinstance(edited, Refused):
            return edited
        arguments, digest = edited
    decision = ApprovalDecision(
        approval_id=request.id,
        yes=yes is not None,
        by=by,
        at=world.clock.now(),
        note=note,
        note_for_model=note_for_model,
        arguments=arguments if digest else None,
        digest=digest,
    )
    word = "rejected" if yes is None else "confirmed" if yes is Yes.CONFIRM else "approved"
    entry = _decision_entry(world, request, by, word, allowed.rule, note, edited=arguments if digest else None)
    taken = await world.store.decide_approval(decision, entry)
    if isinstance(taken, NotDecided):
        await world.record(_decision_entry(world, request, by, taken.reason.value, "store", note))
        words = "has expired" if taken.status is ApprovalStatus.EXPIRED else "is already resolved"
        return Refused(reason=taken.reason, message=f"the approval {words}", run_id=request.run_id)
    world.tell(entry)
    return taken


def _edit(world: World, request: ApprovalRequest, arguments: JsonObject) -> tuple[JsonObject, str] | Refused:
    """Return the edited arguments, validated for the same tool, with their digest."""
    tool = world.find_tool(request.tool)
    read = tool.reader.read_json(arguments) if tool is not None else None
    if tool is None or read is None or isinstance(read, Deny):
        message = read.message if isinstance(read, Deny) else f"there is no tool {request.tool!r} any more"
        return Refused(reason=Reason.INVALID_ARGUMENTS, message=message, run_id=request.run_id)
    return read.json, call_digest(world.keys.digest, tool.spec.identity, read.json)


async def _find_approval(world: World, approval: str) -> ApprovalRequest | None:
    by_token = await world.store.find_approval(token_hash=token_hash(approval))
    return by_token if by_token is not None else await world.store.find_approval(id=approval)


def _decision_entry(
    world: World,
    request: ApprovalRequest,
    by: str,
    word: str,
    rule: str,
    note: str | None,
    edited: JsonObject | None = None,
) -> AuditEntry:
    """Return the record of a decision: who, about what they saw, and both versions when they edited it."""
    tool = world.find_tool(request.tool)
    redactor = world.redactor(tool)
    body: dict[str, object] = {
        "approval": request.id,
        "requested_by": request.principal_id,
        "yes": request.yes,
        "arguments": world.redacted(tool, request.arguments),
        "preview": world.redacted_preview(tool, request),
    }
    if tool is not None and tool.spec.remote is not None:
        body["remote"] = str(tool.spec.remote)
    if edited is not None:
        body["edited"] = world.redacted(tool, edited)
        body["changed"] = sorted(
            name for name in {*edited, *request.arguments} if edited.get(name) != request.arguments.get(name)
        )
    if note is not None:
        body["note"] = redactor.text(note)
    return AuditEntry(
        at=world.clock.now(),
        kind=AuditKind.APPROVAL,
        run_id=request.run_id,
        call_key=request.call_key,
        principal_id=by,
        tool=request.tool,
        decision=word,
        rule=rule,
        body=json_text(body),
    )
