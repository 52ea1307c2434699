"""Prepare: everything that comes before a call takes or does anything.

Resolving hides by role before anything is said about arguments; looking up gathers every
fact that a check may ask for; deciding is pure. A refusal is recorded before it is told.
"""

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, TypeAlias, assert_never

from placet.agent.snapshot import load_result
from placet.errors import StoreError
from placet.gate.gate import told
from placet.gate.permission import permitting_role
from placet.gate.request import GateRequest
from placet.runtime.keys import call_digest, token_hash
from placet.runtime.look_up import look_up
from placet.runtime.observations import refusal_text, unknown_tool_text
from placet.runtime.record import CallRecord, proposed
from placet.runtime.sentences import refusal_sentence
from placet.runtime.site import CallSite
from placet.runtime.world import World
from placet.tools.arguments import Arguments
from placet.tools.context import Context
from placet.tools.tool import Tool
from placet.values.approval import ApprovalRequest, Preview, Yes
from placet.values.audit import AuditKind
from placet.values.call import ToolCall, ToolResult
from placet.values.decision import Allow, Deny, NeedsApproval, Reason
from placet.values.effect import EffectState, Take
from placet.values.event import CallFinished, CallProposed
from placet.values.outcome import PendingApproval
from placet.values.principal import Principal
from placet.values.tool import Survival


@dataclass(frozen=True, slots=True)
class Settled:
    """The call has its result without having run.

    Attributes:
        result: What the model is told.
        digest: Keyed digest of the call, or empty.
    """

    result: ToolResult
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """A person has to say yes first.

    Attributes:
        request: What the store is to keep.
        pending: What the requester is told, the token included.
    """

    request: ApprovalRequest
    pending: PendingApproval


@dataclass(frozen=True, slots=True, kw_only=True)
class Permitted:
    """The call may run.

    Attributes:
        call: The wish.
        site: Where it stands.
        tool: What runs.
        arguments: What it gets.
        resource: What was loaded and authorised.
        context: What it may know.
        digest: Keyed digest, or empty where nothing needs it.
        rule: Which rule permitted it.
        takes: What it takes from which windows.
        record: What the audit log is told of it.
        started: When it was proposed, monotonic seconds.
    """

    call: ToolCall
    site: CallSite
    tool: Tool
    arguments: Arguments
    resource: Any
    context: Context[Any]
    digest: str
    rule: str
    takes: tuple[Take, ...]
    record: CallRecord
    started: float


Prepared: TypeAlias = Settled | Asked | Permitted


async def prepare(world: World, call: ToolCall, site: CallSite) -> Prepared:
    """Resolve, validate, look up and decide; nothing is taken and nothing runs.

    Refusals are recorded before they are returned.
    """
    started = world.clock.monotonic()
    if site.emit is not None:
        site.emit(CallProposed(run_id=site.run_id, key=site.key, tool=call.name))
    principal, tool = await _resolve(world, call, site)
    if principal is None or tool is None:
        deny = _unknown_tool(world, call, principal)
        return await refuse(world, call, site, deny, _wish(world, call, site, None), started)
    if call.fault is not None:
        deny = Deny(Reason.CUT_OFF, f"not executed: {call.fault}", hint="make the call again, whole", rule="fault")
        return await refuse(world, call, site, deny, _wish(world, call, site, tool), started)
    approved = site.approval
    read = tool.reader.read(call.arguments) if approved is None else tool.reader.read_json(approved.arguments)
    if isinstance(read, Deny):
        return await refuse(world, call, site, read, _wish(world, call, site, tool), started)
    return await _decide(world, call, site, tool, principal, read, started)


async def _resolve(world: World, call: ToolCall, site: CallSite) -> tuple[Principal | None, Tool | None]:
    """Return today's principal, and the tool if it exists and is open to them."""
    try:
        principal = await world.directory.find(site.principal_id)
    except StoreError:
        return None, None
    tool = world.toolset.find(call.name)
    if principal is None or tool is None or permitting_role(tool.spec, principal) is None:
        return principal, None
    return principal, tool


