"""Conclude: record how a permitted call has ended, and return what the model is told."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, assert_never

from placet.agent.snapshot import dump_result
from placet.errors import StoreError
from placet.runtime.ending import Observed, observe, refused_by_the_store, state_of
from placet.runtime.execute import Ending
from placet.runtime.hooks import ToolUse, tell_after
from placet.runtime.observations import refusal_text
from placet.runtime.patience import see_through
from placet.runtime.prepare import Permitted, recorded_result
from placet.runtime.record import json_text
from placet.runtime.redacted import given_to
from placet.runtime.telemetry import TOOL_RESULT
from placet.runtime.world import World
from placet.values.audit import AuditEntry, AuditKind
from placet.values.call import ToolResult
from placet.values.decision import Reason
from placet.values.effect import AlreadyDone, CommitAnswer, Committed, EffectState, NotCommitted, Statement
from placet.values.event import CallFinished
from placet.values.tool import Survival


async def conclude(world: World, permitted: Permitted, ending: Ending) -> ToolResult:
    """Record how the call ended and return its result, or say that it could not be recorded."""
    spec, observed = permitted.ready.tool.spec, observe(world, permitted.ready, ending)
    if not spec.has_effect:
        result = await _record_read(world, permitted, observed)
    elif spec.survival is Survival.TRANSACTION:
        result, observed = await _commit(world, permitted, ending, observed)
    else:
        result = await _settle(world, permitted, state_of(permitted.ready, ending, observed), observed)
    if world.hooks:
        await _tell_hooks(world, permitted, result, observed.data)
    site = permitted.ready.attempt.site
    if site.emit is not None:
        site.emit(
            CallFinished(
                run_id=site.run_id,
                key=site.key,
                tool=spec.name,
                code=result.code,
                rule=permitted.rule,
                milliseconds=_milliseconds(world, permitted),
            )
        )
    return result


async def _record_read(world: World, permitted: Permitted, observed: Observed) -> ToolResult:
    entry = make_entry(world, permitted, "allow", observed.result.code, observed)
    if await world.record(entry) or world.release_unrecorded_reads:
        return observed.result
    text = "the result could not be recorded, so it is withheld; tell the person to try later"
    return ToolResult(observed.result.call_id, text, is_error=True, code=Reason.UNRECORDED.value)


async def _settle(world: World, permitted: Permitted, state: EffectState, observed: Observed) -> ToolResult:
    word = "allow" if state is EffectState.DONE else state.value
    entry = make_entry(world, permitted, word, observed.result.code, observed)
    await _store_end(world, permitted, state, observed, entry)
    return observed.result


async def _store_end(
    world: World, permitted: Permitted, state: EffectState, observed: Observed, entry: AuditEntry
) -> None:
    key = permitted.ready.attempt.site.key
    try:
        await see_through(world.store.settle(key, state, dump_result(observed.result), entry))
    except StoreError:
        # The effect has happened and must not happen again: the result is kept, the
        # ledger still says running, and past its deadline it will say unknown.
        world.lose(entry)
    else:
        world.tell(entry)


async def _commit(
    world: World, permitted: Permitted, ending: Ending, observed: Observed
) -> tuple[ToolResult, Observed]:
    """Carry out what the tool has added to the store's transaction, together with the ledger's word for it."""
    ready, transaction = permitted.ready, permitted.ready.context.transaction
    statements = transaction.close() if transaction is not None else ()
    state = state_of(ready, ending, observed)
    if state is not EffectState.DONE:
        return await _settle(world, permitted, state, observed), observed
    entry = make_entry(world, permitted, "allow", observed.result.code, observed)
    try:
        answer = await see_through(_commit_or_look(world, permitted, observed, statements, entry))
    except StoreError:
        # Nothing stands, or all of it: the ledger tells whoever comes to the call again.
        world.lose(entry)
        unknown = Reason.EFFECT_UNKNOWN
        result = ToolResult(observed.result.call_id, refusal_text(unknown), is_error=True, code=unknown.value)
        return result, replace(observed, data=None)
    match answer:
        case Committed():
            world.tell(entry)
            return observed.result, observed
        case AlreadyDone(effect=done):
            # Another worker has taken the call over and was first: what it has done is what was done.
            return recorded_result(done, ready.attempt.call.id), replace(observed, data=None)
        case NotCommitted():
            refused = refused_by_the_store(world, ready, answer)
            return await _settle(world, permitted, EffectState.FAILED, refused), refused
        case _:
            assert_never(answer)


async def _commit_or_look(
    world: World, permitted: Permitted, observed: Observed, statements: Sequence[Statement], entry: AuditEntry
) -> CommitAnswer:
    """Return what has become of the transaction. When its answer is lost, it is asked for once more: it counts once."""
    key, result = permitted.ready.attempt.site.key, dump_result(observed.result)
    try:
        return await world.store.commit_effect(key, result, statements, entry)
    except StoreError:
        return await world.store.commit_effect(key, result, statements, entry)


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


def record_late(world: World, permitted: Permitted, ending: Ending) -> None:
    """Record an ending that came after the caller was answered. It changes no answer."""
    observed = observe(world, permitted.ready, ending)
    entry = make_entry(world, permitted, "late", observed.result.code, observed, ',"late":true')
    spec = permitted.ready.tool.spec
    if not spec.has_effect:
        world.spawn(_record(world, entry))
        return
    # What came late was never committed.
    committed = spec.survival is not Survival.TRANSACTION
    state = state_of(permitted.ready, ending, observed) if committed else EffectState.FAILED
    world.spawn(_store_end(world, permitted, state, observed, entry))


async def _record(world: World, entry: AuditEntry) -> None:
    await world.record(entry)


def make_entry(
    world: World, permitted: Permitted, word: str, code: str, observed: Observed | None = None, more: str = ""
) -> AuditEntry:
    """Return what the audit log is told of a permitted call's end.

    Args:
        world: What the runtime needs from outside.
        permitted: The call.
        word: The decision's word: `"allow"`, or what has become of it.
        code: The code of its result.
        observed: How it ended, in words.
        more: Further members of the body, as JSON text that begins with a comma.
    """
    kind = AuditKind.OUTCOME if permitted.ready.tool.spec.records_intent else AuditKind.CALL
    body = _body(world, permitted, code, observed, more)
    return permitted.ready.attempt.record.entry(world.clock.now(), kind, word, permitted.rule, body)


def _body(world: World, permitted: Permitted, code: str, observed: Observed | None, more: str) -> str:
    redactor = world.redactor(permitted.ready.tool)
    result = detail = ""
    if observed is not None:
        result = (
            redactor.json_text(observed.result.content) if observed.is_json else redactor.text(observed.result.content)
        )
        if permitted.ready.attempt.site.span is not None:
            permitted.ready.attempt.site.span.show(TOOL_RESULT, result)
        if observed.detail:
            known = redactor.secrets_in(permitted.ready.arguments.json) | given_to(world, permitted.ready.tool)
            detail = redactor.text(observed.detail, known=known)
    nested = permitted.ready.context.runtime
    if nested is not None and nested.started:
        more = f'{more},"nested":{json_text(list(dict.fromkeys(nested.started)))}'
    ms = _milliseconds(world, permitted)
    return permitted.ready.attempt.record.body(code=code, ms=ms, result=result, detail=detail, more=more)


def _milliseconds(world: World, permitted: Permitted) -> float:
    return (world.clock.monotonic() - permitted.ready.attempt.started) * 1000
