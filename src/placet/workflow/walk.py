"""Walk: one going through the stages of a workflow, from the first one each time it is entered.

What has been done is remembered in the run tree under the stage's path, so that entering
again goes past it: an agent's run by its own snapshot, everything else by the state that it
left behind. What is remembered of a loop's condition is its answer, so that going on later
takes the turnings that were taken.
"""

import asyncio
import contextlib
import dataclasses
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from placet.errors import ConfigurationError, StageError
from placet.redaction.redact import Redactor
from placet.runtime.execute import Leave, Raised, Returned, TimedOut, run_sync
from placet.runtime.hooks import settle
from placet.runtime.kept_state import KeptState
from placet.runtime.nested import END, Nesting, Part
from placet.tools.context import Context
from placet.tools.plan import is_async
from placet.values.json import Json
from placet.values.outcome import Answer
from placet.values.run import StopReason
from placet.workflow.fields import fill_question
from placet.workflow.stages import (
    AgentStage,
    FunctionStage,
    Loop,
    Parallel,
    Sequence,
    Stage,
    WhenExhausted,
    WhenStopped,
)

_KINDS: Final[Mapping[type, str]] = {
    AgentStage: "agent",
    FunctionStage: "function",
    Sequence: "sequence",
    Loop: "loop",
    Parallel: "parallel",
}


