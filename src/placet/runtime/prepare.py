"""Prepare: everything that comes before a call takes or does anything.

Resolving hides by role before anything is said about arguments; looking up gathers every
fact that a check may ask for; deciding is pure. A refusal is recorded before it is told.
"""

from collections.abc import Coroutine
from dataclasses import replace
from typing import Any, Final, TypeAlias, assert_never

from placet.agent.snapshot import load_result
from placet.errors import StoreError, ToolError, described
from placet.gate.gate import told
from placet.gate.policy import is_open
from placet.gate.request import GateRequest
from placet.runtime.attempt import Attempt, Ready
from placet.runtime.facts import look_up_facts, see_preview
from placet.runtime.hooks import ToolUse, settle
from placet.runtime.keys import call_digest, token_hash
from placet.runtime.look_up import failed
from placet.runtime.observations import purged_text, refusal_text, unknown_tool_text
from placet.runtime.record import CallRecord, proposed
from placet.runtime.redacted import detail_of
from placet.runtime.sentences import refusal_sentence
from placet.runtime.site import CallSite
from placet.runtime.telemetry import TOOL_ARGUMENTS, CallSpan
from placet.runtime.world import World
from placet.tools.arguments import Arguments
from placet.tools.context import Context
from placet.tools.tool import Tool
from placet.tools.transaction import Transaction
from placet.values.approval import ApprovalRequest, ApprovalStatus, Yes
from placet.values.audit import AuditKind
from placet.values.call import OK, ToolCall, ToolResult
from placet.values.construction import dataclass, made_quickly, maker
from placet.values.decision import Allow, Deny, NeedsApproval, Reason
from placet.values.effect import EffectRecord, EffectState, Take
from placet.values.event import CallFinished, CallProposed
from placet.values.outcome import PendingApproval
from placet.values.principal import Principal
from placet.values.tool import Survival, ToolSpec


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


@made_quickly
@dataclass(frozen=True, slots=True, kw_only=True)
class Permitted:
    """The call may run.

    Attributes:
        ready: The call with everything that it needs.
        resource: What was loaded and authorised.
        rule: Which rule permitted it.
        takes: What it takes from which windows.
    """

    ready: Ready
    resource: Any
    rule: str
    takes: tuple[Take, ...]


Prepared: TypeAlias = Settled | Asked | Permitted

_new_record: Final = maker(CallRecord)
_new_context: Final = maker(Context)
_new_attempt: Final = maker(Attempt)
_new_ready: Final = maker(Ready)
_new_permitted: Final = maker(Permitted)


def prepare(world: World, call: ToolCall, site: CallSite) -> Coroutine[Any, Any, Prepared]:
    """Resolve, validate, look up and decide; nothing is taken and nothing runs.

    Refusals are recorded before they are returned. A store that cannot be read refuses.
    """
    return _prepare(world, call, site) if site.span is None else _prepare_traced(world, call, site, site.span)


async def _prepare_traced(world: World, call: ToolCall, site: CallSite, span: CallSpan) -> Prepared:
    try:
        with span.current():
            prepared = await _prepare(world, call, site)
    except BaseException as error:
        span.fail(type(error).__name__)
        raise
    match prepared:
        case Settled(result=result):
            span.end(result)
        case Asked(request=request):
            span.wait(request.id, request.rule)
            span.end()
        case Permitted(ready=ready, rule=rule):
            span.allow(rule, site.approval.id if site.approval is not None else None)
            span.show(TOOL_ARGUMENTS, ready.attempt.record.arguments)
    return prepared


async def _prepare(world: World, call: ToolCall, site: CallSite) -> Prepared:
    started = world.clock.monotonic()
    if site.emit is not None:
        site.emit(CallProposed(run_id=site.run_id, key=site.key, tool=call.name))
    resolved = await _resolve(world, call, site)
    if isinstance(resolved, Deny):
        return await refuse(world, _wish(world, call, site, started), resolved)
    principal, tool = resolved
    if call.fault is not None:
        deny = Deny(Reason.CUT_OFF, f"not executed: {call.fault}", hint="make the call again, whole", rule="fault")
        return await refuse(world, _wish(world, call, site, started), deny)
    approved = site.approval
    read = tool.reader.read(call.arguments) if approved is None else tool.reader.read_json(approved.arguments)
    if isinstance(read, Deny):
        return await refuse(world, _wish(world, call, site, started), read)
    if world.hooks:
        read = await _hooked(world, site, tool, principal, read)
        if isinstance(read, Deny):
            return await refuse(world, _wish(world, call, site, started), read)
    ready = make_ready(world, call, site, tool, principal, read, started)
    try:
        return await _decide(world, ready)
    except StoreError as error:
        return await refuse(world, ready.attempt, failed("store", described(error)))


