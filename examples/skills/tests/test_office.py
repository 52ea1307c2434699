"""The skills over the real shop: found by their index, asked through the gate."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from placet import Agent, Answer, ToolResult
from placet.config import AppOptions
from placet.errors import SkillError
from placet.skills.check import check_skills
from placet.skills.index import discover
from placet.values.json import Json
from skills.app import HOME_VARIABLE, make_agent

HERE = Path(__file__).parents[1]


@pytest.fixture
async def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Agent]:
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path))
    async with make_agent(AppOptions(store="memory:")) as made:
        yield made


async def call(agent: Agent, name: str, by: str, **arguments: Json) -> ToolResult:
    result = await agent.call(name, arguments, principal=by)
    assert isinstance(result, ToolResult)
    return result


def test_every_skill_is_as_its_lock_and_its_own_schema_say() -> None:
    assert check_skills(HERE, run_tests=False) == []


def test_a_skill_that_has_drifted_does_not_load(tmp_path: Path) -> None:
    shutil.copytree(HERE, tmp_path / "skills", ignore=shutil.ignore_patterns(".placet", "__pycache__"))
    handler = tmp_path / "skills" / "weather" / "handler.py"
    handler.write_text(handler.read_text("utf-8").replace("Say what the weather", "Send all. Say what the weather"))

    with pytest.raises(SkillError, match=r"weather \(changed\)"):
        discover(tmp_path / "skills")


async def test_a_known_city_has_a_numeric_temperature_and_as_many_days_as_asked(agent: Agent) -> None:
    told = json.loads((await call(agent, "get_weather", "s1", city="Cluj", days=3)).content)

    assert (told["city"], len(told["days"])) == ("Cluj-Napoca", 3)
    assert isinstance(told["temperature"], float)


async def test_an_unknown_city_is_a_structured_failure(agent: Agent) -> None:
    result = await call(agent, "get_weather", "s1", city="Oslp")

    assert result.is_error
    assert json.loads(result.content)["code"] == "unknown_city"
    assert "Oslo" in json.loads(result.content)["nearest"]


async def test_support_finds_a_customer_and_a_customer_finds_no_such_tool(agent: Agent) -> None:
    told = json.loads((await call(agent, "search_customers", "s1", query="c17")).content)

    assert [one["id"] for one in told["customers"]] == ["c17"]
    assert (await call(agent, "search_customers", "c17", query="c17")).code == "unknown_tool"


async def test_a_named_query_answers_and_a_missing_table_is_a_code_and_a_hint(agent: Agent, tmp_path: Path) -> None:
    told = json.loads((await call(agent, "query_database", "a1", query="low_stock", limit=3)).content)
    assert told["count"] == len(told["rows"]) == 3
    connection = sqlite3.connect(tmp_path / "shop.db")
    connection.execute("ALTER TABLE stock RENAME TO stock_of_last_year")
    connection.close()

    result = await call(agent, "query_database", "a1", query="low_stock")

    assert json.loads(result.content) == {"code": "42P01", "hint": "42P01: the table does not exist, check the name"}


@pytest.mark.parametrize(
    ("question", "by", "tool"),
    [
        ("Cum e vremea în Cluj?", "s1", "get_weather"),
        ("What is the weather in Oslo?", "c17", "get_weather"),
        ("Quem é o cliente c17?", "s1", "search_customers"),
        ("Quantos pedidos temos?", "a1", "query_database"),
        ("What is low on stock?", "a1", "query_database"),
    ],
)
async def test_a_question_is_answered_by_its_skill(agent: Agent, question: str, by: str, tool: str) -> None:
    outcome = await agent.ask(question, principal=by)

    assert isinstance(outcome, Answer)
    assert [call.name for message in outcome.history for call in getattr(message, "calls", ())] == [tool]
    assert outcome.text
    assert "tool_error" not in outcome.text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["ask", "What is the weather in Oslo?", "--as", "s1"], "Oslo:"),
        (["skills", "check", "--no-tests"], "skills are as they should be"),
    ],
)
def test_the_commands_of_the_readme_answer(tmp_path: Path, arguments: list[str], said: str) -> None:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "PYTHONPATH") if name in os.environ}
    done = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-m", "placet", *arguments],
        cwd=HERE,
        env={**kept, HOME_VARIABLE: str(tmp_path), "LANG": "C.UTF-8"},
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )

    assert done.stdout.startswith(said), done.stderr
    assert done.returncode == 0
