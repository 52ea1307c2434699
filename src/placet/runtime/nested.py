"""Nested runs: a tool starts an agent, through the same gate, in the same tree.

A nested run shares principal, budget, store and lease with the run in which it is nested.
When it waits for a person, the tool's code is left and the whole tree is stored; when the
tree goes on, the tool is entered again from its first line, and each nested run that it
starts, known by the key of the call and a counter, is answered from the book or goes on
where it was. So a tool that nests runs must start them in the same order each time, or give
each a key of its own, and must have no effect of its own: what it does, it does through
them. What else it must not do twice, it remembers in the book (`remember`, `recall`).
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from dataclasses import field, replace
from typing import Any, Final

from placet.agent.output import Contract, make_contract
from placet.agent.transitions import answered, stopped
from placet.errors import ConfigurationError
from placet.runtime.book import Book
from placet.runtime.execute import Leave
from placet.runtime.kept_state import KeptState, state_of
from placet.runtime.record import json_text
from placet.runtime.sentences import last_words
from placet.runtime.world import Nestable, World
from placet.values.audit import AuditEntry, AuditKind
from placet.values.construction import dataclass
from placet.values.json import Json, JsonObject
from placet.values.message import AssistantMessage, Transcript, UserMessage
from placet.values.outcome import Answer, Outcome, Refused, Stopped, Waiting
from placet.values.run import Run, RunStatus, Usage

END: Final = "="
"""Under which a workflow's tool remembers with what its run ends: words and state."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Nested:
    """A nested run that has to be worked on.

    Attributes:
        world: Its agent's world, with what the tree shares.
        agent: Whose run.
        run: The run.
        before: Whether it goes on from before.
        contract: What its last word must be, or None for words.
        kept: The state of the workflow in which it runs, or None.
    """

    world: World
    agent: Nestable
    run: Run
    before: bool
    contract: Contract | None
    kept: KeptState | None


WorkOn = Callable[[Nested], Awaitable[Outcome]]
"""Works a segment of a nested run."""


