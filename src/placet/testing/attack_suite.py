"""The laws of the gate, tried against a toolset of your own.

```python
from placet.testing.attack_suite import attack, assert_safe

async def test_my_tools_are_safe() -> None:
    clerk, boss = Principal("s1", roles={"support"}), Principal("f1", roles={"finance"})
    foreign = {"show_order": {"order": "of somebody else"}}
    report = await attack(MY_TOOLS, insider=clerk, approver=boss, foreign=foreign)
    assert_safe(report)
```

Nothing real runs: each tool's code is replaced by a counter, while its schema, roles, limits,
loader, rules and approvals stay as they are, and the policy and the gate with them. Each law is
tried on every tool that the insider may call, and each breach says which tool did what. A tool whose
example is refused has been tried for nothing, and `assert_safe` says so.
"""

import dataclasses
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from placet.agent.definition import AgentDefinition
from placet.errors import ConfigurationError
from placet.gate.gate import Gate
from placet.gate.policy import is_open
from placet.gate.rate_limit import what_it_takes
from placet.models.scripted import ScriptedModel
from placet.parts import choose_tools, read_policy
from placet.ports import Store
from placet.stores.memory import MemoryStore
from placet.testing.sample_arguments import sample, takes_object
from placet.tools.tool import Tool
from placet.tools.toolset import Toolset
from placet.values.approval import Yes
from placet.values.call import ToolResult
from placet.values.decision import Deny, Reason
from placet.values.limits import Budget
from placet.values.message import ToolMessage
from placet.values.outcome import Outcome, Refused, Waiting
from placet.values.policy import Policy
from placet.values.principal import Principal
from placet.wiring import Agent

OUTSIDER: Final = Principal("an-outsider")
"""A principal without any role."""

_CLOSED: Final = "not open to the insider"
_NO_ARGUMENTS: Final = "no valid arguments known: give examples={…}"

MANY: Final = 50
"""How many calls are asked at once against a limit."""


@dataclass(frozen=True, slots=True)
class Breach:
    """A law that did not hold.

    Attributes:
        law: Which.
        tool: Of which tool.
        what: What happened.
    """

    law: str
    tool: str
    what: str


@dataclass(slots=True)
class AttackReport:
    """What the attacks have shown.

    Attributes:
        tried: How often each law was tried.
        breaches: Where one did not hold.
        skipped: Tools that could not be tried, and why; give examples for them.
    """

    tried: dict[str, int] = field(default_factory=dict[str, int])
    breaches: list[Breach] = field(default_factory=list[Breach])
    skipped: dict[str, str] = field(default_factory=dict[str, str])


@dataclass(slots=True)
class _Trial:
    """One tool on trial."""

    tool: Tool
    arguments: Mapping[str, Any]
    insider: Principal
    approver: Principal | None
    deps: Any
    foreign: Mapping[str, Any] | None
    make_store: Callable[[], Store]
    policy: Policy | None
    gate: Gate | None
    report: AttackReport
    runs: list[object] = field(default_factory=list[object])

    @property
    def name(self) -> str:
        return self.tool.spec.name

    def agent(self, model: ScriptedModel) -> Agent:
        async def count(value: object, _resource: object, _context: object) -> str:
            self.runs.append(value)
            return "counted"

        harmless = dataclasses.replace(self.tool, execute=count, is_async=True, output=_AS_TEXT.output)
        budget = Budget(turns=10, calls=MANY * 2, parallel=8)
        return Agent(
            AgentDefinition(name="attack", budget=budget),
            tools=[harmless],
            model=model,
            store=self.make_store(),
            deps=self.deps,
            policy=self.policy,
            gate=self.gate,
        )

    def check(self, law: str, *, holds: bool, what: str) -> None:
        self.report.tried[law] = self.report.tried.get(law, 0) + 1
        if not holds:
            self.report.breaches.append(Breach(law, self.name, what))

    async def raw(self, text: str, principal: Principal | None = None, name: str | None = None) -> ToolResult | None:
        """Return what becomes of a call with these raw arguments, or None when it waits for a person."""
        agent = self.agent(ScriptedModel().calls_raw(name or self.name, text).says("ok"))
        outcome = await agent.ask("attack", principal=principal or self.insider)
        return None if isinstance(outcome, Waiting | Refused) else _results(outcome)[-1]


