"""The attack suite finds what it is for, and finds nothing in tools that are safe."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, Field

from placet.errors import ConfigurationError
from placet.gate.gate import Gate
from placet.gate.permission import check_permission
from placet.stores.memory import MemoryStore
from placet.testing.attack_suite import assert_safe, attack
from placet.tools.arguments import ArgumentReader, Arguments
from placet.tools.parameters import Loaded
from placet.tools.tool import Tool, tool
from placet.values.approval import Approval
from placet.values.decision import Deny
from placet.values.effect import Claim, ClaimAnswer, Claimed
from placet.values.json import JsonObject
from placet.values.policy import Policy, permit
from placet.values.principal import EVERYONE
from tests.runtime.conftest import BOSS, CLERK, TOOLS, Office, load_account, owns_account


async def test_safe_tools_pass_every_law() -> None:
    report = await attack(TOOLS, insider=CLERK, approver=BOSS, examples={"balance_of": {"account": "a"}}, deps=Office())

    assert_safe(report)
    assert report.skipped == {"payroll": "not open to the insider"}
    assert set(report.tried) == {
        "malformed arguments are refused",
        "a tool is hidden from those without its roles",
        "a direct write needs an idempotency key",
        "the same key runs at most once",
        "nobody but whom the tool names says yes",
        "a yes is used once",
        "limits are exact",
    }


class Lenient(ArgumentReader):
    """A reader that drops what it does not know, as many frameworks do."""

    def read(self, text: str) -> Arguments | Deny:
        read = ArgumentReader.read(self, text)
        return ArgumentReader.read(self, '{"name": "sky"}') if isinstance(read, Deny) else read

    def read_json(self, obj: JsonObject) -> Arguments | Deny:
        return self.read(str(obj))


@tool(effect="read", roles={"support"}, limit="3/minute")
async def look(name: str) -> str:
    """Look something up."""
    return name


async def test_a_reader_that_repairs_is_found() -> None:
    lenient: Tool = dataclasses.replace(look, reader=Lenient(look.reader.form))

    report = await attack([lenient], insider=CLERK)

    assert {breach.law for breach in report.breaches} == {"malformed arguments are refused"}


async def test_limits_are_tried() -> None:
    report = await attack([look], insider=CLERK)

    assert_safe(report)
    assert report.tried["limits are exact"] == 1


class Day(BaseModel):
    """Nothing that can be made up from its schema."""

    name: str = Field(pattern="^d[0-9]$")


class Open(BaseModel):
    """Takes whatever it is given beside its own."""

    model_config = ConfigDict(extra="allow")
    name: str


@tool(effect="read", roles={"support"})
async def look_at(query: Open) -> str:
    """Look something up."""
    return query.name


@tool(effect="read", roles={"support"})
async def keep(what: Any) -> str:
    """Keep something."""
    return str(what)


async def take(values: dict[str, Any]) -> str:
    return str(values)


TAKES_EVERYTHING = Tool.define(
    name="take",
    description="Takes everything.",
    parameters={"type": "object", "properties": {"name": {}}, "required": ["name"]},
    effect="read",
    handler=take,
    roles={"support"},
)


@pytest.mark.parametrize(("unchecked", "name"), [(keep, "what"), (TAKES_EVERYTHING, "name")])
async def test_an_argument_that_nobody_validates_is_found(unchecked: Tool, name: str) -> None:
    report = await attack([unchecked], insider=CLERK)

    (breach,) = report.breaches
    assert breach.what == f"an object for {name!r} was not refused"


async def test_an_argument_that_is_declared_as_an_object_is_none_of_those() -> None:
    assert_safe(await attack([look_at], insider=CLERK, examples={"look_at": {"query": {"name": "sky"}}}))


@pytest.mark.parametrize(
    ("rule", "laws"), [(owns_account, set[str]()), (lambda *_: True, {"nobody reaches what is another's"})]
)
async def test_a_rule_that_lets_everybody_through_is_found(rule: Any, laws: set[str]) -> None:
    @tool(effect="read", roles={"support"}, resource=load_account, authorise=rule)
    async def balance_of(account: str, loaded: Loaded[dict[str, Any]]) -> int:
        """Return the balance of an account."""
        return int(loaded["balance"])

    mine, others = {"balance_of": {"account": "a"}}, {"balance_of": {"account": "b"}}
    report = await attack([balance_of], insider=CLERK, examples=mine, foreign=others, deps=Office())

    assert {breach.law for breach in report.breaches} == laws


async def test_a_tool_that_could_not_be_tried_is_not_safe() -> None:
    @tool(effect="read", roles={"support"})
    async def find(codes: set[str]) -> str:
        """Find by codes."""
        return str(codes)

    @tool(effect="read", roles={"support"})
    async def show(day: Day) -> str:
        """Show a day."""
        return day.name

    report = await attack([find, show], insider=CLERK)

    assert set(report.skipped) == {"show"}
    with pytest.raises(AssertionError, match="examples"):
        assert_safe(report)


async def test_a_tool_whose_example_is_refused_was_tried_for_nothing() -> None:
    @tool(effect="read", roles={"support"}, resource=load_account, authorise=owns_account)
    async def balance_of(account: str, loaded: Loaded[dict[str, Any]]) -> int:
        """Return the balance of an account."""
        return int(loaded["balance"])

    report = await attack([look, balance_of], insider=CLERK, examples={"balance_of": {"account": "b"}}, deps=Office())

    assert set(report.skipped) == {"balance_of"}
    with pytest.raises(AssertionError, match="balance_of: its arguments are refused"):
        assert_safe(report)


@tool(effect="write", waiver="the policy says who")
async def post(text: str) -> str:
    """Post something."""
    return text


POLICY = Policy(rules=(permit("clerks", ["post", "look"], roles=["support"]),), roles=frozenset({"support"}))


async def test_a_tool_that_a_policy_alone_permits_is_tried_under_it() -> None:
    report = await attack([post, look], insider=CLERK, policy=POLICY)

    assert_safe(report)
    assert report.tried["a direct write needs an idempotency key"] == 1
    assert report.tried["a tool is hidden from those without its roles"] == 2


async def test_what_a_policy_opens_to_everybody_is_hidden_from_nobody() -> None:
    everybody = permit("everybody", ["post"], roles=[EVERYONE])

    report = await attack([post], insider=CLERK, policy=Policy(rules=(everybody,), roles=frozenset()))

    assert_safe(report)
    assert "a tool is hidden from those without its roles" not in report.tried


async def test_a_gate_that_asks_nobody_is_found() -> None:
    @tool(effect="write", roles={"support"}, approval=Approval.always(approvers={"finance"}))
    async def pay(amount: int) -> str:
        """Pay."""
        return str(amount)

    report = await attack([pay], insider=CLERK, approver=BOSS, gate=Gate((check_permission,)))

    assert {breach.law for breach in report.breaches} == {"nothing runs before its yes"}


@pytest.mark.parametrize(("amount", "tried"), [(51, True), (50, False)])
async def test_a_yes_that_is_needed_at_times_is_tried_where_the_example_needs_it(amount: int, tried: bool) -> None:
    rule = Approval.when(lambda arguments: arguments.amount > 50, approvers={"finance"})

    @tool(effect="write", roles={"support"}, approval=rule)
    async def pay(amount: int) -> str:
        """Pay."""
        return str(amount)

    report = await attack([pay], insider=CLERK, approver=BOSS, examples={"pay": {"amount": amount}})

    assert_safe(report)
    assert ("a yes is used once" in report.tried) is tried


async def test_examples_for_a_tool_that_is_not_there_are_refused() -> None:
    given: Mapping[str, Mapping[str, Any]] = {"lok": {"name": "sky"}}

    with pytest.raises(ConfigurationError, match="lok"):
        await attack([look], insider=CLERK, examples=given)


class Forgetful(MemoryStore):
    """A store that forgets what was taken, so that all may be taken again."""

    async def claim(self, claim: Claim) -> ClaimAnswer:
        del claim
        return Claimed()

    async def settle(self, *given: Any) -> None:
        del given

    async def load_run(self, run_id: str) -> None:
        del run_id


async def test_what_runs_twice_or_too_often_is_found() -> None:
    @tool(effect="write", roles={"support"}, waiver="a test", limit="3/minute")
    async def note(text: str) -> str:
        """Write a note."""
        return text

    report = await attack([look, note], insider=CLERK, make_store=Forgetful)

    assert {(breach.tool, breach.law) for breach in report.breaches} == {
        ("look", "limits are exact"),
        ("note", "limits are exact"),
        ("note", "the same key runs at most once"),
    }
