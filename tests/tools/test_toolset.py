"""Toolset: what must hold of all tools together."""

from typing import Any

import pytest

from placet.agent.definition import AgentDefinition
from placet.errors import ConfigurationError, DuplicateToolError, ToolDefinitionError
from placet.models.scripted import ScriptedModel
from placet.tools.tool import Tool, tool
from placet.tools.toolset import Toolset
from placet.values.approval import Approval, Confirmation
from placet.values.call import ToolResult
from placet.values.principal import EVERYONE, Principal
from placet.wiring import Agent
from tests.tools.cases import CASES, build
from tests.tools.test_tool import owns


def made(name: str = "look", **options: Any) -> Tool:
    options = {"effect": "read", "roles": {EVERYONE}, **options}

    def do(order: str = "") -> str:
        return order

    return tool(name=name, description="Do it.", **options)(do)


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(DuplicateToolError, match="'look'"):
        Toolset([made(), made()])


def test_a_tool_is_found_by_its_exact_name() -> None:
    tools = Toolset([made("get_rate"), made("look")])

    found = tools.find("get_rate")
    assert found is not None
    assert found.name == "get_rate"
    for name in ("GET_RATE", "get_rat", "get_rate ", "get-rate", "", "get_rate.look", "functions.", "other.get_rate"):
        assert tools.find(name) is None


@pytest.mark.parametrize("case_id", ["C066", "C067", "C068"])
def test_a_known_prefix_before_an_exact_name_is_seen_through(case_id: str) -> None:
    (call,) = CASES[case_id]["input"]["choice"]["message"]["tool_calls"]
    tools = Toolset([build(CASES[case_id]["input"]["tools"][0]).tool])

    found = tools.find(call["function"]["name"])

    assert found is not None
    assert found.name == "get_rate"
    assert tools.find(call["function"]["name"] + "s") is None


def test_what_is_called_like_a_prefixed_name_is_itself() -> None:
    tools = Toolset([made("functions_look"), made("look")])

    assert [found.name for name in ("functions_look", "functions.look") if (found := tools.find(name))] == [
        "functions_look",
        "look",
    ]


# ── safe as declared ──────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("options", [{"roles": None}, {"roles": set()}])
def test_a_tool_that_nobody_may_call_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ToolDefinitionError, match=r"nobody may call tool 'look'.*roles=\{EVERYONE\}"):
        Toolset([made(**options)])


def test_a_policy_may_say_who_calls_it() -> None:
    assert Toolset([made(roles=None)], policy_permits={"look"}).names == ("look",)
    with pytest.raises(ToolDefinitionError):
        Toolset([made(roles=None)], policy_permits={"other"})


@pytest.mark.parametrize("effect", ["write", "destructive"])
def test_a_write_that_nothing_holds_back_is_refused(effect: str) -> None:
    with pytest.raises(ToolDefinitionError, match="nothing holds it back") as refused:
        Toolset([made(effect=effect)])
    assert ("authorise" in str(refused.value)) == (effect == "write")  # which would not do for a destructive tool


def test_a_destructive_tool_must_ask_somebody() -> None:
    with pytest.raises(ToolDefinitionError, match="asks nobody"):
        Toolset([made(effect="destructive", authorise=owns)])


@pytest.mark.parametrize(
    "options",
    [
        {"effect": "write", "authorise": owns},
        {"effect": "write", "approval": Confirmation.always()},
        {"effect": "write", "waiver": "it only writes a log line"},
        {"effect": "destructive", "approval": Approval.always(approvers={"supervisor"})},
        {"effect": "destructive", "waiver": "it only deletes what it made"},
    ],
)
def test_a_write_that_something_holds_back_is_taken(options: dict[str, Any]) -> None:
    assert len(Toolset([made(**options)])) == 1


def test_what_is_no_tool_is_refused() -> None:
    def look() -> str:
        return ""

    for given in (look, "look", 5, None):
        with pytest.raises(ToolDefinitionError, match="not declared as a tool"):
            Toolset([given])


# ── seen by roles ─────────────────────────────────────────────────────────────────────

OFFICE = Toolset([made("all"), made("pay", roles={"cashier"}), made("hire", roles={"boss", "hr"})])


@pytest.mark.parametrize(
    ("roles", "names"),
    [((), "all"), (("cashier",), "all pay"), (("boss", "cashier"), "all pay hire"), (("Boss",), "all")],
)
def test_each_sees_what_its_roles_may_call(roles: tuple[str, ...], names: str) -> None:
    assert " ".join(spec.name for spec in OFFICE.visible(frozenset(roles)).specs) == names


def test_what_is_seen_is_worked_out_once() -> None:
    assert OFFICE.visible(frozenset({"hr"})) is OFFICE.visible(frozenset({"hr"}))


def test_schemas_are_those_that_the_principal_may_see_and_made_once() -> None:
    entries: Any = OFFICE.schemas(Principal("u1", {"cashier"}))

    assert [entry["function"]["name"] for entry in entries] == ["all", "pay"]
    assert OFFICE.schemas({"cashier"}) is entries
    assert OFFICE.schemas({"cashier"}, "anthropic") is not entries
    with pytest.raises(ConfigurationError, match="no form"):
        OFFICE.schemas({"cashier"}, "cobol")


# ── together ──────────────────────────────────────────────────────────────────────────


def test_toolsets_are_combined_prefixed_and_filtered() -> None:
    left = Toolset([made("look", roles=None)], policy_permits={"look"})
    right = Toolset([made("look"), made("pay", roles={"cashier"})])

    with pytest.raises(DuplicateToolError):
        left.combine(right)
    both = left.prefix("a__").combine(right.prefix("b__"))

    assert both.names == ("a__look", "b__look", "b__pay")
    assert both.filter(lambda spec: spec.name != "b__pay").names == ("a__look", "b__look")
    assert "a__look" in both
    assert left.names == ("look",)


def test_a_prefix_that_no_provider_takes_is_refused() -> None:
    with pytest.raises(ToolDefinitionError, match=r"'crm\.look'"):
        Toolset([made()]).prefix("crm.")


async def test_tools_that_belong_to_no_agent_execute_nothing_and_say_the_mend() -> None:
    did: list[str] = []

    def look() -> str:
        did.append("looked")
        return "seen"

    tools = Toolset([tool(effect="read", roles={EVERYONE}, description="Look.")(look)])

    with pytest.raises(ConfigurationError, match=r"belong to no agent.*'look'.*agent\.tools\.execute"):
        await tools.execute("look", {}, Principal("p"))
    assert did == []


async def test_what_is_made_of_an_agent_s_tools_belongs_to_nobody() -> None:
    async with Agent(AgentDefinition(name="a"), tools=[made()], model=ScriptedModel(), store="memory:") as agent:
        result = await agent.tools.execute("look", {"order": "8842"}, Principal("p"))
        assert isinstance(result, ToolResult)
        assert result.content == "8842"

        others = (agent.tools.prefix("x_"), agent.tools.filter(lambda _: True), agent.tools.combine(Toolset(())))
        for other in others:
            with pytest.raises(ConfigurationError, match="belong to no agent"):
                await other.execute(other.names[0], {}, Principal("p"))