def _unknown_tool(world: World, call: ToolCall, principal: Principal | None) -> Deny:
    """Return the refusal, in the same words for a tool that does not exist and for one that is not open."""
    visible = world.toolset.visible(principal.roles).specs if principal is not None else ()
    names = [spec.name for spec in visible]
    exists = world.toolset.find(call.name) is not None
    rule = "unknown principal" if principal is None else "hidden by role" if exists else "no such tool"
    return Deny(Reason.UNKNOWN_TOOL, unknown_tool_text(call.name, names), rule=rule)


def _wish(world: World, call: ToolCall, site: CallSite, tool: Tool | None) -> CallRecord:
    return proposed(site.run_id, site.key, site.principal_id, call, world.redactor(tool))


async def _decide(
    world: World, call: ToolCall, site: CallSite, tool: Tool, principal: Principal, arguments: Arguments, started: float
) -> Prepared:
    spec = tool.spec
    now = world.clock.now()
    record = CallRecord(
        site.run_id, site.key, site.principal_id, spec.name, world.redactor(tool).json_text(arguments.text), call.wire,
        _note(call, spec.name, arguments),
    )  # fmt: skip
    digest = ""
    if spec.records_intent or spec.approval is not None or site.rejected or site.approval is not None:
        digest = call_digest(world.keys.digest, spec.name, arguments.json)
    context: Context[Any] = Context(
        deps=world.deps,
        principal=principal,
        language=site.language,
        run_id=site.run_id,
        call_key=site.key,
        idempotency_key=site.key,
        deadline=started + spec.timeout.total_seconds(),
        now=now,
        runtime=None,
        state=site.state,
    )
    if site.may_have_run and spec.has_effect:
        known = await _known_effect(world, call, site, tool, digest, record, started)
        if known is not None:
            return known
    resource = preview = None
    if tool.load is not None:
        loaded = await look_up(world, tool, tool.load, arguments.value, context)
        if isinstance(loaded, Deny):
            return await refuse(world, call, site, loaded, record, started, digest)
        resource = loaded.value
    if site.approval is not None and tool.preview is not None:
        seen = await _preview(world, tool, arguments, resource, context)
        if isinstance(seen, Deny):
            return await refuse(world, call, site, seen, record, started, digest)
        preview = seen
    takes = _takes(tool, principal)
    request = GateRequest(
        tool=spec,
        principal=principal,
        arguments=arguments.value,
        now=now,
        digest=digest,
        policy_digest=world.policy_digest,
        resource=resource,
        takes=takes,
        used=await world.store.usage(takes, now) if takes else (),
        rejected=digest in site.rejected,
        approval=site.approval,
        preview=preview,
    )
    decision = world.gate.decide(request)
    match decision:
        case Deny():
            return await refuse(world, call, site, decision, record, started, digest)
        case NeedsApproval():
            return await _ask(world, call, site, decision, request, tool, arguments, context, record, started)
        case Allow():
            return Permitted(
                call=call, site=site, tool=tool, arguments=arguments, resource=resource, context=context, digest=digest,
                rule=decision.rule, takes=takes, record=record, started=started,
            )  # fmt: skip
        case _:
            assert_never(decision)


def _note(call: ToolCall, name: str, arguments: Arguments) -> str:
    notes = [call.note or "", arguments.note or ""]
    if call.name != name:
        notes.append(f"written as {call.name[:100]!r}")
    return "; ".join(note for note in notes if note)


async def _preview(
    world: World, tool: Tool, arguments: Arguments, resource: Any, context: Context[Any]
) -> Preview | None | Deny:
    if tool.preview is None:
        return None
    seen = await look_up(world, tool, tool.preview, arguments.value, resource, context)
    if isinstance(seen, Deny):
        return seen
    return seen.value if isinstance(seen.value, Preview) else Preview(str(seen.value))


def _takes(tool: Tool, principal: Principal) -> tuple[Take, ...]:
    if not tool.spec.limits:
        return ()
    name = tool.spec.name
    return tuple(
        Take(
            key=f"{name}|{principal.id if limit.scope == 'principal' else '*'}|{limit.calls}/{limit.per.total_seconds():g}",
            at_most=Decimal(limit.calls),
            per=limit.per,
            rule=f"{limit} of {name}",
        )
        for limit in tool.spec.limits
    )


