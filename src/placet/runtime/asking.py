"""Asking: one question to a model, watched, timed, and told in the audit log by its shape alone."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Final, assert_never

from placet.agent.definition import AgentDefinition
from placet.errors import ModelError
from placet.ports import Finish, ModelAnswer, ModelClient, ModelRequest, OnText
from placet.runtime.execute import Raised, Returned, TimedOut, run_read
from placet.runtime.hooks import tell_after
from placet.runtime.pricing import charged
from placet.runtime.record import json_text, quote
from placet.runtime.redacted import answer_of
from placet.runtime.telemetry import RunSpan
from placet.runtime.world import World
from placet.values.audit import AuditEntry, AuditKind
from placet.values.construction import dataclass, maker
from placet.values.run import Run, StopReason, Usage

_new_request: Final = maker(ModelRequest)

_BROKEN: Final = {
    Finish.LENGTH: "the answer was cut off at the token limit, so this call may be incomplete and was not run",
    Finish.FILTER: "the answer was cut off by the provider's filter, so this call may be incomplete and was not run",
    Finish.REFUSAL: "the answer says that the model declined, so this call cannot be meant and was not run",
}
"""Why no call of an answer that ended so is run, whether its client says so or not."""


@dataclass(frozen=True, slots=True)
class Unanswered:
    """The model could not be asked, or gave nothing that can be used.

    Attributes:
        reason: Why the run ends.
        entry: What the audit log is told, redacted, or None.
    """

    reason: StopReason
    entry: AuditEntry | None = None


@dataclass(slots=True)
class Answered:
    """One answer of a model, and how long it took.

    Attributes:
        turn: Which answer of the run it is, from 1.
        ms: From the question to the answer.
        answer: What the model said.
    """

    turn: int
    ms: float
    answer: ModelAnswer

    def shape(self) -> str:
        """Return what the audit log keeps of it, as JSON text: how long, how much, and no word of it."""
        answer, usage = self.answer, self.answer.usage
        parts = [f'{{"turn":{self.turn},"ms":{self.ms:.2f},"finish":"{answer.finish}"']
        if answer.calls:
            parts.append(f',"calls":{len(answer.calls)}')
        if answer.model:
            parts.append(f',"model":{quote(answer.model)}')
        if usage.input_tokens or usage.output_tokens:
            parts.append(f',"input_tokens":{usage.input_tokens},"output_tokens":{usage.output_tokens}')
        if usage.cached_tokens or usage.written_tokens:
            parts.append(f',"cached_tokens":{usage.cached_tokens},"written_tokens":{usage.written_tokens}')
        if usage.reasoning_tokens:
            parts.append(f',"reasoning_tokens":{usage.reasoning_tokens}')
        parts.append(_money_of(usage))
        return "".join([*parts, "}"])


async def ask_model(
    world: World,
    agent: AgentDefinition,
    model: ModelClient,
    run: Run,
    *,
    left: float,
    on_text: OnText | None,
    span: RunSpan | None,
) -> Answered | Unanswered:
    """Return what a model says next in a run.

    Args:
        world: What the run needs from outside.
        agent: Whose prompt is told.
        model: Who is asked.
        run: The run so far.
        left: Seconds that the run has left.
        on_text: Told each piece of text.
        span: The span of the run, or None where nothing is traced.

    Raises:
        StoreError: The directory cannot be read.
    """
    if left <= 0:
        return Unanswered(StopReason.SECONDS)
    principal = await world.directory.find(run.principal_id)
    if principal is None:
        return Unanswered(StopReason.REFUSAL)
    timeout = min(agent.model_timeout.total_seconds(), left)
    request = _new_request(
        system=agent.prompt,
        transcript=run.transcript,
        tools=world.visible(principal),
        language=run.language,
        timeout=timedelta(seconds=timeout),
        settings=agent.settings,
        output_schema=run.output_schema,
    )
    began = world.clock.monotonic()
    if world.hooks or span is not None:
        ending = await run_read(partial(_watched, world, model, run, request, on_text, span), timeout)
    else:
        ending = await run_read(partial(model.answer, request, on_text), timeout)
    match ending:
        case Returned(value=value):
            answer = charged(world, model, _doubted(value))
        case Raised(error=ModelError() as error):
            return Unanswered(StopReason.MODEL, _failed(world, run, error))
        case TimedOut() | Raised(error=TimeoutError()):
            error = ending.error if isinstance(ending, Raised) else TimeoutError(f"no answer within {timeout:g} s")
            late = left <= timeout
            return Unanswered(StopReason.SECONDS if late else StopReason.MODEL, _failed(world, run, error))
        case Raised(error=error):
            raise error
        case _:
            assert_never(ending)
    return Answered(run.turn + 1, (world.clock.monotonic() - began) * 1000, answer)


async def _watched(
    world: World, model: ModelClient, run: Run, request: ModelRequest, on_text: OnText | None, span: RunSpan | None
) -> ModelAnswer:
    """Return the model's answer, told to the hooks and written into a span."""
    if world.hooks:
        await _tell_before(world, run, request)
    if span is None:
        answer = await model.answer(request, on_text)
    else:
        answer = await _traced(model, request, on_text, span)
    if world.hooks:
        await _tell_after(world, run, charged(world, model, _doubted(answer)))
    return answer