async def attack(  # noqa: PLR0913 - whatever has a say in what the tools may do
    tools: Toolset | Iterable[Tool],
    *,
    insider: Principal,
    approver: Principal | None = None,
    examples: Mapping[str, Mapping[str, Any]] | None = None,
    foreign: Mapping[str, Mapping[str, Any]] | None = None,
    deps: Any = None,
    policy: Policy | Path | str | None = None,
    product: str = "",
    gate: Gate | None = None,
    make_store: Callable[[], Store] = MemoryStore,
) -> AttackReport:
    """Return what happens when each tool that the insider may call is attacked.

    Args:
        tools: The tools.
        insider: A principal who may call them.
        approver: Somebody who may approve what needs it.
        examples: Valid arguments by tool; made up from the schema where there are none.
        foreign: By tool, valid arguments that lead to what is not the insider's.
        deps: What loaders and previews find as `context.deps`.
        policy: Who may call what, as the agent has it.
        product: For which product the policy file is read.
        gate: What decides; the standard checks by default.
        make_store: Makes an empty store for each attack; give your own to try it too.

    Raises:
        ConfigurationError: Examples or foreign arguments are for a tool that is not there.
        PolicyError: The policy names what does not exist.
    """
    report = AttackReport()
    rules = read_policy(policy, product)
    toolset = choose_tools(tools, AgentDefinition(name="attack"), rules)
    unknown = sorted({*(examples or {}), *(foreign or {})} - {tool.spec.name for tool in toolset})
    if unknown:
        raise ConfigurationError(f"examples or foreign arguments are for {unknown}, which the toolset does not hold")
    for tool in toolset:
        if not is_open(tool.spec, insider, rules):
            report.skipped[tool.spec.name] = _CLOSED
            continue
        arguments = (examples or {}).get(tool.spec.name) or sample(tool.spec.input_schema)
        if isinstance(tool.reader.read_json(arguments), Deny):
            report.skipped[tool.spec.name] = _NO_ARGUMENTS
            continue
        trial = _Trial(
            tool=tool,
            arguments=arguments,
            insider=insider,
            approver=approver,
            deps=deps,
            foreign=(foreign or {}).get(tool.spec.name),
            make_store=make_store,
            policy=_of_one_tool(rules, tool.spec.name),
            gate=gate,
            report=report,
        )
        fine = await trial.raw(json.dumps(dict(arguments)))
        if fine is not None and fine.is_error:
            report.skipped[tool.spec.name] = (
                f"its arguments are refused ({fine.code}): give examples={{…}} with which the insider may call it"
            )
            continue
        for law in _LAWS:
            await law(trial)
    return report


def _of_one_tool(policy: Policy | None, name: str) -> Policy | None:
    """Return what a policy says of one tool, as if there were no other."""
    if policy is None:
        return None
    rules = tuple(replace(rule, tools=frozenset({name})) for rule in policy.rules if name in rule.tools)
    return replace(policy, rules=rules)


def assert_safe(report: AttackReport) -> None:
    """Fail with every breach, and when a tool that is open to the insider could not be tried.

    Raises:
        AssertionError: A law did not hold, or was not tried.
    """
    if report.breaches:
        lines = [f"{breach.tool}: {breach.law}: {breach.what}" for breach in report.breaches]
        raise AssertionError("laws of the gate did not hold:\n" + "\n".join(lines))
    untried = [f"{name}: {why}" for name, why in sorted(report.skipped.items()) if why != _CLOSED]
    if untried:
        raise AssertionError("tools that could not be tried:\n" + "\n".join(untried))
    if not report.tried:
        raise AssertionError(f"nothing was tried: {report.skipped}")


# ── laws ──────────────────────────────────────────────────────────────────────────────


async def _malformed(trial: _Trial) -> None:
    good = json.dumps(dict(trial.arguments))
    broken = {
        "an extra argument": json.dumps({**trial.arguments, "evil_extra_argument": 2}),
        "two objects glued together": good + good,
        "a cut object": good[:-1],
        "text after the object": good + " and then run it",
        "an array": f"[{good}]",
        "not a number": '{"x": NaN}',
    }
    schema: Mapping[str, Any] = trial.tool.spec.input_schema
    takes_objects: set[str] = set()
    for name in trial.arguments:
        if takes_object(schema.get("properties", {}).get(name), schema.get("$defs", {})):
            takes_objects.add(f"an object for {name!r}")
        broken[f"a repeated {name!r}"] = good[:-1] + f", {json.dumps(name)}: {json.dumps(trial.arguments[name])}}}"
        broken[f"an object for {name!r}"] = json.dumps({**trial.arguments, name: {"evil": [{}]}})
    for what, text in broken.items():
        before = len(trial.runs)
        result = await trial.raw(text)
        holds = len(trial.runs) == before and result is not None and result.code == Reason.INVALID_ARGUMENTS
        if what in takes_objects:
            continue
        trial.check("malformed arguments are refused", holds=holds, what=f"{what} was not refused")


async def _hidden(trial: _Trial) -> None:
    if is_open(trial.tool.spec, OUTSIDER, trial.policy):
        return
    good, before = json.dumps(dict(trial.arguments)), len(trial.runs)
    hidden = await trial.raw(good, OUTSIDER)
    unknown = await trial.raw(good, OUTSIDER, name=trial.name[:-1] + ("x" if trial.name[-1] != "x" else "y"))
    same = hidden is not None and unknown is not None and hidden.code == unknown.code == Reason.UNKNOWN_TOOL
    law = "a tool is hidden from those without its roles"
    trial.check(law, holds=same and len(trial.runs) == before, what="an outsider learnt that it exists, or ran it")


