"""Replay: each task's calls as its own customer, then the same calls as another one."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from bench.tau2.domains import Declared, Domain, Owned, Task, Toolkit, customers, find_resource
from placet import Agent, AgentDefinition, Answer, Budget, Context, Principal, Tool, ToolError, ToolMessage
from placet.models.scripted import ScriptedModel
from placet.stores.memory import MemoryStore
from placet.values.audit import AuditKind
from placet.values.call import OK

CUSTOMER = "customer"
RAN = frozenset({OK, "tool_error"})
"""The codes of calls that ran."""
BUDGET = Budget(turns=200, calls=200, seconds=600, output_bytes=10_000_000)


def owned_by_principal(principal: Principal, resource: Owned, arguments: Any) -> bool:
    """Whether the order, the reservation or the account is the principal's own: the one rule of this proof."""
    del arguments
    return resource.user_id == principal.id


def load_resource(arguments: Any, context: Context[Toolkit]) -> Owned | None:
    """Return what the call would change."""
    return find_resource(context.deps, {name: arguments[name] for name in arguments})


def declare(declared: Declared) -> Tool:
    """Return the tool that placet is given: a write changes only what is the principal's own."""

    async def handler(arguments: dict[str, Any], context: Context[Toolkit]) -> Any:
        try:
            return context.deps.tools[declared.name](**arguments)
        except ValueError as error:
            raise ToolError(str(error)) from error

    return Tool.define(
        name=declared.name,
        description=declared.description,
        parameters=declared.parameters,
        effect="write" if declared.writes else "read",
        handler=handler,
        roles={CUSTOMER},
        resource=load_resource if declared.writes else None,
        authorise=owned_by_principal if declared.writes else None,
        max_result_bytes=1_000_000,
    )


@dataclass
class Counted:
    """What came of the calls of a domain, as one sort of principal.

    Attributes:
        calls: All of them.
        ran: Calls that did what was asked.
        failed: Calls to which the tool itself said no, a look-up that finds nothing for instance.
        writes: Calls of tools that write.
        writes_ran: Those of them that ran, whatever the tool said.
        refused: Calls that did not run, by the rule that refused them.
    """

    calls: int = 0
    ran: int = 0
    failed: int = 0
    writes: int = 0
    writes_ran: int = 0
    refused: Counter[str] = field(default_factory=Counter)

    def __add__(self, other: "Counted") -> "Counted":
        return Counted(**{name: getattr(self, name) + getattr(other, name) for name in self.__dataclass_fields__})


class Stage:
    """The tools of one domain behind the gate; tasks are played on it one after another.

    Args:
        domain: The domain.
    """

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self._tools = [declare(one) for one in domain.declared]
        self._writing = {one.name for one in domain.declared if one.writes}
        self._runner = asyncio.Runner()

    def play(self, task: Task, principal_id: str, toolkit: Toolkit) -> Counted:
        """Make all calls of a task as one customer, and count what comes of them."""
        codes, rules = self._runner.run(self._ask(task, principal_id, toolkit))
        counted = Counted(refused=Counter(rules))
        for action, code in zip(task.actions, codes, strict=True):
            ran = code in RAN
            counted.calls += 1
            counted.ran += code == OK
            counted.failed += ran and code != OK
            counted.writes += action.name in self._writing
            counted.writes_ran += ran and action.name in self._writing
        return counted

    async def _ask(self, task: Task, principal_id: str, toolkit: Toolkit) -> tuple[list[str], list[str]]:
        """Return the codes of all results, and the rules of the refusals as the audit log has them."""
        model = ScriptedModel()
        for action in task.actions:
            model.calls(action.name, action.arguments)
        model.says("Done.")
        store = MemoryStore(key=b"k" * 32)
        definition = AgentDefinition(name=self.domain.name, prompt="You help the customer.", budget=BUDGET)
        async with Agent(
            definition, tools=self._tools, model=model, store=store, secret=b"s" * 32, deps=toolkit
        ) as agent:
            outcome = await agent.ask("Please help me.", principal=Principal(principal_id, roles={CUSTOMER}))
            entries = [record.entry async for record in store.read()]
        if not isinstance(outcome, Answer):
            raise TypeError(f"task {task.id} of {self.domain.name} ended in {outcome}")
        told = [message for message in outcome.history if isinstance(message, ToolMessage)]
        refusals = [one.rule for one in entries if one.kind is AuditKind.CALL and one.decision != "allow"]
        return [result.code for message in told for result in message.results], refusals


def own_customer(task: Task, toolkit: Toolkit) -> str | None:
    """Return whose task it is: the first customer that its calls find or name; None if they name nobody."""
    for action in task.actions:
        if action.name.startswith("find_user_id"):
            try:
                found: str = toolkit.tools[action.name](**action.arguments)
            except ValueError:
                continue
            return found
        owned = find_resource(toolkit, action.arguments)
        if owned is not None:
            return owned.user_id
    return None


def other_customer(customer: str, toolkit: Toolkit) -> str:
    """Return another customer: the next one of the data."""
    known = customers(toolkit)
    return known[(known.index(customer) + 1) % len(known)]