class _ExhaustedError(Exception):
    """An exhausted loop ends the workflow, or the branch in which it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """One going through the stages.

    Attributes:
        context: Of the call that walks; functions and conditions get it.
        runtime: Through which agents are asked, and what is done is remembered.
        question: What the workflow was asked.
        kept: The state.
        seconds: How long a synchronous function may take.
        redactor: Knows which fields of the state are kept out of records.
    """

    context: Context[Any]
    runtime: Nesting
    question: str
    kept: KeptState
    seconds: float
    redactor: Redactor

    async def through(self, stages: tuple[Stage, ...], words: "Callable[[Walk], str]") -> str:
        """Go through the stages of a workflow; return its answer in words, remembered with the state.

        Args:
            stages: Its stages.
            words: From the walk to the answer in words.

        Raises:
            StageError: A stage stopped.
            ConfigurationError: The state is not what it is declared to be.
        """
        with contextlib.suppress(_ExhaustedError):
            await self._visit_all(stages, "")
        written = self.kept.keep()
        text = words(self)
        self.runtime.remember(END, written, text)
        return text

    async def _visit_all(self, stages: tuple[Stage, ...], path: str) -> None:
        for stage in stages:
            await self._visit(stage, f"{path}/{stage.name}" if path else stage.name)

    async def _visit(self, stage: Stage, path: str) -> None:
        """Carry out a stage, unless it is known how it ended."""
        done = self.runtime.recall(f"{path}{END}")
        if done is not None:
            self.kept.restore(done)
            return
        began = self.runtime.world.clock.monotonic()
        decision = "failed"
        try:
            await self._carry_out(stage, path)
            self.runtime.remember(f"{path}{END}", self.kept.keep())
            decision = "done"
        except (Leave, asyncio.CancelledError):
            decision = ""
            raise
        except _ExhaustedError:
            decision = "exhausted"
            raise
        finally:
            if decision:
                ms = (self.runtime.world.clock.monotonic() - began) * 1000
                self.runtime.tell(decision, {"stage": path, "kind": _KINDS[type(stage)], "ms": round(ms, 2)})

    async def _carry_out(self, stage: Stage, path: str) -> None:
        match stage:
            case AgentStage():
                await self._ask(stage, path)
            case FunctionStage():
                await self._apply(stage, path)
            case Sequence(stages=stages):
                await self._visit_all(stages, path)
            case Loop():
                await self._go_round(stage, path)
            case Parallel():
                await self._branch_out(stage, path)

    # ── agents ────────────────────────────────────────────────────────────────────────

    async def _ask(self, stage: AgentStage, path: str) -> None:
        question = self._question(stage)
        secrets = self.redactor.secrets_in(self.kept.dump())
        outcome = await self.runtime.run(
            stage.agent, question, key=path, output=stage.output, kept=self.kept, secrets=secrets
        )
        if isinstance(outcome, Answer):
            await self._put(stage, outcome)
        elif stage.when_stopped is WhenStopped.FAIL:
            raise StageError(f"the workflow stopped at stage {path!r} ({outcome.reason})", code=outcome.reason.value)

    def _question(self, stage: AgentStage) -> str:
        if callable(stage.ask):
            return str(stage.ask(self.kept.value))
        if stage.ask is None:
            return self.question
        return fill_question(stage.ask, self.kept.dump(), self.question)

    async def _put(self, stage: AgentStage, answer: Answer) -> None:
        if callable(stage.into):
            changed = await settle(stage.into(self.kept.value, answer))
            self._take(changed)
        elif stage.into is not None:
            words = answer.text.encode("utf-8", "replace").decode()
            self.kept.set({stage.into: words if answer.output is None else answer.output})

    def _take(self, changed: Any) -> None:
        if changed is not None:
            self.kept.value = changed

    # ── functions ─────────────────────────────────────────────────────────────────────

    async def _apply(self, stage: FunctionStage, path: str) -> None:
        part = Part(self.runtime, path)
        state = self.kept.value
        arguments = (self._seen(part), state) if stage.takes_context else (state,)
        if is_async(stage.function):
            changed = await stage.function(*arguments)
        else:
            changed = await settle(await self._in_thread(stage, path, arguments))
        if part.left:  # what swallowed the leaving has gone on without its nested run
            raise Leave
        self._take(changed)

    async def _in_thread(self, stage: FunctionStage, path: str, arguments: tuple[Any, ...]) -> Any:
        ending = await run_sync(lambda: stage.function(*arguments), self.seconds, self.runtime.world.threads)
        match ending:
            case Returned(value=value):
                return value
            case Raised(error=error):
                raise error
            case TimedOut():
                raise StageError(f"the workflow stopped at stage {path!r} (timeout)", code=StopReason.SECONDS.value)

    def _seen(self, runtime: Part | None) -> Context[Any]:
        """Return the context as code of the workflow's own sees it."""
        return dataclasses.replace(self.context, runtime=runtime, state=self.kept.value)

    # ── loops ─────────────────────────────────────────────────────────────────────────

    async def _go_round(self, loop: Loop, path: str) -> None:
        for number in range(1, loop.max_iterations + 1):
            here = f"{path}[{number}]"
            await self._visit_all(loop.stages, here)
            if await self._is_done(loop, f"{here}?"):
                return
        match loop.when_exhausted:
            case WhenExhausted.GO_ON:
                return
            case WhenExhausted.STOP:
                raise _ExhaustedError
            case _:
                text = f"loop {path!r} went round {loop.max_iterations} times, and its condition does not hold"
                raise StageError(text, code=StopReason.STAGE.value)

    async def _is_done(self, loop: Loop, note: str) -> bool:
        known = self.runtime.recall(note)
        if known is not None:
            return bool(known)
        seen = self.kept.copy().value  # a condition only looks
        done = bool(await settle(loop.until(dataclasses.replace(self._seen(None), state=seen), seen)))
        self.runtime.remember(note, done)
        return done

    # ── branches ──────────────────────────────────────────────────────────────────────

    async def _branch_out(self, stage: Parallel, path: str) -> None:
        width = asyncio.Semaphore(self.runtime.book.outermost.budget.parallel)
        walks = [dataclasses.replace(self, kept=self.kept.copy()) for _ in stage.branches]
        works = [
            walk._go_along(branch, f"{path}/{branch.name}", width)  # noqa: SLF001 - its own twin
            for walk, branch in zip(walks, stage.branches, strict=True)
        ]
        # Every branch is seen through to its end or its wait, so that the whole tree is stored at rest.
        endings = await asyncio.gather(*works, return_exceptions=True)
        broken = [ending for ending in endings if isinstance(ending, BaseException)]
        if broken:
            raise next((error for error in broken if isinstance(error, Leave)), broken[0])
        states = [walk.kept for walk in walks]
        if stage.merge is None:
            self.kept.restore(_merged(self.kept.dump(), [state.dump() for state in states], stage, path))
            return
        before = self.kept.copy().value
        merged = stage.merge(before, [state.value for state in states])
        if inspect.isawaitable(merged):
            merged = await merged
        self.kept.value = before if merged is None else merged

    async def _go_along(self, branch: Stage, path: str, width: asyncio.Semaphore) -> None:
        async with width:
            try:
                await self._visit(branch, path)
            except _ExhaustedError:
                self.runtime.remember(f"{path}{END}", self.kept.keep())


def _merged(before: Mapping[str, Json], after: list[Mapping[str, Json]], stage: Parallel, path: str) -> Json:
    """Return the state with each field that some branch has changed.

    Raises:
        ConfigurationError: Two branches have made different things of one field.
    """
    merged = dict(before)
    changed: dict[str, str] = {}
    for branch, state in zip(stage.branches, after, strict=True):
        for name, value in state.items():
            if value == before.get(name):
                continue
            if name in changed and merged[name] != value:
                raise ConfigurationError(
                    f"branches {changed[name]!r} and {branch.name!r} of {path!r} have both changed {name!r}: "
                    "give Parallel(…, merge=…) to say what becomes of it"
                )
            merged[name] = value
            changed[name] = branch.name
    return merged
