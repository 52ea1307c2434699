"""The skill, through the same gate as every other call."""

import asyncio
import json
from collections.abc import Mapping
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from placet import Agent, AgentDefinition, Principal, ToolResult
from placet.skills.skill import load_skill
from placet.testing import ScriptedModel
from placet.values.json import Json

TODAY = date(2026, 11, 29)


class Service:
    """A weather service that knows Oslo, and always tells a whole week."""

    def __init__(self) -> None:
        self.is_up = True

    async def forecast(self, city: str, days: int) -> Mapping[str, Any]:
        del days
        if not self.is_up:
            raise TimeoutError
        if city != "Oslo":
            return {"error": "unknown city", "nearest": ["Oslo"]}
        week = [{"date": str(TODAY + timedelta(number)), "low": -3, "high": number} for number in range(7)]
        return {"city": "Oslo", "country": "NO", "days": week}


class Office:
    def __init__(self) -> None:
        self.weather = Service()


def call(office: Office | None = None, **arguments: Json) -> ToolResult:
    tool = load_skill(Path(__file__).resolve().parent.parent).tool

    async def ask() -> ToolResult:
        definition = AgentDefinition(name="trial")
        deps = office or Office()
        async with Agent(definition, tools=[tool], model=ScriptedModel(), store="memory:", deps=deps) as agent:
            result = await agent.call("get_weather", arguments, principal=Principal("p1"))
            assert isinstance(result, ToolResult)
            return result

    return asyncio.run(ask())


def test_a_city_that_is_known_gives_a_numeric_temperature() -> None:
    result = call(city="Oslo")
    told = json.loads(result.content)

    assert result.code == "ok"
    assert told["city"] == "Oslo"
    assert isinstance(told["temperature"], float)


def test_a_city_that_is_not_known_is_a_failure_that_says_what_looks_alike() -> None:
    result = call(city="Oslp")

    assert (result.code, result.is_error) == ("tool_error", True)
    assert json.loads(result.content) == {
        "code": "unknown_city",
        "message": "there is no forecast for 'Oslp'",
        "hint": "ask which city is meant",
        "nearest": ["Oslo"],
    }


@pytest.mark.parametrize("days", [1, 3, 7])
def test_days_bound_the_forecast(days: int) -> None:
    told = json.loads(call(city="Oslo", days=days).content)

    assert [day["date"] for day in told["days"]] == [str(TODAY + timedelta(number)) for number in range(days)]


@pytest.mark.parametrize("days", [0, 8, -1, "3", 1.5, None, True])
def test_days_that_are_none_are_refused_before_anything_is_asked(days: Json) -> None:
    assert call(city="Oslo", days=days).code == "invalid_arguments"


def test_a_service_that_does_not_answer_is_said() -> None:
    office = Office()
    office.weather.is_up = False

    result = call(office, city="Oslo")

    assert result.is_error
    assert json.loads(result.content)["code"] == "no_answer"
