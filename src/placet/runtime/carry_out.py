"""Carry out: take what a permitted call needs, record its intent, execute it, record how it ended."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final, assert_never

from placet.agent.snapshot import dump_result, load_result
from placet.errors import StoreError
from placet.gate.rate_limit import limit_reached
from placet.runtime.ending import Observed, observe, state_of
from placet.runtime.execute import Ending, Leave, Left, run_read, run_sync, run_write
from placet.runtime.hooks import ToolUse, tell_after
from placet.runtime.isolated import IsolatedCall
from placet.runtime.observations import refusal_text
from placet.runtime.patience import see_through
from placet.runtime.prepare import Permitted, refuse
from placet.runtime.record import json_text
from placet.runtime.sentences import progress_sentence
from placet.runtime.telemetry import TOOL_RESULT
from placet.runtime.world import World
from placet.values.audit import AuditEntry, AuditKind
from placet.values.call import ToolResult
from placet.values.decision import Deny, Reason
from placet.values.effect import AlreadyDone, Claim, ClaimAnswer, Claimed, ClaimRefused, EffectRecord, EffectState
from placet.values.event import CallFinished, CallStarted
from placet.values.tool import Survival

SETTLING: Final = timedelta(seconds=10)
"""How long after its timeout an effect still counts as running rather than unknown."""


async def carry_out(world: World, permitted: Permitted) -> ToolResult | Left:
    """Take what the call needs, record its intent, execute it, and record how it ended.

    Returns:
        What the model is told; its record is committed. Or that the tool was left, because a
        run nested in it waits for a person.

    Raises:
        asyncio.CancelledError: The caller was cancelled while a read was running.
    """
    span = permitted.ready.attempt.site.span
    if span is None:
        return await _carry_out(world, permitted)
    try:
        with span.current():
            ended = await _carry_out(world, permitted)
    except BaseException as error:
        span.fail(type(error).__name__)
        raise
    span.end(ended if isinstance(ended, ToolResult) else None)
    return ended


async def _carry_out(world: World, permitted: Permitted) -> ToolResult | Left:
    attempt, spec = permitted.ready.attempt, permitted.ready.tool.spec
    if not attempt.site.entered and (spec.records_intent or permitted.takes or attempt.site.approval is not None):
        answer = await _commit(world, permitted)
        if not isinstance(answer, Claimed):
            return await _lost(world, permitted, answer)
    if attempt.site.emit is not None:
        _announce(permitted)
    try:
        ending = await _execute(world, permitted)
    except asyncio.CancelledError:
        world.store.queue(_entry(world, permitted, Reason.CANCELLED.value, _body(world, permitted, Reason.CANCELLED)))
        raise
    if isinstance(ending, Left):
        await world.record(_entry(world, permitted, "waiting", _body(world, permitted, "waiting")))
        return ending
    return await _conclude(world, permitted, ending, observe(world, permitted.ready, ending))


# ── commit ────────────────────────────────────────────────────────────────────────────


async def _commit(world: World, permitted: Permitted) -> ClaimAnswer:
    """Take all that the call needs in one atomic step of the store, its intent recorded with it."""
    ready, attempt, now = permitted.ready, permitted.ready.attempt, world.clock.now()
    spec, again = ready.tool.spec, attempt.site.again
    approval = None if again else attempt.site.approval
    intent = effect = None
    if spec.records_intent:
        more = f',"approval":"{approval.id}","approved_by":{json_text(approval.decided_by)}' if approval else ""
        body = attempt.record.body(code="intent", ms=0, more=more)
        intent = attempt.record.entry(now, AuditKind.INTENT, "allow", permitted.rule, body)
    if spec.has_effect:
        effect = EffectRecord(
            key=attempt.site.key,
            principal_id=attempt.site.principal_id,
            tool=spec.name,
            digest=attempt.digest,
            run_id=attempt.site.outermost,
            state=EffectState.RUNNING,
            deadline=now + spec.timeout + SETTLING,
            approval_id=approval.id if approval else None,
        )
    claim = Claim(
        at=now,
        takes=() if again else permitted.takes,
        approval_id=approval.id if approval else None,
        approval_digest=attempt.digest if approval else None,
        effect=effect,
        may_repeat=spec.survival is not Survival.ONCE,
        lease=attempt.site.lease,
        intent=intent,
    )
    try:
        answer = await (see_through(world.store.claim(claim)) if intent else world.store.claim(claim))
    except StoreError as error:
        return ClaimRefused(Reason.UNRECORDED, repr(error))
    if intent is not None and isinstance(answer, Claimed):
        world.tell(intent)
    return answer


async def _lost(world: World, permitted: Permitted, answer: AlreadyDone | ClaimRefused) -> ToolResult:
    """Return what the model is told when the call did not get what it needs, or was done before."""
    attempt = permitted.ready.attempt
    match answer:
        case AlreadyDone(effect=done) if done.result is not None:
            return replace(load_result(done.result), call_id=attempt.call.id)
        case AlreadyDone():
            deny = Deny(Reason.EFFECT_UNKNOWN, refusal_text(Reason.EFFECT_UNKNOWN), rule="ledger")
        case ClaimRefused(reason=Reason.LIMIT_REACHED, message=rule):
            deny = limit_reached(rule)
        case ClaimRefused(reason=reason, message=message):
            deny = Deny(reason, refusal_text(reason), rule="commit", detail=message or None)
        case _:
            assert_never(answer)
    return (await refuse(world, attempt, deny)).result


# ── execute ───────────────────────────────────────────────────────────────────────────


def _announce(permitted: Permitted) -> None:
    attempt, spec = permitted.ready.attempt, permitted.ready.tool.spec
    if attempt.site.emit is not None:
        attempt.site.emit(
            CallStarted(
                run_id=attempt.site.run_id,
                key=attempt.site.key,
                tool=spec.name,
                arguments=attempt.record.arguments,
                sentence=progress_sentence(spec, attempt.record.arguments, attempt.site.language),
                rule=permitted.rule,
            )
        )


async def _execute(world: World, permitted: Permitted) -> Ending | Left:
    tool, resource = permitted.ready.tool, permitted.resource
    value, context = permitted.ready.arguments.value, permitted.ready.context
    seconds = tool.spec.timeout.total_seconds()
    execute = tool.execute

    def make() -> Any:
        return execute(value, resource, context)

    def late(ending: Ending) -> None:
        _record_late(world, permitted, ending)

    if tool.home:
        call = IsolatedCall(tool, permitted.ready.arguments, context)
        return await world.processes.run(call, world.threads, finish=tool.spec.has_effect)
    if not tool.is_async:
        return await run_sync(make, seconds, world.threads, late, finish=tool.spec.has_effect)
    if tool.spec.has_effect:
        return await run_write(make, seconds, late)
    nested = context.runtime
    if nested is None:
        return await run_read(make, seconds)
    try:
        ending = await run_read(make, seconds)
    except Leave:
        await nested.settle()
        return Left(nested.waiting)
    await nested.settle()
    # Code that has swallowed the leaving has gone on without its nested run: its end counts for nothing.
    return Left(nested.waiting) if nested.waiting else ending


# ── record the outcome ────────────────────────────────────────────────────────────────


async def _conclude(world: World, permitted: Permitted, ending: Ending, observed: Observed) -> ToolResult:
    """Record how the call ended and return its result, or say that it could not be recorded."""
    attempt, spec = permitted.ready.attempt, permitted.ready.tool.spec
    result = observed.result
    state = state_of(ending) if spec.has_effect else None
    word = "allow" if state is None or state is EffectState.DONE else state.value
    entry = _entry(world, permitted, word, _body(world, permitted, result.code, observed))
    if state is not None:
        await _settle(world, permitted, state, result, entry)
    elif not await world.record(entry) and not world.release_unrecorded_reads:
        text = "the result could not be recorded, so it is withheld; tell the person to try later"
        result = ToolResult(result.call_id, text, is_error=True, code=Reason.UNRECORDED.value)
    await _tell_hooks(world, permitted, result, observed.data)
    if attempt.site.emit is not None:
        attempt.site.emit(
            CallFinished(
                run_id=attempt.site.run_id,
                key=attempt.site.key,
                tool=spec.name,
                code=result.code,
                rule=permitted.rule,
                milliseconds=_milliseconds(world, permitted),
            )
        )
    return result


async def _tell_hooks(world: World, permitted: Permitted, result: ToolResult, data: Any) -> None:
    for hooks in world.hooks:
        if hooks.after_tool is not None:
            ready = permitted.ready
            use = ToolUse(
                run_id=ready.attempt.site.run_id,
                key=ready.attempt.site.key,
                principal=ready.context.principal,
                tool=ready.tool.spec,
                arguments=ready.arguments.json,
            )
            await tell_after(hooks.after_tool, use, result, data)


async def _settle(
    world: World, permitted: Permitted, state: EffectState, result: ToolResult, entry: AuditEntry
) -> None:
    try:
        await see_through(world.store.settle(permitted.ready.attempt.site.key, state, dump_result(result), entry))
    except StoreError:
        # The effect has happened and must not happen again: the result is kept, the
        # ledger still says running, and past its deadline it will say unknown.
        world.lose(entry)
    else:
        world.tell(entry)


def _record_late(world: World, permitted: Permitted, ending: Ending) -> None:
    """Record an ending that came after the caller was answered. It changes no answer."""
    observed = observe(world, permitted.ready, ending)
    entry = _entry(world, permitted, "late", _body(world, permitted, observed.result.code, observed, ',"late":true'))
    if permitted.ready.tool.spec.has_effect:
        world.spawn(_settle(world, permitted, state_of(ending), observed.result, entry))
    else:
        world.spawn(_record(world, entry))


async def _record(world: World, entry: AuditEntry) -> None:
    await world.record(entry)


def _entry(world: World, permitted: Permitted, word: str, body: str) -> AuditEntry:
    kind = AuditKind.OUTCOME if permitted.ready.tool.spec.records_intent else AuditKind.CALL
    return permitted.ready.attempt.record.entry(world.clock.now(), kind, word, permitted.rule, body)


def _body(world: World, permitted: Permitted, code: str, observed: Observed | None = None, more: str = "") -> str:
    redactor = world.redactor(permitted.ready.tool)
    result = detail = ""
    if observed is not None:
        result = (
            redactor.json_text(observed.result.content) if observed.is_json else redactor.text(observed.result.content)
        )
        if permitted.ready.attempt.site.span is not None:
            permitted.ready.attempt.site.span.show(TOOL_RESULT, result)
        if observed.detail:
            detail = redactor.text(observed.detail, known=redactor.secrets_in(permitted.ready.arguments.json))
    nested = permitted.ready.context.runtime
    if nested is not None and nested.started:
        more = f'{more},"nested":{json_text(list(dict.fromkeys(nested.started)))}'
    ms = _milliseconds(world, permitted)
    return permitted.ready.attempt.record.body(code=code, ms=ms, result=result, detail=detail, more=more)


def _milliseconds(world: World, permitted: Permitted) -> float:
    return (world.clock.monotonic() - permitted.ready.attempt.started) * 1000
