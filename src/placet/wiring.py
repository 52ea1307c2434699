"""Agent: the only place that builds everything.

```python
agent = Agent("orders.agent.md", tools=[get_order_status, cancel_order], model="openai:…", deps=shop)
result = await agent.ask("Cancel order 8842", principal=Principal("s1", roles={"support"}))
```
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Collection, Coroutine, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Self, TypeVar

from placet.agent.definition import AgentDefinition
from placet.agent.output import Contract, make_contract
from placet.errors import ConfigurationError
from placet.gate.gate import Gate
from placet.parts import check_given, choose_tools, load_agent, read_policy, secret_of
from placet.ports import Clock, IdSource, KeepsConnections, ModelClient, PrincipalDirectory, Store
from placet.redaction.pack import KINDS
from placet.runtime.clock import SystemClock, SystemIds
from placet.runtime.decide import decide
from placet.runtime.direct import call_directly
from placet.runtime.directory import StatedPrincipals
from placet.runtime.drive import Driver
from placet.runtime.event_log import EventLogs
from placet.runtime.explain import Explanation, explain
from placet.runtime.hooks import Hooks
from placet.runtime.keys import Keys
from placet.runtime.offered import check_offered
from placet.runtime.own_loop import OwnLoop
from placet.runtime.patience import see_through
from placet.runtime.pricing import check_prices
from placet.runtime.purge import purge
from placet.runtime.report import make_report
from placet.runtime.site import Emit
from placet.runtime.telemetry import Telemetry
from placet.runtime.world import AuditSink, World
from placet.stores.url import open_store_from_url
from placet.tools.toolset import Toolset
from placet.values.approval import ApprovalRequest, ApprovalStatus, Yes
from placet.values.call import ToolResult
from placet.values.decision import Reason
from placet.values.event import Event
from placet.values.json import JsonObject
from placet.values.limits import Budget, duration
from placet.values.message import AssistantMessage, Message
from placet.values.outcome import Outcome, Refused, Waiting
from placet.values.policy import Policy
from placet.values.price import Price
from placet.values.principal import Principal
from placet.words.language import guess_language, normalise_language

T = TypeVar("T")

Who = Principal | str
"""A principal as the host application states them, or the id of one that the directory knows."""


class Agent:
    """One agent, ready to be asked: definition, tools, model and store, wired together.

    One object serves any number of runs at the same time; nothing of a run is kept in it.

    Args:
        definition: An agent file, or a definition made in code.
        tools: What can be called. The definition may name fewer; it cannot name others.
        model: A model client, or the id of one (`"openai:…"`, `"local:needle-3"`). Left out,
            the definition names it.
        store: A store, or the URL of one. `"memory:"` forgets; `"sqlite:///placet.db"` is one file.
        deps: What tools find as `context.deps`.
        directory: Who a principal is today. Left out, it is who the application last said.
        audit: Who else is told each audit entry.
        hooks: Who watches calls of tools and models; one that changes arguments sends the call
            back to validation.
        gate: What decides; the standard checks by default.
        policy: Who may call what, beside the roles that the tools name themselves: a policy, or
            the path of a TOML file. Every tool and argument that it names must exist.
        product: For which product the policy file is read.
        secret: At least 32 bytes from which all keys come. Left out, a key file beside a
            SQLite store holds it, made on first use.
        budget: Replaces the definition's.
        prices: What a million tokens of each model cost, by its id (`Price.per_million(…)`); None in
            place of a price: what the provider says that it charges. Needed for `Budget.cost`.
        agents: Agents that tools may start as nested runs, by their names.
        output: The type of every answer (a pydantic model, dataclass, TypedDict, or the JSON
            Schema of an object); None for words. `ask` may give another.
        personal_data: Which kinds of personal data are kept out of the audit log, of events, spans and
            reports, wherever they stand; by default all that can be told by their check digits or form.
        encryption_keys: Keys of 32 bytes, the newest first, under which the store holds snapshots,
            arguments of approvals and recorded results; none: they stand there as they are.
        release_unrecorded_reads: Whether a read's result is given out although the store could
            not record it (counted and logged). Off: it is withheld.
        telemetry: What is told to OpenTelemetry; by default spans without arguments and results,
            through the provider that the process has set.
        clock: What time it is.
        ids: Where ids and tokens come from.

    Raises:
        ConfigurationError: Something is built wrong; the message names it and the mend.
    """

    def __init__(  # noqa: PLR0913 - the one place where everything is given
        self,
        definition: AgentDefinition | str | Path,
        *,
        tools: Toolset | Iterable[Any],
        model: ModelClient | str | None = None,
        store: Store | str = "sqlite:///placet.db",
        deps: Any = None,
        directory: PrincipalDirectory | None = None,
        audit: Sequence[AuditSink] = (),
        hooks: Sequence[Hooks] = (),
        gate: Gate | None = None,
        policy: Policy | Path | str | None = None,
        product: str = "",
        secret: bytes | None = None,
        budget: Budget | None = None,
        prices: Mapping[str, Price | None] | None = None,
        agents: "Iterable[Agent]" = (),
        output: Any = None,
        encryption_keys: Sequence[bytes] = (),
        personal_data: Collection[str] = tuple(KINDS),
        release_unrecorded_reads: bool = False,
        telemetry: Telemetry | None = None,
        clock: Clock | None = None,
        ids: IdSource | None = None,
    ) -> None:
        check_given(store, directory, budget, hooks, audit)
        defined = definition if isinstance(definition, AgentDefinition) else load_agent(Path(definition))
        self.definition = replace(defined, budget=budget) if budget is not None else defined
        self._opened_model = model is None or isinstance(model, str)
        self.model: ModelClient | None = self._open_model(model if model is not None else self.definition.model)
        secret = secret if secret is not None else secret_of(store)
        keys = Keys.of(secret)
        opened: Store = open_store_from_url(store, key=keys.audit) if isinstance(store, str) else store
        self.store: Store = _encrypted(opened, encryption_keys) if encryption_keys else opened
        self._stated = StatedPrincipals(self.store)
        self._states = directory is None
        ids = ids or SystemIds()
        rules = read_policy(policy, product)
        toolset = choose_tools(tools, self.definition, rules)
        self.world = World(
            store=self.store,
            directory=directory if directory is not None else self._stated,
            toolset=toolset,
            policy=rules,
            gate=gate or Gate(),
            keys=keys,
            clock=clock or SystemClock(),
            ids=ids,
            deps=deps,
            sinks=tuple(audit),
            hooks=tuple(hooks),
            agents=by_name(agents),
            prices=dict(prices or {}),
            release_unrecorded_reads=release_unrecorded_reads,
            personal=frozenset(personal_data),
            telemetry=telemetry or Telemetry(),
        )
        check_offered(self.world)
        check_prices(self.world, self.definition.budget, self.model)
        self._driver = Driver(world=self.world, agent=self.definition, model=self.model, worker=ids.new("worker"))
        self.contract: Contract | None = make_contract(output) if output is not None else None
        self._logs = EventLogs()
        self._opening = asyncio.Lock()
        self._is_open = False
        self._own_loop = OwnLoop()

    # ── asking ────────────────────────────────────────────────────────────────────────

    async def ask(
        self,
        question: str,
        *,
        principal: Who,
        history: Sequence[Message] = (),
        language: str | None = None,
        output: Any = None,
        emit: Emit | None = None,
    ) -> Outcome:
        """Return what comes of a question: `Answer`, `Waiting`, `Stopped` or `Refused`.

        Args:
            question: What the person says.
            principal: On whose behalf. It never comes from the model or from a client's text.
            history: The conversation before: the `history` of the last outcome.
            language: Of the person, as `"pt-BR"`. Left out, the question tells, else the
                principal's attribute `language`, else the agent's definition.
            output: The type of the answer, as for the agent: `Answer.output` is then a validated
                object, or the run stops with the reason `output`.
            emit: Told what happens meanwhile; see `placet.values.event`.

        Raises:
            ConfigurationError: `principal` is neither a principal nor the id of one, or `output` is no type of output.
            StoreError: The store or the directory cannot be read.
            asyncio.CancelledError: The caller was cancelled; the run is closed as cancelled.
        """
        return await self._ask(question, principal, history, language, output, emit=emit)

    async def _ask(
        self,
        question: str,
        principal: Who,
        history: Sequence[Message],
        language: str | None,
        output: Any,
        *,
        emit: Emit | None = None,
        run_id: str | None = None,
        opening: AssistantMessage | None = None,
    ) -> Outcome:
        self._check_output(output)
        await self.open()
        principal_id = self._state(principal)
        spoken = normalise_language(language) or guess_language(question) or self._language_of(principal)
        contract = make_contract(output) if output is not None else self.contract
        return await self._driver.start(
            question,
            principal_id,
            language=spoken,
            history=history,
            emit=emit,
            run_id=run_id,
            contract=contract,
            opening=opening or self.opening(question),
        )

    def opening(self, question: str) -> AssistantMessage | None:
        """Return the call with which runs begin, or None: an agent asks its model first."""
        del question
        return None

    def ask_sync(
        self, question: str, *, principal: Who, history: Sequence[Message] = (), language: str | None = None
    ) -> Outcome:
        """Return what comes of a question, for programs without an event loop. Its arguments are those of `ask`.

        Raises:
            ConfigurationError: An event loop is running here, use `await agent.ask(…)`; or as `ask` says.
            StoreError: The store or the directory cannot be read.
        """
        return self.run_sync(self.ask(question, principal=principal, history=history, language=language))

    def run_sync(self, work: Coroutine[Any, Any, T]) -> T:
        """Return what comes of any verb of this agent, for programs without an event loop.

        For instance `agent.run_sync(agent.approve(token, by=boss))`. Any number of threads may ask
        at the same time; what they ask shares one loop on a thread of the agent's own.

        Raises:
            ConfigurationError: An event loop is running here; await the verb itself.
            StoreError: The store or the directory cannot be read.
        """
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return self._own_loop.run(work)
        work.close()
        raise ConfigurationError("an event loop is running here: await the verb itself, as in `await agent.ask(…)`")

    async def watch(self, run_id: str, *, after: int = 0) -> AsyncIterator[tuple[int, Event]]:
        """Yield the numbered events of a run that somebody streams, the past first, until it ends or waits.

        Leaving is leaving: the run goes on. How slowly it is read slows nobody.

        Args:
            run_id: A run that `stream` has started in this process; of another, nothing is yielded.
            after: The number of the last event already seen, as in `Last-Event-ID`.
        """
        log = self._logs.find(run_id)
        if log is not None:
            async for numbered in log.watch(after):
                yield numbered

    async def stream(
        self,
        question: str,
        *,
        principal: Who,
        history: Sequence[Message] = (),
        language: str | None = None,
        output: Any = None,
    ) -> AsyncIterator[Event]:
        """Yield what happens while a question is worked on; the last event is `RunEnded` with the outcome.

        Its arguments are those of `ask`.

        Leaving the loop early cancels the run cleanly: what runs is cancelled or seen
        through, recorded, and the history stays valid.

        Raises:
            ConfigurationError: As `ask` says.
            StoreError: The store or the directory cannot be read.
        """
        run_id = self.world.ids.new("run")
        log = self._logs.open(run_id)
        work = asyncio.create_task(
            self._ask(question, principal, history, language, output, emit=log.add, run_id=run_id)
        )
        work.add_done_callback(lambda _: log.end())
        try:
            async for _, event in log.watch():
                yield event
            await work
        finally:
            if not work.done():
                work.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await see_through(work)

    # ── decisions ─────────────────────────────────────────────────────────────────────

    async def approve(
        self, approval: str, *, by: Who, arguments: JsonObject | None = None, emit: Emit | None = None
    ) -> Outcome:
        """Take an approver's yes, and return what comes of the run that waited.

        Where the run does not go on here, the answer is `Refused`, and its message says that the yes was
        taken. Mostly another worker owns the run right now, as while another call of it goes on (the reason
        is `effect_running` then), and that worker goes on with it.

        Args:
            approval: The token, or the public id. Neither grants anything by itself.
            by: The authenticated person. Roles of today decide; nobody approves their own call.
            arguments: What runs instead, when the person has edited the call: the same tool,
                validated and decided anew.
            emit: Told what happens meanwhile.

        Raises:
            ConfigurationError: It is no text, or `by` is neither a principal nor the id of one.
            StoreError: The store or the directory cannot be read.
        """
        return await self._decide(approval, by, Yes.APPROVE, arguments=arguments, emit=emit)

    async def confirm(self, approval: str, *, by: Who, emit: Emit | None = None) -> Outcome:
        """Take the requester's own yes, where the tool declares that the requester may give it.

        Args:
            approval: The token, or the public id.
            by: The authenticated requester.
            emit: Told what happens meanwhile.

        Raises:
            ConfigurationError: It is no text, or `by` is neither a principal nor the id of one.
            StoreError: The store or the directory cannot be read.
        """
        return await self._decide(approval, by, Yes.CONFIRM, emit=emit)

    async def reject(
        self,
        approval: str,
        *,
        by: Who,
        reason: str | None = None,
        reason_for_model: bool = True,
        emit: Emit | None = None,
    ) -> Outcome:
        """Take a person's no, which is final for this call, and return what comes of the run.

        Args:
            approval: The token, or the public id.
            by: The authenticated person: an approver, or the requester.
            reason: Why.
            reason_for_model: Whether the model may read it.
            emit: Told what happens meanwhile.

        Raises:
            ConfigurationError: It is no text, or `by` is neither a principal nor the id of one.
            StoreError: The store or the directory cannot be read.
        """
        return await self._decide(approval, by, None, note=reason, note_for_model=reason_for_model, emit=emit)

    async def _decide(
        self,
        approval: str,
        by: Who,
        yes: Yes | None,
        *,
        note: str | None = None,
        note_for_model: bool = True,
        arguments: JsonObject | None = None,
        emit: Emit | None = None,
    ) -> Outcome:
        if not isinstance(approval, str):  # pyright: ignore[reportUnnecessaryIsInstance] - it may come from a form
            raise ConfigurationError(f"{type(approval).__name__} is no approval; give its token or its id, a text")
        await self.open()
        decided = await decide(
            self.world, approval, self._state(by), yes, note=note, note_for_model=note_for_model, arguments=arguments
        )
        if isinstance(decided, Refused):
            return decided
        outcome = await self._go_on(decided.run_id, emit)
        if not isinstance(outcome, Refused):
            return outcome
        elsewhere = outcome.reason is Reason.EFFECT_RUNNING
        why = "another worker owns the run and goes on with it" if elsewhere else outcome.message
        return replace(outcome, message=f"the {'no' if yes is None else 'yes'} was taken; {why}")

    async def _go_on(self, run_id: str, emit: Emit | None) -> Outcome:
        with self._logs.going_on(run_id, emit) as tell:
            return await self._driver.resume(run_id, emit=tell, contract=self.contract)

    async def approvals(
        self, *, run_id: str | None = None, statuses: Sequence[ApprovalStatus] = (ApprovalStatus.PENDING,)
    ) -> Sequence[ApprovalRequest]:
        """Return requests as the store has them, oldest first. Their arguments are unredacted: for approvers.

        Raises:
            StoreError: The store cannot be read.
        """
        await self.open()
        await self.store.expire_approvals(self.world.clock.now())
        return await self.store.list_approvals(run_id=run_id, statuses=statuses)

    # ── runs and direct calls ─────────────────────────────────────────────────────────

    async def resume(self, run_id: str, *, emit: Emit | None = None) -> Outcome:
        """Return what comes of a run that nobody owns, carried on from its snapshot.

        Args:
            run_id: Of the run.
            emit: Is told each event, as it happens.

        Raises:
            ConfigurationError: The id is no text.
            StoreError: The store cannot be read.
        """
        if not isinstance(run_id, str):  # pyright: ignore[reportUnnecessaryIsInstance] - it may come from a form
            raise ConfigurationError(f"{type(run_id).__name__} is no run; give its id, a text")
        await self.open()
        return await self._go_on(run_id, emit)

    async def call(
        self,
        tool: str,
        arguments: JsonObject,
        *,
        principal: Who,
        key: str | None = None,
        language: str | None = None,
        emit: Emit | None = None,
    ) -> ToolResult | Waiting | Refused:
        """Return what comes of a call made by a program, through the same gate.

        Args:
            tool: The tool's name.
            arguments: Its arguments.
            principal: On whose behalf.
            key: The caller's idempotency key; needed for calls that change something or wait.
            language: Of the person.
            emit: Told what happens meanwhile.

        Raises:
            ConfigurationError: `principal` is neither a principal nor the id of one.
            StoreError: The store or the directory cannot be read.
        """
        await self.open()
        spoken = normalise_language(language) or self._language_of(principal)
        return await call_directly(
            self._driver, tool, arguments, self._state(principal), key=key, language=spoken, emit=emit
        )

    @property
    def tools(self) -> Toolset:
        """The agent's tools; `await agent.tools.execute(name, arguments, principal)` is `call`."""
        return self.world.toolset.owned_by(self)

    async def explain(self, tool: str, arguments: JsonObject, *, principal: Who) -> Explanation:
        """Return what would become of a call and what each check says to it; nothing is taken and nothing runs.

        Raises:
            ConfigurationError: `principal` is neither a principal nor the id of one.
            StoreError: The store or the directory cannot be read.
        """
        await self.open()
        return await explain(self.world, tool, arguments, self._state(principal))

    async def report(self, run_id: str) -> JsonObject | None:
        """Return the report of a run as a tree, redacted; None when nothing is known of it.

        It is for operators: who may see it is the host application's to say.

        Raises:
            StoreError: The store cannot be read.
        """
        await self.open()
        return await make_report(self.world, run_id)

    # ── life ──────────────────────────────────────────────────────────────────────────

    async def open(self) -> None:
        """Open the store, once; every verb does it by itself.

        Raises:
            StoreError: It cannot be opened.
        """
        if self._is_open:
            return
        async with self._opening:
            if not self._is_open:
                await self.store.open()
                self._is_open = True

    async def purge(self, older_than: timedelta | float | str) -> int:
        """Forget what runs have said and done that ended so long ago; return how many.

        Snapshots, journals, the arguments of approvals and the results in the ledger go. The keys of the
        ledger stay, so that nothing runs twice, and so do the audit log and who has decided what.

        Args:
            older_than: How long ago they have ended, as `"30 days"`.

        Raises:
            ConfigurationError: It is no length of time above zero.
            StoreError: The store cannot be written.
        """
        age = duration(older_than)
        await self.open()
        return await purge(self.world, age)

    async def close(self) -> None:
        """Wait for late endings, commit what is queued, close the store, and the model if the agent has opened it.

        Raises:
            StoreError: What was queued could not be stored.
        """
        await self.world.settle_late_endings()
        self.world.processes.close()
        if self._opened_model and isinstance(self.model, KeepsConnections):
            await self.model.close()
        if self._is_open:
            self._is_open = False
            await self.store.close()

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def close_sync(self) -> None:
        """Close what `ask_sync` and `run_sync` have opened.

        Raises:
            StoreError: What was queued could not be stored.
        """
        if self._own_loop.is_running:
            self._own_loop.run(self.close())
            self._own_loop.close()

    def _check_output(self, output: Any) -> None:
        """Refuse an output that is asked for and cannot be given; an agent can give any."""

    def _open_model(self, model: ModelClient | str | None) -> ModelClient | None:
        if model is None:
            raise ConfigurationError(
                f"agent {self.definition.name!r} has no model: give model='openai:…' or a model client, "
                "or name one in its file"
            )
        if not isinstance(model, str):
            return model
        from placet.models.open import open_model  # noqa: PLC0415 - what speaks to models, where none was given

        return open_model(model)

    def _state(self, who: Who) -> str:
        if isinstance(who, str):
            return who
        if not isinstance(who, Principal):  # pyright: ignore[reportUnnecessaryIsInstance] - it may come from a form
            raise ConfigurationError(f"{type(who).__name__} is nobody; give a Principal, or the id of one")
        if self._states:
            self._stated.state(who)
        return who.id

    def _language_of(self, who: Who) -> str:
        said = who.attributes.get("language") if isinstance(who, Principal) else None
        return normalise_language(said if isinstance(said, str) else None) or self.definition.language


def by_name(agents: Iterable[Agent]) -> dict[str, Agent]:
    """Return agents by their names; the same one may stand there twice.

    Raises:
        ConfigurationError: Two of them are of one name.
    """
    named: dict[str, Agent] = {}
    for agent in agents:
        name = agent.definition.name
        if named.setdefault(name, agent) is not agent:
            raise ConfigurationError(f"two of the agents to nest are called {name!r}: give one another name")
    return named


def _encrypted(store: Store, keys: Sequence[bytes]) -> Store:
    from placet.stores.encrypted import EncryptedStore  # noqa: PLC0415 - needs the extra `encryption`

    return EncryptedStore(store, keys)