async def _traced(model: ModelClient, request: ModelRequest, on_text: OnText | None, span: RunSpan) -> ModelAnswer:
    chat = span.begin_chat(model.name, structured=request.output_schema is not None)
    with chat.current():
        answer = await model.answer(request, on_text)
        chat.answer(answer)
    return answer


def _doubted(answer: ModelAnswer) -> ModelAnswer:
    """Return an answer in which no call can be known that a cut or a refusal has left behind."""
    fault = _BROKEN.get(Finish.REFUSAL if answer.refusal else answer.finish)
    if fault is None or not answer.calls:
        return answer
    return replace(answer, calls=tuple(replace(call, fault=call.fault or fault) for call in answer.calls))


async def _tell_before(world: World, run: Run, request: ModelRequest) -> None:
    for hook in world.hooks:
        if hook.before_model is not None:
            await tell_after(hook.before_model, run.id, request)


async def _tell_after(world: World, run: Run, answer: ModelAnswer) -> None:
    for hook in world.hooks:
        if hook.after_model is not None:
            await tell_after(hook.after_model, run.id, answer)


# ── records ───────────────────────────────────────────────────────────────────────────


def _failed(world: World, run: Run, error: BaseException) -> AuditEntry:
    detail = world.redactor(None).text(f"{type(error).__name__}: {error}")[:2000]
    return _entry(world, run, AuditKind.ANSWER, "model failed", json_text({"detail": detail}))


def turns_entry(world: World, run: Run, asked: Sequence[Answered]) -> AuditEntry:
    """Return the record of the answers of a segment that ends in a wait; an ended run tells them with its end."""
    return _entry(world, run, AuditKind.TURN, "waiting", f'{{"asked":[{_shapes(asked)}]}}')


def end_entry(world: World, run: Run, word: str, asked: Sequence[Answered]) -> AuditEntry:
    """Return the record of how a run ended.

    Args:
        world: What the run needs from outside.
        run: The run as it ended.
        word: How, in one word.
        asked: The answers of its last segment.
    """
    text = quote(answer_of(world, run)[:2000])
    tokens = run.usage.input_tokens + run.usage.output_tokens
    more = f',"asked":[{_shapes(asked)}]' if asked else ""
    used = f'"turns":{run.turn},"calls":{run.calls},"tokens":{tokens}{_money_of(run.usage)}'
    body = f'{{"text":{text},{used}{more}}}'
    return _entry(world, run, AuditKind.ANSWER, word, body)


def _money_of(usage: Usage) -> str:
    """Return what the records tell of money: the cost, and how many answers nobody can count or price."""
    cost = f',"cost":"{usage.cost:f}"' if usage.cost else ""
    uncounted = f',"uncounted":{usage.uncounted}' if usage.uncounted else ""
    return f'{cost}{uncounted},"unpriced":{usage.unpriced}' if usage.unpriced else f"{cost}{uncounted}"


def _shapes(asked: Sequence[Answered]) -> str:
    return ",".join([one.shape() for one in asked])


def _entry(world: World, run: Run, kind: AuditKind, decision: str, body: str) -> AuditEntry:
    return AuditEntry(
        at=world.clock.now(),
        kind=kind,
        run_id=run.id,
        call_key=run.parent,
        principal_id=run.principal_id,
        decision=decision,
        body=body,
    )