@dataclass(slots=True, kw_only=True, eq=False)
class Nesting:
    """Through what one executing call starts nested runs. It is the call's `context.runtime`.

    Attributes:
        world: Of the run that makes the call.
        book: Of the run tree.
        run_id: The run that makes the call.
        key: The key of the call.
        principal_id: On whose behalf.
        language: Of the person.
        work_on: Works a segment of a nested run.
        waiting: The requests that its nested runs wait for.
        started: The runs that it has started or gone on with, by id.
    """

    world: World
    book: Book
    run_id: str
    key: str
    principal_id: str
    language: str
    work_on: WorkOn
    waiting: tuple[str, ...] = ()
    started: tuple[str, ...] = ()
    _count: int = 0
    _active: "set[asyncio.Future[None]]" = field(default_factory=set[Any])

    async def run(
        self,
        agent: Any,
        question: str,
        *,
        key: str | None = None,
        output: Any = None,
        kept: KeptState | None = None,
        secrets: Collection[str] = (),
    ) -> Answer | Stopped | Refused:
        """Return the outcome of a nested run.

        Args:
            agent: An agent or workflow, or the name of one that the outer agent was given (`agents=[…]`).
            question: What it is asked.
            key: Names the run among those of this call, where their order may differ from
                one entering to the next. Left out, they are counted.
            output: The type of its answer, as for `Agent.ask`; left out, the agent's own.
            kept: The state that its tools work on; it is stored with the run.
            secrets: Values in the question that are kept out of the audit log.

        Raises:
            ConfigurationError: There is no such agent, or the state does not fit what was kept.
            Leave: The run waits for a person: the tool is left, and entered again from its first line.
        """
        if key is None:
            self._count += 1
        run_id = f"{self.key}/{key or self._count}"
        nestable = self._find(agent)
        asks = nestable.model is not None
        contract = make_contract(output) if asks and output is not None else nestable.contract
        known = self.book.child(run_id)
        state = self.book.recall(state_of(run_id))
        if kept is not None and state is not None:
            kept.restore(state)
        self.started += (run_id,)
        if known is not None and known.status in (RunStatus.DONE, RunStatus.STOPPED):
            return _outcome_of(known, contract)
        run = known or self._begin(run_id, nestable, question, contract, secrets)
        spent = self.book.spent()
        if spent is not None:
            ended = stopped(run, spent, last_words(spent, self.language), 0.0)
            self.book.nest(ended)
            return _outcome_of(ended, contract)
        active: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._active.add(active)
        nested = Nested(
            world=self._world_of(nestable),
            agent=nestable,
            run=run,
            before=known is not None,
            contract=contract,
            kept=kept,
        )
        try:
            outcome = await self.work_on(nested)
        finally:
            self._active.discard(active)
            active.set_result(None)
        if isinstance(outcome, Waiting):
            self.waiting += tuple(pending.id for pending in outcome.approvals)
            raise Leave
        return outcome

    def recall(self, name: str) -> Json:
        """Return what this call has remembered under a name before it was left, or None."""
        return self.book.recall(f"{self.key}/{name}")

    def remember(self, name: str, value: Json, text: str = "") -> None:
        """Write a value down, so that it is there when the tool is entered again.

        Args:
            name: Under which name; the keys of nested runs are names too.
            value: JSON; None counts as nothing.
            text: Words that belong to it.
        """
        self.book.remember(f"{self.key}/{name}", value, self.key, text)

    def tell(self, decision: str, body: JsonObject) -> None:
        """Record how a stage of the tool has ended."""
        world = self.world
        entry = AuditEntry(
            at=world.clock.now(),
            kind=AuditKind.STAGE,
            run_id=self.run_id,
            call_key=self.key,
            principal_id=self.principal_id,
            decision=decision,
            body=json_text(body),
        )
        world.store.queue(entry)
        world.tell(entry)

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

    def _begin(
        self, run_id: str, agent: Nestable, question: str, contract: Contract | None, secrets: Collection[str]
    ) -> Run:
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
            output_schema=contract.schema if contract is not None else None,
        )
        run = begun(run, agent.opening(question))
        self.book.nest(run)
        body = json_text({"text": world.redactor(None).text(question, known=secrets)[:4000], "agent": run.agent})
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
        personal = outer.personal | agent.world.personal
        return replace(
            agent.world,
            store=outer.store,
            directory=outer.directory,
            above=outer,
            keys=outer.keys,
            clock=outer.clock,
            ids=outer.ids,
            threads=outer.threads,
            processes=outer.processes,
            sinks=outer.sinks,
            prices={**outer.prices, **agent.world.prices},
            losses=outer.losses,
            personal=personal,
            redactors=agent.world.redactors if personal == agent.world.personal else {},
            tasks=outer.tasks,
            telemetry=outer.telemetry,
            release_unrecorded_reads=outer.release_unrecorded_reads,
        )


@dataclass(slots=True, eq=False)
class Part:
    """The port of one part of a tool, whose nested runs are counted apart from those of the others.

    Attributes:
        whole: The port of the tool.
        path: Names the part among those of the tool.
        left: Whether one of its runs waits, so that the part's own end counts for nothing.
    """

    whole: Nesting
    path: str
    left: bool = False
    _count: int = 0

    async def run(
        self,
        agent: Any,
        question: str,
        *,
        key: str | None = None,
        output: Any = None,
        kept: KeptState | None = None,
        secrets: Collection[str] = (),
    ) -> Answer | Stopped | Refused:
        """Return the outcome of a nested run; see `Nesting.run`.

        Raises:
            ConfigurationError: There is no such agent, or the state does not fit what was kept.
            Leave: The run waits for a person: the tool is left, and entered again from its first line.
        """
        if key is None:
            self._count += 1
        name = f"{self.path}/{key or self._count}"
        try:
            return await self.whole.run(agent, question, key=name, output=output, kept=kept, secrets=secrets)
        except Leave:
            self.left = True
            raise


def begun(run: Run, opening: AssistantMessage | None) -> Run:
    """Return a new run with the calls that it is given in place of a model's first answer; they count for no budget."""
    return run if opening is None else answered(run, opening, Usage()).changed(turn=0, calls=0)


def _outcome_of(run: Run, contract: Contract | None) -> Answer | Stopped:
    if run.stop is not None:
        return Stopped(run_id=run.id, reason=run.stop, text=run.text, history=run.transcript, usage=run.usage)
    output = run.output if contract is None or run.output is None else contract.load(run.output)
    return Answer(run_id=run.id, text=run.text, output=output, history=run.transcript, usage=run.usage)
