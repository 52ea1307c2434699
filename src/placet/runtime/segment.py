"""Segment: the part of a run between two waits for a person, driven by one worker under one lease.

What comes next is `next_action`'s to say; a segment only carries it out. When a person has
to decide, snapshot and approvals are stored together, the lease is given back, and nothing
stays alive: the next segment starts from the snapshot, in any process.
"""

import asyncio
import logging
from collections.abc import Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Final, assert_never

from placet.agent.definition import AgentDefinition
from placet.agent.next_action import next_action
from placet.agent.output import CUT_OUTPUT, Contract, complaint_of
from placet.agent.transitions import answered, awaiting, finished, invoked, left_inside, reasked, rejected, stopped
from placet.errors import LeaseLostError, StoreError
from placet.ports import Finish, ModelAnswer, ModelClient, OnText
from placet.runtime.asking import Answered, Unanswered, ask_model, end_entry, turns_entry
from placet.runtime.batch import invoke_batch
from placet.runtime.book import Book
from placet.runtime.kept_state import KeptState, state_of
from placet.runtime.nested import END, Nested, Nesting
from placet.runtime.observations import refusal_text
from placet.runtime.patience import was_interrupted
from placet.runtime.prepare import Asked
from placet.runtime.sentences import last_words, nothing_to_say
from placet.runtime.site import CallSite, Emit
from placet.runtime.telemetry import RunSpan
from placet.runtime.text_teller import TextTeller
from placet.runtime.waiting import take_decisions
from placet.runtime.world import World
from placet.values.approval import ApprovalRequest
from placet.values.construction import maker
from placet.values.decision import REASONS, Deny, Reason
from placet.values.event import CallWaiting, RunEnded
from placet.values.json import Json
from placet.values.limits import OUTPUT_REASKS
from placet.values.message import AssistantMessage, ToolMessage
from placet.values.outcome import Answer, Outcome, Refused, Stopped, Waiting
from placet.values.run import Action, AskModel, InvokeTools, PlannedCall, Run, RunStatus, Stop, StopReason, Wait

_LOG: Final = logging.getLogger("placet")

_new_site: Final = maker(CallSite)
_new_nesting: Final = maker(Nesting)
_new_answer: Final = maker(AssistantMessage)


