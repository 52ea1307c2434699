"""Carry out: take what a permitted call needs, record its intent, execute it, record how it ended."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final, assert_never

from placet.agent.snapshot import dump_result, load_result
from placet.errors import StoreError, ToolError
from placet.gate.rate_limit import limit_reached
from placet.runtime.execute import (
    Ending,
    Raised,
    Returned,
    TimedOut,
    ends_the_run,
    run_read,
    run_sync,
    run_write,
    says_nothing_was_done,
)
from placet.runtime.observations import refusal_text
from placet.runtime.patience import see_through
from placet.runtime.prepare import Permitted, refuse
from placet.runtime.record import json_text
from placet.runtime.sentences import answer_sentence, progress_sentence, refusal_sentence
from placet.runtime.world import World
from placet.values.audit import AuditEntry, AuditKind
from placet.values.call import ToolResult
from placet.values.decision import Deny, Reason
from placet.values.effect import AlreadyDone, Claim, Claimed, ClaimRefused, EffectRecord, EffectState
from placet.values.event import CallFinished, CallStarted
from placet.values.tool import Survival

FATAL: Final = "fatal"
"""Code of a result whose tool has ended the run. The model never reads it."""

SETTLING: Final = timedelta(seconds=10)
"""How long after its timeout an effect still counts as running rather than unknown."""


async def carry_out(world: World, permitted: Permitted) -> ToolResult:
    """Take what the call needs, record its intent, execute it, and record how it ended.

    Returns:
        What the model is told; its record is committed.
    """
    spec = permitted.tool.spec
    if spec.records_intent or permitted.takes or permitted.site.approval is not None:
        refused = await _commit(world, permitted)
        if refused is not None:
            return refused
    site = permitted.site
    if site.emit is not None:
        site.emit(
            CallStarted(
                run_id=site.run_id,
                key=site.key,
                tool=spec.name,
                arguments=permitted.record.arguments,
                sentence=progress_sentence(spec, permitted.record.arguments, site.language),
                rule=permitted.rule,
            )
        )
    try:
        ending = await _execute(world, permitted)
    except asyncio.CancelledError:
        body = permitted.record.body(code=Reason.CANCELLED.value, ms=_milliseconds(world, permitted))
        kind = AuditKind.OUTCOME if spec.records_intent else AuditKind.CALL
        world.store.queue(permitted.record.entry(world.clock.now(), kind, Reason.CANCELLED.value, permitted.rule, body))
        raise
    result, detail = _shape(world, permitted, ending)
    return await _conclude(world, permitted, ending, result, detail)


async def _commit(world: World, permitted: Permitted) -> ToolResult | None:
    """Take all that the call needs in one step of the store; return what the model is told when it is lost."""
    spec, site, now = permitted.tool.spec, permitted.site, world.clock.now()
    approval = site.approval
    intent = effect = None
    if spec.records_intent:
        more = f',"approval":"{approval.id}","approved_by":{json_text(approval.decided_by)}' if approval else ""
        body = permitted.record.body(code="intent", ms=0, more=more)
        intent = permitted.record.entry(now, AuditKind.INTENT, "allow", permitted.rule, body)
    if spec.has_effect:
        effect = EffectRecord(
            key=site.key,
            principal_id=site.principal_id,
            tool=spec.name,
            digest=permitted.digest,
            run_id=site.run_id,
            state=EffectState.RUNNING,
            deadline=now + spec.timeout + SETTLING,
            approval_id=approval.id if approval else None,
        )
    claim = Claim(
        at=now,
        takes=permitted.takes,
        approval_id=approval.id if approval else None,
        approval_digest=permitted.digest if approval else None,
        effect=effect,
        may_repeat=spec.survival is not Survival.ONCE,
        lease=site.lease,
        intent=intent,
    )
    try:
        answer = await (see_through(world.store.claim(claim)) if intent else world.store.claim(claim))
    except StoreError as error:
        answer = ClaimRefused(Reason.UNRECORDED, repr(error))
    match answer:
        case Claimed():
            if intent is not None and world.sinks:
                world.tell(intent)
            return None
        case AlreadyDone(effect=done) if done.result is not None:
            return replace(load_result(done.result), call_id=permitted.call.id)
        case AlreadyDone():
            deny = Deny(Reason.EFFECT_UNKNOWN, refusal_text(Reason.EFFECT_UNKNOWN), rule="ledger")
        case ClaimRefused(reason=Reason.LIMIT_REACHED, message=rule):
            deny = limit_reached(rule)
        case ClaimRefused(reason=reason, message=message):
            deny = Deny(reason, refusal_text(reason), rule="commit", detail=message or None)
        case _:
            assert_never(answer)
    settled = await refuse(world, permitted.call, site, deny, permitted.record, permitted.started, permitted.digest)
    return settled.result


async def _execute(world: World, permitted: Permitted) -> Ending:
    tool, seconds = permitted.tool, permitted.tool.spec.timeout.total_seconds()
    execute, value, resource, context = tool.execute, permitted.arguments.value, permitted.resource, permitted.context
    effect = tool.spec.has_effect

    def make() -> Any:
        return execute(value, resource, context)

    def late(ending: Ending) -> None:
        _record_late(world, permitted, ending)

    if not tool.is_async:
        return await run_sync(make, seconds, world.threads, late, finish=effect)
    if effect:
        return await run_write(make, seconds, late)
    return await run_read(make, seconds)


def _shape(world: World, permitted: Permitted, ending: Ending) -> tuple[ToolResult, str]:
    """Return what the model is told of an ending, and what only the audit log is told."""
    tool, call, site = permitted.tool, permitted.call, permitted.site
    match ending:
        case Returned(value=value):
            shaped = tool.output.shape(value)
            answer = ""
            if site.wants_answer:
                answer = shaped.content if shaped.is_error else answer_sentence(tool.spec, shaped, site.language)
            return ToolResult(
                call.id, shaped.content, shaped.is_error, shaped.code, world.ids.mark(), shaped.cut_from, answer
            ), shaped.detail or ""
        case Raised(error=ToolError() as error):
            content = error.message if error.hint is None else f"{error.message} ({error.hint})"
            answer = error.message if site.wants_answer else ""
            return ToolResult(call.id, content or "(no text)", is_error=True, code="tool_error", answer=answer), ""
        case Raised(error=error):
            code = FATAL if ends_the_run(ending) else "internal_error"
            reference = world.ids.new("err")
            doubt = " It is not known whether it had an effect; do not repeat it." if tool.spec.has_effect else ""
            content = f"the tool failed (reference {reference}).{doubt} Go on without it, or tell the person."
            detail = f"{reference}: {type(error).__name__}: {error}"
        case TimedOut():
            code = "timeout"
            content = _timeout_text(permitted, ending)
            detail = ""
        case _:
            assert_never(ending)
    answer = refusal_sentence(Reason.CHECK_FAILED, site.language) if site.wants_answer else ""
    return ToolResult(call.id, content, is_error=True, code=code, answer=answer), detail


def _timeout_text(permitted: Permitted, ending: TimedOut) -> str:
    seconds = permitted.tool.spec.timeout.total_seconds()
    if not ending.started:
        return f"every place to run was taken for {seconds:g} s, so this call did not run; try again later"
    running = " (may_still_be_running: true)" if ending.may_still_be_running else ""
    doubt = " It is not known whether it had an effect; do not repeat it." if permitted.tool.spec.has_effect else ""
    return f"the tool took longer than {seconds:g} s and was given up{running}.{doubt}"


async def _conclude(world: World, permitted: Permitted, ending: Ending, result: ToolResult, detail: str) -> ToolResult:
    """Record how the call ended and return its result, or say that it could not be recorded."""
    spec, site = permitted.tool.spec, permitted.site
    redactor = world.redactor(permitted.tool)
    ms = _milliseconds(world, permitted)
    body = permitted.record.body(
        code=result.code,
        ms=ms,
        result=redactor.text(result.content[:4000]),
        detail=redactor.text(detail) if detail else "",
    )
    kind = AuditKind.OUTCOME if spec.records_intent else AuditKind.CALL
    state = _state_of(ending) if spec.has_effect else None
    told_as = "allow" if state is None or state is EffectState.DONE else state.value
    entry = permitted.record.entry(world.clock.now(), kind, told_as, permitted.rule, body)
    if state is not None:
        try:
            await see_through(world.store.settle(site.key, state, dump_result(result), entry))
            if world.sinks:
                world.tell(entry)
        except StoreError:
            # The effect has happened and must not happen again: the result is kept, the
            # ledger still says running, and past its deadline it will say unknown.
            world.lose(entry)
    elif not await world.record(entry) and not world.release_unrecorded_reads:
        text = "the result could not be recorded, so it is withheld; tell the person to try later"
        result = ToolResult(permitted.call.id, text, is_error=True, code=Reason.UNRECORDED.value)
    if site.emit is not None:
        site.emit(
            CallFinished(
                run_id=site.run_id, key=site.key, tool=spec.name, code=result.code, rule=permitted.rule, milliseconds=ms
            )
        )
    return result


def _state_of(ending: Ending) -> EffectState:
    """Return what is known of an effect: certain only when the tool came to its end or said so itself."""
    if isinstance(ending, Returned):
        return EffectState.DONE
    return EffectState.FAILED if says_nothing_was_done(ending) else EffectState.UNKNOWN


def _record_late(world: World, permitted: Permitted, ending: Ending) -> None:
    """Record an ending that came after the caller was answered. It changes no answer."""
    result, detail = _shape(world, permitted, ending)
    redactor = world.redactor(permitted.tool)
    body = permitted.record.body(
        code=result.code,
        ms=_milliseconds(world, permitted),
        result=redactor.text(result.content[:4000]),
        detail=redactor.text(detail) if detail else "",
        more=',"late":true',
    )
    entry = permitted.record.entry(world.clock.now(), AuditKind.OUTCOME, "late", permitted.rule, body)
    world.spawn(_settle_late(world, permitted, ending, result, entry))


async def _settle_late(
    world: World, permitted: Permitted, ending: Ending, result: ToolResult, entry: AuditEntry
) -> None:
    if permitted.tool.spec.has_effect:
        try:
            await world.store.settle(permitted.site.key, _state_of(ending), dump_result(result), entry)
        except StoreError:
            world.lose(entry)
    else:
        await world.record(entry)


def _milliseconds(world: World, permitted: Permitted) -> float:
    return (world.clock.monotonic() - permitted.started) * 1000
