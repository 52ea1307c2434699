"""Carry out: take what a permitted call needs, record its intent, execute it, record how it ended."""

import asyncio
from collections.abc import Coroutine
from datetime import timedelta
from functools import partial
from typing import Any, Final, assert_never

from placet.errors import StoreError, ToolError
from placet.gate.rate_limit import limit_reached
from placet.runtime.attempt import Ready
from placet.runtime.conclude import conclude, make_entry, record_late
from placet.runtime.execute import Ending, Leave, Left, Raised, Returned, run_read, run_sync, run_write
from placet.runtime.facts import version_of
from placet.runtime.isolated import IsolatedCall
from placet.runtime.look_up import look_up
from placet.runtime.observations import refusal_text
from placet.runtime.patience import see_through
from placet.runtime.prepare import Permitted, recorded_result, refuse
from placet.runtime.record import json_text
from placet.runtime.sentences import progress_sentence
from placet.runtime.telemetry import CallSpan
from placet.runtime.world import World
from placet.values.audit import AuditKind
from placet.values.call import ToolResult
from placet.values.construction import maker
from placet.values.decision import Deny, Reason
from placet.values.effect import AlreadyDone, Claim, ClaimAnswer, Claimed, ClaimRefused, EffectRecord, EffectState
from placet.values.event import CallStarted
from placet.values.tool import Survival

_new_claim: Final = maker(Claim)
_new_effect: Final = maker(EffectRecord)

SETTLING: Final = timedelta(seconds=10)
"""How long after its timeout an effect still counts as running rather than unknown."""


def carry_out(world: World, permitted: Permitted) -> Coroutine[Any, Any, ToolResult | Left]:
    """Take what the call needs, record its intent, execute it, and record how it ended.

    Returns:
        What the model is told; its record is committed. Or that the tool was left, because a
        run nested in it waits for a person.

    Raises:
        asyncio.CancelledError: The caller was cancelled while a read was running.
    """
    span = permitted.ready.attempt.site.span
    return _carry_out(world, permitted) if span is None else _carry_out_traced(world, permitted, span)


async def _carry_out_traced(world: World, permitted: Permitted, span: CallSpan) -> ToolResult | Left:
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
        if isinstance(answer, Raised):
            return await conclude(world, permitted, answer)
        if not isinstance(answer, Claimed):
            return await _lost(world, permitted, answer)
    if attempt.site.emit is not None:
        _announce(permitted)
    try:
        ending = await _execute(world, permitted)
    except asyncio.CancelledError:
        cancelled = make_entry(world, permitted, Reason.CANCELLED.value, Reason.CANCELLED)
        world.store.queue(cancelled)
        world.tell(cancelled)
        raise
    if isinstance(ending, Left):
        await world.record(make_entry(world, permitted, "waiting", "waiting"))
        return ending
    return await conclude(world, permitted, ending)


# ── commit ────────────────────────────────────────────────────────────────────────────


async def _commit(world: World, permitted: Permitted) -> ClaimAnswer | Raised:
    """Take all that the call needs in one atomic step of the store, its intent recorded with it.

    Returns:
        What the store says; or, when all was taken, why the call comes to nothing all the same.
    """
    ready, attempt, now = permitted.ready, permitted.ready.attempt, world.clock.now()
    spec, again = ready.tool.spec, attempt.site.again
    approval = None if again else attempt.site.approval
    intent = effect = None
    if spec.records_intent:
        more = f',"approval":"{approval.id}","approved_by":{json_text(approval.decided_by)}' if approval else ""
        body = attempt.record.body(code="intent", ms=0, more=more)
        intent = attempt.record.entry(now, AuditKind.INTENT, "allow", permitted.rule, body)
    if spec.has_effect:
        effect = _new_effect(
            key=attempt.site.key,
            principal_id=attempt.site.principal_id,
            tool=spec.name,
            digest=attempt.digest,
            run_id=attempt.site.outermost,
            state=EffectState.RUNNING,
            deadline=now + spec.timeout + SETTLING,
            approval_id=approval.id if approval else None,
        )
    claim = _new_claim(
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
        changed = await _changed_meanwhile(world, ready) if ready.tool.version is not None else None
        if changed is not None:
            return Raised(changed)
        if world.clock.now() >= now + spec.timeout + SETTLING:
            # This worker was held up meanwhile, and others may have given the call up or made it again.
            return ClaimRefused(Reason.LEASE_LOST, "held up between the claim and the execution")
    return answer


async def _changed_meanwhile(world: World, ready: Ready) -> ToolError | None:
    """Return what is said of a resource that is another one by now than the one that was authorised, or None.

    From here on others who change it through this gate are held back by nothing but the tool's own
    condition on `context.version`. A call that begins again after a crash is not looked at: it may
    have done what it was to do, and nobody must be told that nothing was done.
    """
    tool, context = ready.tool, ready.context
    if tool.load is None or tool.version is None or ready.attempt.site.again:
        return None
    loaded = await see_through(look_up(world, tool, tool.load, ready.arguments.value, context))
    resource = loaded.value if isinstance(loaded, Returned) else None
    if resource is not None and version_of(tool.version, resource) == context.version:
        return None
    return ToolError("what this call rests on has changed meanwhile, and nothing was done", hint="look at it again")


async def _lost(world: World, permitted: Permitted, answer: AlreadyDone | ClaimRefused) -> ToolResult:
    """Return what the model is told when the call did not get what it needs, or was done before."""
    attempt = permitted.ready.attempt
    match answer:
        case AlreadyDone(effect=done):
            return recorded_result(done, attempt.call.id)
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
    make = partial(tool.execute, value, resource, context)
    late = partial(record_late, world, permitted)
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
    if nested.started:
        await nested.settle()
    # Code that has swallowed the leaving has gone on without its nested run: its end counts for nothing.
    return Left(nested.waiting) if nested.waiting else ending
