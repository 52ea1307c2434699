"""Waiting: what a run waits for, and what has become of it when its next segment starts."""

from collections.abc import Mapping
from dataclasses import field
from typing import assert_never

from placet.agent.transitions import invoked, rejected, resumed
from placet.runtime.keys import call_digest
from placet.runtime.observations import refusal_text, rejection_text
from placet.runtime.record import json_text
from placet.runtime.sentences import refusal_sentence
from placet.runtime.world import World
from placet.values.approval import ApprovalRequest, ApprovalStatus
from placet.values.audit import AuditEntry, AuditKind
from placet.values.call import ToolResult
from placet.values.construction import dataclass
from placet.values.decision import Deny, Reason
from placet.values.outcome import PendingApproval
from placet.values.run import PlannedCall, Run


@dataclass(frozen=True, slots=True)
class Decided:
    """A run with what persons have decided since its snapshot taken in.

    Attributes:
        run: The run; calls that were rejected or ran out have their results.
        approved: The approvals that its calls carry now, by the key of the call.
        asked: The requests that it still waits for, by id.
    """

    run: Run
    approved: Mapping[str, ApprovalRequest] = field(default_factory=dict[str, ApprovalRequest])
    asked: Mapping[str, ApprovalRequest] = field(default_factory=dict[str, ApprovalRequest])


async def take_decisions(world: World, run: Run, outermost: str) -> Decided:  # noqa: C901 - one branch for each status
    """Return the run with what persons have decided about its waiting calls.

    Args:
        world: What the run needs from outside.
        run: The run, as its snapshot has it.
        outermost: The id of the outermost run of its tree, which is the one that waits.

    Raises:
        StoreError: The store cannot be read.
    """
    now = world.clock.now()
    results: dict[int, ToolResult] = {}
    free: list[int] = []
    approved: dict[str, ApprovalRequest] = {}
    asked: dict[str, ApprovalRequest] = {}
    for planned in run.planned:
        if planned.result is not None:
            continue
        if planned.inside:
            inside = await _look_inside(world, planned)
            asked.update(inside)
            if len(inside) < len(planned.inside):
                free.append(planned.index)
        if planned.approval_id is None:
            continue
        request = await world.store.find_approval(id=planned.approval_id)
        if request is None or request.run_id != outermost:
            results[planned.index] = _not_run(run, planned, Reason.APPROVAL_VOID)
            continue
        match request.status_at(now):
            case ApprovalStatus.PENDING:
                asked[request.id] = request
            case ApprovalStatus.APPROVED | ApprovalStatus.USED:
                approved[request.call_key] = request
                free.append(planned.index)
            case ApprovalStatus.VOID:
                free.append(planned.index)
            case ApprovalStatus.REJECTED:
                run = rejected(run, *_digests(world, planned, request))
                note = request.note if request.note_for_model else None
                results[planned.index] = _not_run(run, planned, Reason.REJECTED, rejection_text(note), note)
            case ApprovalStatus.EXPIRED:
                results[planned.index] = _not_run(run, planned, Reason.EXPIRED)
            case _ as other:
                assert_never(other)
    return Decided(invoked(resumed(run, free), results), approved, asked)


async def _look_inside(world: World, planned: PlannedCall) -> dict[str, ApprovalRequest]:
    """Return the requests of nested runs that are still waited for, by id."""
    now = world.clock.now()
    requests = [await world.store.find_approval(id=approval_id) for approval_id in planned.inside]
    return {
        request.id: request
        for request in requests
        if request is not None and request.status_at(now) is ApprovalStatus.PENDING
    }


def _digests(world: World, planned: PlannedCall, request: ApprovalRequest) -> set[str]:
    """Return what a no rejects: the call that was asked for, and the model's own where a person has edited it."""
    tool = world.find_tool(request.tool)
    wished = tool.reader.read(planned.call.arguments) if tool is not None else None
    if tool is None or wished is None or isinstance(wished, Deny):
        return {request.digest}
    return {request.digest, call_digest(world.keys.digest, tool.spec.identity, wished.json)}


def _not_run(
    run: Run, planned: PlannedCall, reason: Reason, text: str | None = None, note: str | None = None
) -> ToolResult:
    """Return what the model is told of a call that will not run, and what a person reads when no model words it."""
    sentence = refusal_sentence(reason, run.language)
    return ToolResult(
        planned.call.id,
        text or refusal_text(reason),
        is_error=True,
        code=reason.value,
        answer=f"{sentence} {note}" if note else sentence,
    )


def waiting_entry(world: World, request: ApprovalRequest) -> AuditEntry:
    """Return the record of a question to a person."""
    tool = world.find_tool(request.tool)
    arguments = world.redacted(tool, request.arguments)
    body: dict[str, object] = {
        "approval": request.id,
        "arguments": arguments,
        "yes": request.yes,
        "approvers": sorted(request.approvers),
        "preview": world.redacted_preview(tool, request),
        "expires_at": request.expires_at.isoformat(),
    }
    if tool is not None and tool.spec.remote is not None:
        body["remote"] = str(tool.spec.remote)
    return AuditEntry(
        at=request.created_at,
        kind=AuditKind.APPROVAL,
        run_id=request.run_id,
        call_key=request.call_key,
        principal_id=request.principal_id,
        tool=request.tool,
        decision="waiting",
        rule=request.rule,
        body=json_text(body),
    )


def pending_of(world: World, request: ApprovalRequest) -> PendingApproval:
    """Return what the requester is told of a request that was read back from the store: no token."""
    tool = world.find_tool(request.tool)
    return PendingApproval(
        id=request.id,
        token="",
        yes=request.yes,
        tool=request.tool,
        arguments=world.redacted(tool, request.arguments),
        approvers=request.approvers,
        preview=world.preview_for_others(tool, request),
        expires_at=request.expires_at,
    )
