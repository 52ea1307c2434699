"""Direct: a call that a program or a person makes, without a model.

It is a run whose one answer is given: so it waits for a person, survives a crash and is
recorded as any other, through the same gate.
"""

import hashlib
import hmac
from dataclasses import replace
from typing import Final

from placet.agent.snapshot import load_run
from placet.agent.transitions import answered
from placet.gate.policy import is_open
from placet.runtime.drive import DIRECT_NAME, Driver, unknown_principal
from placet.runtime.invoke import invoke
from placet.runtime.observations import refusal_text
from placet.runtime.site import CallSite, Emit
from placet.values.call import ToolCall, ToolResult, Wire
from placet.values.decision import Reason
from placet.values.json import JsonObject, canonical
from placet.values.limits import Budget
from placet.values.message import AssistantMessage, ToolMessage, Transcript
from placet.values.outcome import Refused, Waiting
from placet.values.run import Run, Usage

_BUDGET: Final = Budget(turns=2, calls=2)
"""Room for the one call that is given; nobody is asked for another."""


async def call_directly(
    driver: Driver,
    tool: str,
    arguments: JsonObject,
    principal_id: str,
    *,
    key: str | None = None,
    language: str = "en",
    emit: Emit | None = None,
) -> ToolResult | Waiting | Refused:
    """Return what comes of a call that a program or a person makes.

    A door without turns asks its client for an idempotency key on calls that change
    something or wait for a person: the same key with the same arguments gives the
    recorded result, and nothing runs twice.

    Args:
        driver: Drives the run of the call.
        tool: The tool's name.
        arguments: Its arguments.
        principal_id: On whose behalf.
        key: The client's key, scoped to principal and tool.
        language: Of the person.
        emit: Who watches.

    Raises:
        StoreError: The store or the directory cannot be read.
    """
    world = driver.world
    principal = await world.directory.find(principal_id)
    if principal is None:
        return unknown_principal(principal_id)
    try:
        call = ToolCall("call_0", tool, canonical(arguments), wire=Wire.DIRECT)
    except (TypeError, ValueError, RecursionError) as error:
        return Refused(reason=Reason.INVALID_ARGUMENTS, message=f"the arguments are not JSON: {error}")
    found = world.toolset.find(tool)
    # A tool that is hidden is answered for as one that does not exist: it asks for no key either.
    if found is not None and not is_open(found.spec, principal, world.policy):
        found = None
    if not key and (found is None or not (found.spec.has_effect or found.spec.approval)):
        key_once = world.ids.new("call")
        span = world.telemetry.begin_call(found.spec if found is not None else None, call.id)
        site = CallSite(run_id="", key=key_once, principal_id=principal_id, language=language, emit=emit, span=span)
        result = await invoke(world, call, site)
        return result if isinstance(result, ToolResult) else _needs_key()
    return await _call_with_key(driver, call, principal_id, key, language, emit) if key else _needs_key()


async def _call_with_key(
    driver: Driver, call: ToolCall, principal_id: str, key: str, language: str, emit: Emit | None
) -> ToolResult | Waiting | Refused:
    world = driver.world
    tool = world.toolset.find(call.name)
    scoped = canonical([principal_id, tool.spec.identity if tool is not None else call.name, key]).encode()
    run_id = f"call_{hmac.digest(world.keys.digest, scoped, hashlib.sha256).hex()[:40]}"
    if await world.store.load_run(run_id) is not None:
        return await _repeat(driver, run_id, call, emit)
    empty = Run(
        id=run_id,
        agent=DIRECT_NAME,
        principal_id=principal_id,
        language=language,
        budget=_BUDGET,
        transcript=Transcript(),
        started_at=world.clock.now(),
    )
    run = answered(empty, AssistantMessage(calls=(call,)), Usage())
    # Many may come with one key at once, in this process too: each is a worker of its own, and one owns the run.
    alone = replace(driver, worker=world.ids.new("worker"))
    outcome = await alone.segment(run, alone.open(run), emit).work()
    if isinstance(outcome, Refused) and outcome.reason is Reason.LEASE_LOST:
        return await _repeat(driver, run_id, call, emit)
    if isinstance(outcome, Waiting | Refused):
        return outcome
    return _result_in(outcome.history) or _unknown(run_id)


async def _repeat(driver: Driver, run_id: str, call: ToolCall, emit: Emit | None) -> ToolResult | Waiting | Refused:
    """Return what is known of a call whose key was used before, carrying it on when nobody does."""
    stored = await driver.world.store.load_run(run_id)
    if stored is None:
        return _unknown(run_id)
    run = load_run(stored.snapshot, stored.journal)
    asked = run.transcript[0]
    if not isinstance(asked, AssistantMessage) or asked.calls[0].arguments != call.arguments:
        return Refused(reason=Reason.KEY_CONFLICT, message=refusal_text(Reason.KEY_CONFLICT), run_id=run_id)
    known = _result_in(run.transcript)
    if known is not None:
        return known
    outcome = await driver.resume(run_id, emit=emit)
    if isinstance(outcome, Refused) and outcome.reason is Reason.APPROVAL_USED:  # it has ended meanwhile
        return await _recorded(driver, run_id) or outcome
    if isinstance(outcome, Waiting | Refused):
        return outcome
    return _result_in(outcome.history) or _unknown(run_id)


async def _recorded(driver: Driver, run_id: str) -> ToolResult | None:
    """Return the result of a call whose run has ended."""
    stored = await driver.world.store.load_run(run_id)
    return None if stored is None else _result_in(load_run(stored.snapshot, stored.journal).transcript)


def _result_in(transcript: Transcript) -> ToolResult | None:
    for message in transcript:
        if isinstance(message, ToolMessage):
            return message.results[0]
    return None


def _needs_key() -> Refused:
    return Refused(reason=Reason.KEY_REQUIRED, message=refusal_text(Reason.KEY_REQUIRED))


def _unknown(run_id: str) -> Refused:
    return Refused(reason=Reason.EFFECT_UNKNOWN, message=refusal_text(Reason.EFFECT_UNKNOWN), run_id=run_id)