async def _resolve(world: World, call: ToolCall, site: CallSite) -> tuple[Principal, Tool] | Deny:
    """Return today's principal with the tool that is open to them, or the refusal."""
    try:
        principal = await world.directory.find(site.principal_id)
    except StoreError as error:
        return failed("directory", described(error))
    tool = world.toolset.find(call.name)
    if principal is None or tool is None or not is_open(tool.spec, principal, world.policy):
        return _unknown_tool(world, call, principal)
    return principal, tool


async def _hooked(
    world: World, site: CallSite, tool: Tool, principal: Principal, arguments: Arguments
) -> Arguments | Deny:
    """Return the arguments as the hooks leave them, validated anew when one has changed them."""
    for hooks in world.hooks:
        if hooks.before_tool is None:
            continue
        use = ToolUse(run_id=site.run_id, key=site.key, principal=principal, tool=tool.spec, arguments=arguments.json)
        try:
            changed = await settle(hooks.before_tool(use))
        except Exception as error:  # noqa: BLE001 - a hook that breaks must not open a way
            text = "a hook failed, so the call was refused"
            return Deny(Reason.CHECK_FAILED, text, rule="before_tool", detail=described(error))
        if changed is not None:
            read = tool.reader.read_json(changed)
            if isinstance(read, Deny):
                return read
            arguments = read
    return arguments


def _unknown_tool(world: World, call: ToolCall, principal: Principal | None) -> Deny:
    """Return the refusal, in the same words for a tool that does not exist and for one that is not open."""
    visible = world.visible(principal).specs if principal is not None else ()
    names = [spec.name for spec in visible]
    exists = world.toolset.find(call.name) is not None
    rule = "unknown principal" if principal is None else "hidden by role" if exists else "no such tool"
    return Deny(Reason.UNKNOWN_TOOL, unknown_tool_text(call.name, names), rule=rule)


def _wish(world: World, call: ToolCall, site: CallSite, started: float) -> Attempt:
    """Return the attempt of a call of which nothing but the wish is known.

    What a tool of that name keeps out of records is kept out, whether it is open to the principal or not.
    """
    record = proposed(site.run_id, site.key, site.principal_id, call, world.redactor(world.find_tool(call.name)))
    return Attempt(call=call, site=site, record=record, started=started)


def make_ready(
    world: World, call: ToolCall, site: CallSite, tool: Tool, principal: Principal, arguments: Arguments, started: float
) -> Ready:
    """Return a call whose tool is open and whose arguments are valid, with everything that it needs."""
    spec = tool.spec
    record = _new_record(
        site.run_id,
        site.key,
        site.principal_id,
        spec.name,
        world.redactor(tool).json_text(arguments.text),
        call.wire,
        _note(call, spec, arguments),
    )
    digest = ""
    if spec.records_intent or spec.approval is not None or site.rejected or site.approval is not None:
        digest = call_digest(world.keys.digest, spec.identity, arguments.json)
    context: Context[Any] = _new_context(
        deps=world.deps,
        principal=principal,
        language=site.language,
        run_id=site.run_id,
        call_key=site.key,
        idempotency_key=site.key,
        deadline=started + spec.timeout.total_seconds(),
        now=world.clock.now(),
        # A tool with an effect of its own is never entered twice, so it cannot nest what may wait.
        runtime=None if spec.has_effect else site.runtime,
        state=site.state,
        transaction=Transaction() if spec.survival is Survival.TRANSACTION else None,
    )
    attempt = _new_attempt(call=call, site=site, record=record, started=started, digest=digest)
    return _new_ready(attempt=attempt, tool=tool, arguments=arguments, context=context)


def _note(call: ToolCall, spec: ToolSpec, arguments: Arguments) -> str:
    if call.note is None and arguments.note is None and call.name == spec.name and spec.remote is None:
        return ""
    written = None if call.name == spec.name else f"written as {call.name[:100]!r}"
    remote = None if spec.remote is None else f"runs {spec.remote}"
    return "; ".join(note for note in (call.note, arguments.note, written, remote) if note)


async def _decide(world: World, ready: Ready) -> Prepared:
    attempt, tool, site = ready.attempt, ready.tool, ready.attempt.site
    if site.may_have_run and tool.spec.has_effect:
        known = await _known_effect(world, ready)
        if isinstance(known, Settled):
            return known
        ready = known
    elif site.may_have_run and site.approval is not None and site.approval.status is ApprovalStatus.USED:
        # A read that was begun before a crash: its yes was given to this very call, and it is run again.
        ready = replace(ready, attempt=replace(attempt, site=replace(site, again=True)))
    facts = await look_up_facts(world, ready)
    decision = facts if isinstance(facts, Deny) else world.gate.decide(facts)
    if ready.attempt.site.again and tool.spec.has_effect and not isinstance(decision, Allow):
        # It has begun, and perhaps has changed what the checks look at: nobody knows, and it is said so.
        return await refuse(world, attempt, _ledger_says(Reason.EFFECT_UNKNOWN), AuditKind.OUTCOME)
    if isinstance(facts, Deny):
        return await refuse(world, attempt, facts)
    match decision:
        case Deny():
            return await refuse(world, attempt, decision)
        case NeedsApproval():
            return await _ask(world, ready, decision, facts)
        case Allow():
            return _new_permitted(ready=ready, resource=facts.resource, rule=decision.rule, takes=tuple(facts.takes))
        case _:
            assert_never(decision)


