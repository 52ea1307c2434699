"""World: what the runtime needs from outside, gathered once and shared by all calls."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, Final, Protocol

from placet.agent.definition import AgentDefinition
from placet.agent.output import Contract
from placet.errors import StoreError
from placet.gate.gate import Gate
from placet.gate.policy import is_open
from placet.ports import Clock, IdSource, ModelClient, PrincipalDirectory, Store
from placet.redaction.named import REDACTED
from placet.redaction.pack import KINDS
from placet.redaction.redact import Redactor, hide_known
from placet.runtime.hooks import Hooks
from placet.runtime.isolated import ToolProcesses
from placet.runtime.keys import Keys
from placet.runtime.pool import ToolThreads
from placet.runtime.record import json_text
from placet.runtime.telemetry import Telemetry
from placet.tools.tool import Tool
from placet.tools.toolset import Toolset
from placet.values.approval import ApprovalRequest, Preview
from placet.values.audit import AuditEntry
from placet.values.construction import dataclass
from placet.values.json import JsonObject
from placet.values.message import AssistantMessage
from placet.values.policy import Policy
from placet.values.price import Price
from placet.values.principal import Principal
from placet.values.tool import VisibleTools

_LOG: Final = logging.getLogger("placet")

AuditSink = Callable[[AuditEntry], None]
"""Told each entry beside the store. It must not wait; what it raises is logged and changes nothing."""


class Nestable(Protocol):
    """An agent that can be started as a nested run: `placet.Agent` is one."""

    @property
    def definition(self) -> AgentDefinition:
        """What it is told, and what it may use."""
        ...

    @property
    def model(self) -> ModelClient | None:
        """Who is asked; None for a workflow, which asks nobody itself."""
        ...

    @property
    def contract(self) -> Contract | None:
        """What it answers with, or None for words."""
        ...

    @property
    def world(self) -> "World":
        """Its own toolset, gate and dependencies; all else comes from the outermost run."""
        ...

    def opening(self, question: str) -> AssistantMessage | None:
        """Return the call with which its runs begin, or None where its model is asked first."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class World:
    """What the runtime needs from outside.

    Attributes:
        store: What is remembered, the audit log included.
        directory: Who a principal is today.
        toolset: What can be called.
        gate: What decides.
        keys: What digests are keyed with.
        clock: What time it is.
        ids: Where ids and tokens come from.
        threads: Where synchronous tools run.
        processes: Where isolated tools run.
        deps: What the host application hands to its tools, as `context.deps`.
        sinks: Who else is told each audit entry.
        hooks: Who watches calls, and may change them before they are decided.
        telemetry: What is told to OpenTelemetry.
        policy: Who may call what, beside what the tools say themselves; None leaves it to them.
        release_unrecorded_reads: Whether a read's result is given out although it could not
            be recorded (counted, and logged as an error). Off: it is withheld.
        seen: What each set of roles may see under the policy, worked out once.
        agents: Agents that tools may start as nested runs, by name.
        above: The world of the run in which this one is nested, or None.
        prices: What tokens cost, by the id of the model; None stands for what its provider says that it charges.
        personal: Which kinds of personal data are kept out of records (`placet.redaction.pack.KINDS`).
        redactors: One for each tool, made on first use.
        losses: Counts what could not be recorded, by kind.
        tasks: What is under way beside the calls: recordings of late endings, and renewals of leases.
    """

    store: Store
    directory: PrincipalDirectory
    toolset: Toolset
    gate: Gate
    keys: Keys
    clock: Clock
    ids: IdSource
    threads: ToolThreads = field(default_factory=ToolThreads)
    processes: ToolProcesses = field(default_factory=ToolProcesses)
    deps: Any = None
    sinks: Sequence[AuditSink] = ()
    hooks: Sequence[Hooks] = ()
    telemetry: Telemetry = field(default_factory=Telemetry)
    policy: Policy | None = None
    release_unrecorded_reads: bool = False
    seen: dict[frozenset[str], VisibleTools] = field(default_factory=dict[frozenset[str], VisibleTools])
    agents: "Mapping[str, Nestable]" = field(default_factory=dict[str, Any])
    above: "World | None" = None
    prices: Mapping[str, Price | None] = field(default_factory=dict[str, Price | None])
    personal: frozenset[str] = frozenset(KINDS)
    redactors: dict[str, Redactor] = field(default_factory=dict[str, Redactor])
    losses: dict[str, int] = field(default_factory=dict[str, int])
    tasks: set["asyncio.Task[None]"] = field(default_factory=set["asyncio.Task[None]"])

    def redactor(self, tool: Tool | None) -> Redactor:
        """Return what keeps the tool's secrets out of records; without a tool, the patterns alone.

        A question is known by its tool's name alone, and another agent in the tree may call a tool so: what one
        of them keeps out is kept out of them all.
        """
        name = tool.spec.name if tool else ""
        found = self.redactors.get(name)
        if found is None:
            alike = [tool, *self.called(name)] if tool else []
            fields = frozenset[str]().union(*(one.spec.redact | one.spec.secret_fields for one in alike))
            found = self.redactors[name] = Redactor(fields, personal=self.personal)
        return found

    def visible(self, principal: Principal) -> VisibleTools:
        """Return the tools that a principal may see: those that could be open to somebody of their roles."""
        if self.policy is None:
            return self.toolset.visible(principal.roles)
        known = self.seen.get(principal.roles)
        if known is None:
            specs = tuple(tool.spec for tool in self.toolset if is_open(tool.spec, principal, self.policy))
            known = self.seen.setdefault(principal.roles, VisibleTools(specs))
        return known

    def find_tool(self, name: str) -> Tool | None:
        """Return the tool of this name, of this toolset or of an agent that may be nested, for showing it."""
        return next(self.called(name), None)

    def called(self, name: str) -> Iterator[Tool]:
        """Yield each tool of this name, the own one first and then those of agents that may be nested."""
        found = self.toolset.find(name)
        if found is not None:
            yield found
        for agent in self.agents.values():
            yield from agent.world.called(name)

    def is_writable(self, name: str) -> bool:
        """Return whether others can write what a tool of this name gives back, wherever in the tree it stands.

        Where nobody here knows it, they can; where two are called so, it is enough that they can write to one.
        """
        world: World | None = self
        known: list[Tool] = []
        while world is not None:
            known.extend(world.called(name))
            world = world.above
        return not known or any(tool.spec.writable_output for tool in known)

    def redacted(self, tool: Tool | None, arguments: JsonObject) -> JsonObject:
        """Return arguments as anybody but an approver may see them; of an unknown tool, their names alone."""
        if tool is None:
            return dict.fromkeys(arguments, REDACTED)
        shown = self.redactor(tool).value(arguments)
        return shown if isinstance(shown, Mapping) else {}

    def redacted_preview(self, tool: Tool | None, request: ApprovalRequest) -> str | None:
        """Return what the approver saw, without the arguments that are kept out of records: it may quote them."""
        if request.preview is None:
            return None
        if tool is None:  # nobody knows what it keeps out
            return REDACTED
        redactor = self.redactor(tool)
        return redactor.text(request.preview.text, known=redactor.secrets_in(request.arguments))

    def preview_for_others(self, tool: Tool | None, request: ApprovalRequest) -> Preview | None:
        """Return what anybody but an approver may see of a preview: its text and its facts, redacted."""
        text = self.redacted_preview(tool, request)
        if text is None or request.preview is None:
            return None
        known = self.redactor(tool).secrets_in(request.arguments)
        facts = self.redacted(tool, request.preview.binds)
        written = {name: json_text(fact) for name, fact in facts.items()}
        quoting = {name for name, fact in written.items() if hide_known(fact, known) != fact}
        return Preview(text, {name: REDACTED if name in quoting else fact for name, fact in facts.items()})

    def tell(self, *entries: AuditEntry) -> None:
        """Tell the sinks of entries that the store has taken."""
        for sink in self.sinks:
            for entry in entries:
                try:
                    sink(entry)
                except Exception:  # noqa: BLE001 - a sink observes; whatever breaks in it changes nothing
                    _LOG.exception("an audit sink failed; the store has the record")

    async def record(self, entry: AuditEntry) -> bool:
        """Add an entry to the audit log; return whether it is there, and be loud when it is not."""
        try:
            await self.store.append(entry)
        except StoreError:
            self.lose(entry)
            return False
        if self.sinks:
            self.tell(entry)
        return True

    def lose(self, entry: AuditEntry) -> None:
        """Count and report an entry that could not be stored."""
        self.losses[entry.kind] = self.losses.get(entry.kind, 0) + 1
        _LOG.error(
            "could not record %s of %r in run %r: look at the store",
            entry.kind,
            entry.tool,
            entry.run_id,
            exc_info=True,
        )

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Start what no call waits for, as the recording of a late ending; `settle_late_endings` waits for all."""
        task = asyncio.get_running_loop().create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def settle_late_endings(self) -> None:
        """Wait until every late ending that has come in is recorded."""
        while self.tasks:
            await asyncio.wait(set(self.tasks))