async def _foreign(trial: _Trial) -> None:
    if trial.foreign is None:
        return
    before = len(trial.runs)
    result = await trial.raw(json.dumps(dict(trial.foreign)))
    holds = result is not None and result.is_error and len(trial.runs) == before
    trial.check("nobody reaches what is another's", holds=holds, what="it ran, or asked to run, for the insider")


async def _keyless(trial: _Trial) -> None:
    if not trial.tool.spec.has_effect:
        return
    before = len(trial.runs)
    agent = trial.agent(ScriptedModel())
    result = await agent.call(trial.name, dict(trial.arguments), principal=trial.insider)
    holds = isinstance(result, Refused) and len(trial.runs) == before
    trial.check("a direct write needs an idempotency key", holds=holds, what="it ran without one")


async def _repeated(trial: _Trial) -> None:
    if not trial.tool.spec.has_effect or trial.tool.spec.approval is not None:
        return
    before = len(trial.runs)
    agent = trial.agent(ScriptedModel())
    for _ in range(3):
        await agent.call(trial.name, dict(trial.arguments), principal=trial.insider, key="the-same-key")
    ran = len(trial.runs) - before
    trial.check("the same key runs at most once", holds=ran <= 1, what=f"it ran {ran} times")


async def _unapproved(trial: _Trial) -> None:
    approval = trial.tool.spec.approval
    if approval is None:
        return
    before = len(trial.runs)
    model = ScriptedModel().calls_all([(trial.name, dict(trial.arguments))]).says("ok").says("ok")
    agent = trial.agent(model)
    waiting = await agent.ask("attack", principal=trial.insider)
    if not isinstance(waiting, Waiting) and approval.condition is not None:
        return  # it asks for no yes with these arguments
    if not isinstance(waiting, Waiting):
        trial.check("nothing runs before its yes", holds=len(trial.runs) == before, what="it ran without any")
        return
    pending = waiting.approvals[0]
    await agent.approve(pending.token, by=Principal(trial.insider.id, trial.insider.roles | pending.approvers))
    await agent.approve(pending.token, by=OUTSIDER)
    await agent.confirm(pending.token, by=OUTSIDER)
    law = "nobody but whom the tool names says yes"
    trial.check(law, holds=len(trial.runs) == before, what="the requester or an outsider opened it")
    if pending.yes is Yes.APPROVE and trial.approver is None:
        return
    for _ in range(3):
        if pending.yes is Yes.CONFIRM:
            await agent.confirm(pending.token, by=trial.insider)
        elif trial.approver is not None:
            await agent.approve(pending.token, by=trial.approver)
    ran = len(trial.runs) - before
    trial.check("a yes is used once", holds=ran <= 1, what=f"it ran {ran} times")


async def _limited(trial: _Trial) -> None:
    takes = what_it_takes(trial.tool.spec, trial.insider.id, trial.arguments)
    counted = [take for take in takes if take.amount] if not isinstance(takes, Deny) else []
    if not counted or trial.tool.spec.approval is not None:
        return
    before = len(trial.runs)
    calls = [(trial.name, dict(trial.arguments))] * MANY
    agent = trial.agent(ScriptedModel().calls_all(calls).says("ok"))
    if trial.tool.spec.has_effect:  # side by side, calls that are alike wait for each other
        for number in range(MANY):
            await agent.call(trial.name, dict(trial.arguments), principal=trial.insider, key=f"key-{number}")
    else:
        await agent.ask("attack", principal=trial.insider)
    ran, most = len(trial.runs) - before, min(int(take.at_most / take.amount) for take in counted)
    trial.check("limits are exact", holds=ran <= most, what=f"{ran} of {MANY} ran, {most} may")


_LAWS: Final[tuple[Callable[[_Trial], Awaitable[None]], ...]] = (
    _malformed,
    _hidden,
    _foreign,
    _keyless,
    _repeated,
    _unapproved,
    _limited,
)


def _results(outcome: Outcome) -> list[ToolResult]:
    if isinstance(outcome, Refused):
        raise ConfigurationError(f"the attack could not begin: {outcome.message}")
    return [result for message in outcome.history if isinstance(message, ToolMessage) for result in message.results]


def _as_text() -> Tool:
    async def counted(value: str) -> str:
        return value

    return Tool.define(
        name="counted",
        description="Counts.",
        parameters={"type": "object", "properties": {}},
        effect="read",
        handler=counted,
        roles={"*"},
    )


_AS_TEXT: Final = _as_text()
"""Its output says plain text, whatever the tool on trial declares."""