async def _known_effect(world: World, ready: Ready) -> Settled | Ready:
    """Return the result of a call that was begun before, or the call when it may begin now or again."""
    attempt = ready.attempt
    known = await world.store.find_effect(attempt.site.key)
    if known is None:
        return ready
    if known.digest != attempt.digest:
        return await refuse(world, attempt, _ledger_says(Reason.KEY_CONFLICT))
    match known.state_at(world.clock.now()):
        case EffectState.DONE | EffectState.FAILED:
            return Settled(recorded_result(known, attempt.call.id), attempt.digest)
        case EffectState.UNKNOWN if ready.tool.spec.survival is not Survival.ONCE:
            return replace(ready, attempt=replace(attempt, site=replace(attempt.site, again=True)))
        case EffectState.RUNNING:
            return await refuse(world, attempt, _ledger_says(Reason.EFFECT_RUNNING))
        case _:
            return await refuse(world, attempt, _ledger_says(Reason.EFFECT_UNKNOWN), AuditKind.OUTCOME)


def recorded_result(effect: EffectRecord, call_id: str) -> ToolResult:
    """Return the result of an effect that has ended, as the ledger has it, for a call that repeats it."""
    if effect.result is not None:
        return replace(load_result(effect.result), call_id=call_id)
    failed = effect.state is EffectState.FAILED
    return ToolResult(call_id, purged_text(effect.state), is_error=failed, code=ToolError.code if failed else OK)


def _ledger_says(reason: Reason) -> Deny:
    return Deny(reason, refusal_text(reason), rule="ledger")


async def refuse(world: World, attempt: Attempt, deny: Deny, kind: AuditKind = AuditKind.CALL) -> Settled:
    """Record a refusal and return it as what the model is told."""
    call, site, record = attempt.call, attempt.site, attempt.record
    content = deny.message if deny.hint is None else f"{deny.message}. {deny.hint}"
    ms = (world.clock.monotonic() - attempt.started) * 1000
    detail = detail_of(world, attempt, deny.detail) if deny.detail else ""
    body = record.body(code=deny.reason.value, ms=ms, detail=detail)
    await world.record(record.entry(world.clock.now(), kind, told(deny), deny.rule, body))
    if site.emit is not None:  # the rule is for the audit log: it tells what is hidden from what does not exist
        site.emit(
            CallFinished(run_id=site.run_id, key=site.key, tool=record.tool, code=deny.reason, rule="", milliseconds=ms)
        )
    if site.span is not None:
        site.span.refuse(deny.reason, deny.rule)
    answer = refusal_sentence(deny.reason, site.language) if site.wants_answer else ""
    return Settled(ToolResult(call.id, content, is_error=True, code=deny.reason.value, answer=answer), attempt.digest)


async def _ask(world: World, ready: Ready, doubt: NeedsApproval, facts: GateRequest) -> Asked | Settled:
    """Return the question for a person, with the preview that the yes will be bound to."""
    attempt, site = ready.attempt, ready.attempt.site
    if site.approval is not None:
        void = Reason.APPROVAL_VOID.value
        body = attempt.record.body(code=void, ms=0, more=f',"approval":"{site.approval.id}"')
        entry = attempt.record.entry(facts.now, AuditKind.APPROVAL, void, doubt.rule, body)
        await world.store.void_approval(site.approval.id, entry)
        world.tell(entry)
    preview = facts.preview if site.approval is not None else await see_preview(world, ready, facts.resource)
    if isinstance(preview, Deny):
        return await refuse(world, attempt, preview)
    rule = doubt.approval
    token = world.ids.secret()
    asked = ApprovalRequest(
        id=world.ids.new("apr"),
        token_hash=token_hash(token),
        run_id=site.outermost,
        call_key=site.key,
        principal_id=site.principal_id,
        tool=ready.tool.spec.name,
        arguments=ready.arguments.json,
        digest=attempt.digest,
        schema_digest=ready.tool.spec.digest,
        policy_digest=facts.policy_digest,
        rule=doubt.rule,
        yes=rule.yes,
        approvers=rule.approvers,
        preview=preview,
        provenance={name: str(origin) for name, origin in facts.provenance.items()},
        created_at=facts.now,
        expires_at=facts.now + rule.ttl,
    )
    # Who confirms their own call is its approver, and sees what will run as it is.
    own = rule.yes is Yes.CONFIRM
    pending = PendingApproval(
        id=asked.id,
        token=token,
        yes=asked.yes,
        tool=asked.tool,
        arguments=asked.arguments if own else world.redacted(ready.tool, asked.arguments),
        approvers=asked.approvers,
        preview=preview if own else world.preview_for_others(ready.tool, asked),
        expires_at=asked.expires_at,
    )
    return Asked(asked, pending)