async def _known_effect(
    world: World, call: ToolCall, site: CallSite, tool: Tool, digest: str, record: CallRecord, started: float
) -> Settled | None:
    """Return the result of a call that was begun before, or None when it may begin now."""
    known = await world.store.find_effect(site.key)
    if known is None:
        return None
    if known.digest != digest:
        deny = Deny(Reason.KEY_CONFLICT, "this key was used for another call", rule="ledger")
        return await refuse(world, call, site, deny, record, started, digest)
    match known.state_at(world.clock.now()):
        case EffectState.DONE | EffectState.FAILED if known.result is not None:
            return Settled(replace(load_result(known.result), call_id=call.id), digest)
        case EffectState.UNKNOWN if tool.spec.survival is not Survival.ONCE:
            return None
        case EffectState.RUNNING:
            deny = Deny(Reason.EFFECT_RUNNING, refusal_text(Reason.EFFECT_RUNNING), rule="ledger")
            return await refuse(world, call, site, deny, record, started, digest)
        case _:
            deny = Deny(Reason.EFFECT_UNKNOWN, refusal_text(Reason.EFFECT_UNKNOWN), rule="ledger")
            return await refuse(world, call, site, deny, record, started, digest, kind=AuditKind.OUTCOME)


async def refuse(
    world: World,
    call: ToolCall,
    site: CallSite,
    deny: Deny,
    record: CallRecord,
    started: float,
    digest: str = "",
    kind: AuditKind = AuditKind.CALL,
) -> Settled:
    """Record a refusal and return it as what the model is told."""
    content = deny.message if deny.hint is None else f"{deny.message}. {deny.hint}"
    ms = (world.clock.monotonic() - started) * 1000
    detail = world.redactor(None).text(deny.detail) if deny.detail else ""
    body = record.body(code=deny.reason.value, ms=ms, detail=detail)
    await world.record(record.entry(world.clock.now(), kind, told(deny), deny.rule, body))
    if site.emit is not None:
        site.emit(
            CallFinished(
                run_id=site.run_id, key=site.key, tool=record.tool, code=deny.reason, rule=deny.rule, milliseconds=ms
            )
        )
    answer = refusal_sentence(deny.reason, site.language) if site.wants_answer else ""
    return Settled(ToolResult(call.id, content, is_error=True, code=deny.reason.value, answer=answer), digest)


async def _ask(
    world: World,
    call: ToolCall,
    site: CallSite,
    doubt: NeedsApproval,
    request: GateRequest,
    tool: Tool,
    arguments: Arguments,
    context: Context[Any],
    record: CallRecord,
    started: float,
) -> Asked | Settled:
    """Return the question for a person, with the preview that the yes will be bound to."""
    if site.approval is not None:
        body = record.body(code=Reason.APPROVAL_VOID.value, ms=0, more=f',"approval":"{site.approval.id}"')
        await world.store.void_approval(
            site.approval.id,
            record.entry(world.clock.now(), AuditKind.APPROVAL, Reason.APPROVAL_VOID.value, doubt.rule, body),
        )
    preview = await _preview(world, tool, arguments, request.resource, context)
    if isinstance(preview, Deny):
        return await refuse(world, call, site, preview, record, started, request.digest)
    rule = doubt.approval
    now = world.clock.now()
    token = world.ids.secret()
    asked = ApprovalRequest(
        id=world.ids.new("apr"),
        token_hash=token_hash(token),
        run_id=site.run_id,
        call_key=site.key,
        principal_id=site.principal_id,
        tool=tool.spec.name,
        arguments=arguments.json,
        digest=request.digest,
        schema_digest=tool.spec.digest,
        policy_digest=world.policy_digest,
        rule=doubt.rule,
        yes=rule.yes,
        approvers=rule.approvers,
        preview=preview,
        provenance=request.provenance,
        created_at=now,
        expires_at=now + rule.ttl,
    )
    pending = PendingApproval(
        id=asked.id,
        token=token,
        yes=asked.yes,
        tool=asked.tool,
        # Who confirms their own call is its approver, and sees what will run as it is.
        arguments=arguments.json if rule.yes is Yes.CONFIRM else world.redactor(tool).value(arguments.json),
        approvers=asked.approvers,
        preview=preview,
        expires_at=asked.expires_at,
    )
    return Asked(asked, pending)
