"""Nested runs: a tool starts an agent, through the same gate, in the same tree.

A nested run shares principal, budget, store and lease with the run in which it is nested.
When it waits for a person, the tool's code is left and the whole tree is stored; when the
tree goes on, the tool is entered again from its first line, and each nested run that it
starts, known by the key of the call and a counter, is answered from the book or goes on
where it was. So a tool that nests runs must start them in the same order each time, and
must have no effect of its own: what it does, it does through them.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any

from placet.agent.next_action import spent_budget
from placet.agent.transitions import stopped
from placet.errors import ConfigurationError
from placet.runtime.book import Book
from placet.runtime.execute import Leave
from placet.runtime.record import json_text
from placet.runtime.sentences import last_words
from placet.runtime.world import Nestable, World
from placet.values.audit import AuditEntry, AuditKind
from placet.values.message import Transcript, UserMessage
from placet.values.outcome import Answer, Outcome, Refused, Stopped, Waiting
from placet.values.run import Run, RunStatus

WorkOn = Callable[[World, Nestable, Run, bool], Awaitable[Outcome]]
"""Works a segment of a nested run: its world, its agent, the run, and whether it goes on from before."""


@dataclass(slots=True, kw_only=True, eq=False)
class Nesting:
    """Through what one executing call starts nested runs. It is the call's `context.runtime`.

    Attributes:
        world: Of the run that makes the call.
        book: Of the run tree.
        key: The key of the call.
        principal_id: On whose behalf.
        language: Of the person.
        work_on: Works a segment of a nested run.
        waiting: The requests that its nested runs wait for.
    """

    world: World
    book: Book
    key: str
    principal_id: str
    language: str
    work_on: WorkOn
    waiting: tuple[str, ...] = ()
    _count: int = 0
    _active: "set[asyncio.Future[None]]" = field(default_factory=set)

    async def run(self, agent: Any, question: str, **options: Any) -> Answer | Stopped | Refused:
        """Return the outcome of a nested run.

        Args:
            agent: An agent, or the name of one that the outer agent was given (`agents=[…]`).
            question: What it is asked.
            options: None so far; any is an error.

        Raises:
            ConfigurationError: There is no such agent, or an unknown option.
        """
        if options:
            raise ConfigurationError(f"unknown options of a nested run: {sorted(options)}")
        self._count += 1
        run_id = f"{self.key}/{self._count}"
        nestable = self._find(agent)
        known = self.book.child(run_id)
        if known is not None and known.status in (RunStatus.DONE, RunStatus.STOPPED):
            return _outcome_of(known)
        run = known or self._begin(run_id, nestable, question)
        spent = spent_budget(self.book.outermost)
        if spent is not None:
            ended = stopped(run, spent, last_words(spent, self.language), 0.0)
            self.book.nest(ended)
            return _outcome_of(ended)
        active: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._active.add(active)
        try:
            outcome = await self.work_on(self._world_of(nestable), nestable, run, known is not None)
        finally:
            self._active.discard(active)
            active.set_result(None)
        if isinstance(outcome, Waiting):
            self.waiting += tuple(pending.id for pending in outcome.approvals)
            raise Leave
        return outcome

    async def settle(self) -> None:
        """Wait until every nested run that goes on beside one that waits has ended or waits too."""
        while self._active:
            await asyncio.wait(set(self._active))

    def _find(self, agent: Any) -> Nestable:
        found: Nestable | None = self.world.agents.get(agent) if isinstance(agent, str) else agent
        if found is None or not hasattr(found, "definition"):
            known = sorted(self.world.agents)
            raise ConfigurationError(f"no agent {agent!r} to nest: give Agent(…, agents=[…]); known are {known}")
        return found

    def _begin(self, run_id: str, agent: Nestable, question: str) -> Run:
        world = self.world
        now = world.clock.now()
        run = Run(
            id=run_id,
            agent=agent.definition.name,
            principal_id=self.principal_id,
            language=self.language,
            budget=self.book.budget_left(agent.definition.budget),
            transcript=Transcript([UserMessage(question, by_person=False)]),
            started_at=now,
            parent=self.key,
        )
        self.book.nest(run)
        body = json_text({"text": world.redactor(None).text(question)[:4000], "agent": run.agent})
        entry = AuditEntry(
            at=now,
            kind=AuditKind.QUESTION,
            run_id=run_id,
            call_key=self.key,
            principal_id=self.principal_id,
            body=body,
        )
        world.store.queue(entry)
        world.tell(entry)
        return run

    def _world_of(self, agent: Nestable) -> World:
        """Return the agent's world, with everything that the tree shares in place of its own."""
        outer = self.world
        return replace(
            agent.world,
            store=outer.store,
            directory=outer.directory,
            keys=outer.keys,
            clock=outer.clock,
            ids=outer.ids,
            threads=outer.threads,
            sinks=outer.sinks,
            losses=outer.losses,
            tasks=outer.tasks,
            release_unrecorded_reads=outer.release_unrecorded_reads,
        )


def _outcome_of(run: Run) -> Answer | Stopped:
    if run.stop is None:
        return Answer(run_id=run.id, text=run.text, output=run.output, history=run.transcript, usage=run.usage)
    return Stopped(run_id=run.id, reason=run.stop, text=run.text, history=run.transcript, usage=run.usage)