@dataclass(slots=True, kw_only=True, eq=False)
class Segment:
    """One worker's work on one run.

    Attributes:
        world: What the run needs from outside.
        agent: Whose task it is.
        model: Who is asked; None where the one call is given and nobody is asked (a direct call, a workflow).
        book: Where it writes down.
        nested: The run, when it is nested in another; the outermost run is in the book.
        emit: Who watches, or None.
        taken_over: Whether it goes on from a snapshot, so that calls may have been begun before.
        approved: The approvals that calls carry, by the key of the call.
        contract: What the last word must be, or None for words.
        kept: The state of the workflow in which the run is nested, or None.
        span: The span of the segment, or None where nothing is traced.
        asked: The answers of the model in this segment.
    """

    world: World
    agent: AgentDefinition
    model: ModelClient | None
    book: Book
    nested: Run | None = None
    emit: Emit | None = None
    taken_over: bool = False
    approved: dict[str, ApprovalRequest] = field(default_factory=dict[str, ApprovalRequest])
    contract: Contract | None = None
    kept: KeptState | None = None
    span: RunSpan | None = None
    asked: list[Answered] = field(default_factory=list[Answered])
    _began: float = 0.0

    @property
    def run(self) -> Run:
        """The run as it is now."""
        return self.book.outermost if self.nested is None else self.nested

    @run.setter
    def run(self, run: Run) -> None:
        if self.nested is None:
            self.book.outermost = run
        else:
            self.nested = run
            self.book.heard[run.id] = run.transcript

    async def work(self) -> Outcome:
        """Carry out what comes next until the segment ends; return what came of it.

        Raises:
            asyncio.CancelledError: The caller was cancelled; the run is closed as cancelled.
        """
        model = self.model.name if self.model is not None else None
        span = self.world.telemetry.begin_run(self.run.agent, self.run.id, self.book.outermost.id, model)
        if span is None:
            return await self._see_through()
        before = self.run.usage
        with span.current():
            self.span = span
            outcome = await self._see_through()
            span.tell(outcome, before, self.run.usage)
        return outcome

    async def _see_through(self) -> Outcome:
        self._began = self.world.clock.monotonic()
        if self.nested is None:
            self.book.began = self._began
            self.book.keep_lease()
        try:
            outcome = await self._work()
        except asyncio.CancelledError:
            await self._close_if_ours(StopReason.CANCELLED)
            raise
        except LeaseLostError:
            outcome = Refused(reason=Reason.LEASE_LOST, message=refusal_text(Reason.LEASE_LOST), run_id=self.run.id)
        except StoreError:
            raise
        except Exception:
            # Somebody's own code, a model client's mostly. It is theirs to mend, and no run is left half open for it.
            await self._close_if_ours(StopReason.MODEL)
            raise
        finally:
            if self.nested is None:
                self.book.let_go()
        if self.emit is not None:
            self.emit(RunEnded(self.run.id, outcome))
        return outcome

    async def _close_if_ours(self, reason: StopReason) -> None:
        with suppress(LeaseLostError):  # who has taken the run over says how it ends
            await self._close(reason)

    async def _work(self) -> Outcome:
        if self.taken_over:
            await self._take_decisions()
        while True:
            outcome = await self._carry_out(next_action(self.run))
            if outcome is not None:
                return outcome

    async def _carry_out(self, action: Action) -> Outcome | None:
        """Carry out one action; return what came of the segment when it has ended with it."""
        match action:
            case InvokeTools(calls=calls):
                fatal = await self._invoke(calls)
                return await self._close(StopReason.FATAL) if fatal else None
            case Wait():
                return await self._suspend(action)
            case AskModel() | Stop():
                return await self._speak(action)
            case _:
                assert_never(action)

    def _speak(self, action: AskModel | Stop) -> Coroutine[Any, Any, Outcome | None]:
        """Ask the model, or end the run with its last word; without a model, what was given is all there is."""
        if self.model is None:
            return self._conclude_given()
        if isinstance(action, AskModel):
            return self._ask(self.model)
        return self._conclude() if action.reason is None else self._close(action.reason)

    # ── tools ─────────────────────────────────────────────────────────────────────────

    def _site(self, planned: PlannedCall) -> CallSite:
        run = self.run
        key = run.key(planned.index)
        span = None
        if self.span is not None:
            tool = self.world.toolset.find(planned.call.name)
            span = self.span.begin_call(tool.spec if tool is not None else None, planned.call.id)
        return _new_site(
            run_id=run.id,
            key=key,
            principal_id=run.principal_id,
            language=run.language,
            lease=self.book.lease,
            approval=self.approved.get(key),
            rejected=run.rejected | self.book.outermost.rejected if self.nested is not None else run.rejected,
            may_have_run=self.taken_over,
            wants_answer=self.model is not None and not self.model.writes_prose,
            emit=self.emit,
            state=self.kept.value if self.kept is not None else None,
            conversation=() if self.model is None else self.book.conversations(),  # a direct call stands in none
            runtime=self._nesting(run, key),
            entered=planned.entered,
            span=span,
        )

    def _nesting(self, run: Run, key: str) -> Nesting:
        return _new_nesting(
            world=self.world,
            book=self.book,
            run_id=run.id,
            key=key,
            principal_id=run.principal_id,
            language=run.language,
            work_on=self._work_on_nested,
        )

    async def _work_on_nested(self, nested: Nested) -> Outcome:
        segment = Segment(
            world=nested.world,
            agent=nested.agent.definition,
            model=nested.agent.model,
            book=self.book,
            nested=nested.run,
            emit=self.emit,
            taken_over=nested.before or self.taken_over,
            contract=nested.contract,
            kept=nested.kept,
        )
        return await segment.work()

    async def _invoke(self, calls: tuple[PlannedCall, ...]) -> bool:
        """Take calls through the gate; return whether a tool has ended the run."""
        outcome = await invoke_batch(self.world, calls, self._site, self.run.budget.parallel)
        if outcome.results:
            self.run = invoked(self.run, outcome.results)
        if outcome.asked:
            self._wait_for(outcome.asked)
        if outcome.left:
            self.run = left_inside(self.run, outcome.left)
        if was_interrupted():
            raise asyncio.CancelledError
        return outcome.fatal

    def _wait_for(self, asked: Mapping[int, Asked]) -> None:
        self.run = awaiting(self.run, {index: question.request.id for index, question in asked.items()})
        for question in asked.values():
            self.book.ask(self.world, question)
            if self.emit is not None:
                self.emit(CallWaiting(run_id=self.run.id, key=question.request.call_key, approval=question.pending))

    async def _take_decisions(self) -> None:
        """Take in what persons have decided since the snapshot."""
        decided = await take_decisions(self.world, self.run, self.book.lease.run_id)
        self.run = decided.run
        if self.nested is not None:  # a no holds in the whole tree: another nested run must not ask again
            self.book.outermost = rejected(self.book.outermost, *decided.run.rejected)
        self.approved.update(decided.approved)
        self.book.asked.update(decided.asked)

    # ── the model ─────────────────────────────────────────────────────────────────────

    async def _ask(self, model: ModelClient) -> Outcome | None:
        """Ask the model once; return what came of the segment when it has ended with it."""
        left = self._seconds_left()
        ended = await (self._ask_once(model, left) if self.nested is None else self._ask_within(model, left))
        return await self._close(ended) if ended is not None else None

    async def _ask_within(self, model: ModelClient, left: float) -> StopReason | None:
        """Ask the model of a nested run within the budget of the whole tree; return why the run ends here, or None."""
        spent = self.book.spent()
        if spent is not None:
            return spent
        self.book.asking += 1
        try:
            return await self._ask_once(model, min(left, self.book.seconds_left()))
        finally:
            self.book.asking -= 1

    async def _ask_once(self, model: ModelClient, left: float) -> StopReason | None:
        asked = await ask_model(
            self.world, self.agent, model, self.run, left=left, on_text=self._on_text(), span=self.span
        )
        if isinstance(asked, Unanswered):
            if asked.entry is not None:
                self.book.entries.append(asked.entry)
            return asked.reason
        self.asked.append(asked)
        return self._take_answer(asked.answer)

    def _take_answer(self, answer: ModelAnswer) -> StopReason | None:
        run = self.run
        message = _new_answer(
            answer.text,
            answer.calls,
            answer.provider,
            answer.provider_state,
            paused=answer.finish is Finish.PAUSE and not answer.calls,
            cut=answer.finish is Finish.LENGTH,
        )
        over = False
        if self.nested is not None:
            self._keep_state()
            bound = self.book.bound_calls(self.nested, len(answer.calls)) if answer.calls else self.nested
            over = bound is None
            self.nested = bound or self.nested
            message = replace(message, calls=()) if over else message
            run = self.nested
        run = self.run = answered(run, message, answer.usage, self._worked())
        self.book.journal(run, len(message.calls), answer.usage)
        if over:
            return StopReason.CALLS
        if answer.calls or message.paused:
            return None
        if answer.refusal is not None or answer.finish in (Finish.REFUSAL, Finish.FILTER):
            return StopReason.REFUSAL
        return None

    def _keep_state(self) -> None:
        """Write down the state as the tools of a nested run have left it."""
        if self.kept is None:
            return
        written, note = self.kept.dump(), state_of(self.run.id)
        if written != self.book.recall(note):
            self.book.remember(note, written, self.run.parent)

    def _on_text(self) -> OnText | None:
        return None if self.emit is None else TextTeller(self.run.id, self.emit, structured=self.contract is not None)

    def _worked(self) -> float:
        """Return for how many seconds the segment has worked."""
        return self.world.clock.monotonic() - self._began

    def _seconds_left(self) -> float:
        return self.run.budget.seconds - self._worked()

    # ── ends ──────────────────────────────────────────────────────────────────────────

    async def _suspend(self, wait: Wait) -> Outcome | None:
        """End the segment; return what waits, or None when a person was faster and it goes on here."""
        if self.asked:
            self.book.entries.append(turns_entry(self.world, self.run, self.asked))
            self.asked = []
        if self.nested is not None:
            self._keep_state()
            self.book.nest(self.nested)
        else:
            try:
                waits = await self.book.suspend()
            except LeaseLostError:
                raise
            except StoreError:
                _LOG.exception("a run that waits could not be stored: %r", self.run.id)
                return await self._close(StopReason.UNRECORDED)
            if not waits:
                self.taken_over = True
                await self._take_decisions()
                return None
        approvals = tuple(self.book.pending(approval_id) for approval_id in wait.approval_ids)
        return Waiting(run_id=self.run.id, approvals=approvals, history=self.run.transcript)

    async def _conclude(self) -> Outcome | None:
        """End the run with its last word; return None when the word does not fit and is asked again."""
        text = self._last_text()
        if self.contract is None:
            return await self._finish(text)
        last = self.run.transcript[-1]
        cut = isinstance(last, AssistantMessage) and last.cut
        read = CUT_OUTPUT if cut else self.contract.read(text)
        if isinstance(read, Deny):
            if self.run.reasks >= OUTPUT_REASKS:
                return await self._close(StopReason.OUTPUT)
            complaint = complaint_of(read)
            self.book.reask(self.run, complaint)
            self.run = reasked(self.run, complaint)
            return None
        return await self._finish(text, read.json, self.contract.value_of(read))

    async def _conclude_given(self) -> Outcome:
        """End a run whose one call was given to it: nobody words what the tool has said."""
        last = self.run.transcript[-1]
        result = last.results[0] if isinstance(last, ToolMessage) else None
        if self.contract is None and result is not None:  # a direct call: its result is the answer, whatever it says
            return await self._finish(result.content)
        end = self.book.child(f"{self.run.key(0)}/{END}")
        if self.contract is None or result is None or result.is_error or end is None:
            return await self._close(_why(result.code if result is not None else ""))
        return await self._finish(end.text, end.output, self.contract.load(end.output))

    def _last_text(self) -> str:
        last = self.run.transcript[-1]
        text = last.text if isinstance(last, AssistantMessage) else ""
        return text if text.strip() else self._templated_answer()

    async def _finish(self, text: str, form: Json = None, output: object = None) -> Outcome:
        """End the run with its last word, and with an output as JSON and as the caller gets it."""
        self._keep_state()
        self.run = finished(self.run, text, self._worked(), form)
        failed = await self._store_end("done")
        if failed is not None:
            return failed
        return Answer(run_id=self.run.id, text=text, output=output, history=self.run.transcript, usage=self.run.usage)

    def _templated_answer(self) -> str:
        """Return the words for an answer without any: from the tools' templates, else a polite nothing."""
        for message in reversed(self.run.transcript):
            if isinstance(message, ToolMessage):
                said = [result.answer for result in message.results if result.answer]
                if said:
                    return "\n".join(said)
                break
            if not isinstance(message, AssistantMessage):
                break
        return nothing_to_say(self.run.language)

    async def _close(self, reason: StopReason) -> Outcome:
        self.run = stopped(self.run, reason, last_words(reason, self.run.language), self._worked())
        failed = await self._store_end(reason.value)
        if failed is not None:
            return failed
        return Stopped(
            run_id=self.run.id, reason=reason, text=self.run.text, history=self.run.transcript, usage=self.run.usage
        )

    async def _store_end(self, word: str) -> Outcome | None:
        """Store that the run has ended, its answer among the records; return what is said when that fails."""
        world, run = self.world, self.run
        entry = end_entry(world, run, word, self.asked)
        try:
            await self.book.close(run, entry)
        except LeaseLostError:
            raise
        except StoreError:
            world.lose(entry)
            if run.status is RunStatus.DONE and world.release_unrecorded_reads:
                return None
            return Stopped(
                run_id=run.id,
                reason=StopReason.UNRECORDED,
                text=last_words(StopReason.UNRECORDED, run.language),
                history=run.transcript,
                usage=run.usage,
            )
        return None


_CODES: Final = {reason.value: reason for reason in StopReason} | {"timeout": StopReason.SECONDS}


def _why(code: str) -> StopReason:
    """Return why a workflow stopped, from the code of its tool's result."""
    if code in _CODES:
        return _CODES[code]
    return StopReason.REFUSAL if code in REASONS else StopReason.STAGE
