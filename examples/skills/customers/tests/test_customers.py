"""The skill, through the same gate as every other call."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from placet import Agent, AgentDefinition, Principal, ToolResult
from placet.skills.skill import load_skill
from placet.testing import ScriptedModel
from placet.values.json import Json

SUPPORT = Principal("s1", {"support"})
CUSTOMER = Principal("c17", {"customer"})


@dataclass
class Known:
    id: str
    name: str
    email: str
    status: str = "active"
    language: str = "ro"
    iban: str = "RO49AAAA1B31007593840000"


KNOWN = [Known("c17", "Ana Pop", "ana@example.org"), Known("c18", "Ana Dan", "dan@example.org", "trial")]


class Book:
    async def search(self, query: str, status: str | None, limit: int) -> Sequence[Known]:
        found = [one for one in KNOWN if query.lower() in one.name.lower() and status in (None, one.status)]
        return found[:limit]


class Office:
    customers = Book()


def call(principal: Principal, /, **arguments: Json) -> ToolResult:
    tool = load_skill(Path(__file__).resolve().parent.parent).tool

    async def ask() -> ToolResult:
        definition = AgentDefinition(name="trial")
        async with Agent(definition, tools=[tool], model=ScriptedModel(), store="memory:", deps=Office()) as agent:
            result = await agent.call("search_customers", arguments, principal=principal)
            assert isinstance(result, ToolResult)
            return result

    return asyncio.run(ask())


def test_customers_are_found_and_only_what_is_declared_is_told() -> None:
    told = json.loads(call(SUPPORT, query="ana").content)

    assert [one["id"] for one in told["customers"]] == ["c17", "c18"]
    assert set(told["customers"][0]) == {"id", "name", "email", "status", "language"}


def test_the_limit_bounds_them_and_says_that_there_are_more() -> None:
    told = json.loads(call(SUPPORT, query="ana", limit=1).content)

    assert ([one["id"] for one in told["customers"]], told["more"]) == (["c17"], True)


def test_the_status_narrows_the_search() -> None:
    assert [one["id"] for one in json.loads(call(SUPPORT, query="ana", status="trial").content)["customers"]] == ["c18"]


def test_nobody_is_an_answer_too() -> None:
    assert json.loads(call(SUPPORT, query="nobody").content) == {"customers": [], "more": False}


@pytest.mark.parametrize("arguments", [{}, {"query": "a"}, {"query": "ana", "limit": 51}, {"query": "ana", "sql": "x"}])
def test_what_is_no_question_is_refused(arguments: dict[str, Json]) -> None:
    assert call(SUPPORT, **arguments).code == "invalid_arguments"


def test_for_a_customer_there_is_no_such_tool() -> None:
    assert call(CUSTOMER, query="ana").code == "unknown_tool"
