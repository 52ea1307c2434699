"""Whatever somebody has written, model, person, tool or stranger, it can be stored, decided and read again."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from placet.agent.definition import AgentDefinition
from placet.models.scripted import ScriptedModel
from placet.tools.context import Context
from placet.tools.tool import tool
from placet.values.approval import Approval
from placet.values.call import ToolResult
from placet.values.decision import Reason
from placet.values.outcome import Answer, Refused, Waiting
from placet.values.principal import Principal
from placet.wiring import Agent

CLERK, BOSS = Principal("s1", {"support"}), Principal("f1", {"finance"})

ODD = {
    "NUL": "a\x00b",
    "NUL alone": "\x00",
    "control characters": "a\x01\x07\x1b[2J\x7f\x9fb",
    "bidi and invisible": "\u202egnp.exe\u200b\ufeff",
    "line ends": "a\r\nb\u2028c\u2029d\x85e",
    "outside the first plane": "🍸\U0001d518 \U0010ffff",
    "no characters": "\ufffe\uffff\ufdd0",
    "escapes": r"\u0000 \x00 \\ \" ' %s {x} $1 :a ?",
    "SQL": "'; DROP TABLE placet.runs; --",
    "long": "é" * 5_000,
}


@tool(effect="write", roles={"support"}, approval=Approval.always(approvers={"finance"}))
async def write_down(text: str, notes: dict[str, str], context: Context[list[str]]) -> dict[str, str]:
    """Write a text down."""
    context.deps.append(text)
    return {**notes, "text": text}


@tool(effect="read", roles={"support"})
def repeat(text: str) -> str:
    """Repeat a text."""
    return text


@pytest.fixture(params=["memory", "sqlite", "postgres"])
async def make(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Callable[..., Agent]]:
    store = {"memory": "memory:", "sqlite": f"sqlite:///{tmp_path / 'placet.db'}"}.get(request.param)
    made: list[Agent] = []

    def build(model: ScriptedModel, deps: list[str]) -> Agent:
        where = store or request.getfixturevalue("postgres_url")
        tools = [write_down, repeat]
        agent = Agent(
            AgentDefinition(name="odd"), tools=tools, model=model, store=where, deps=deps, secret=b"s" * 32, audit=()
        )
        made.append(agent)
        return agent

    yield build
    for agent in made:
        await agent.close()


@pytest.fixture
def postgres_url(postgres: str) -> str:
    from psycopg.conninfo import conninfo_to_dict  # noqa: PLC0415 - only where PostgreSQL is asked for

    found: dict[str, Any] = conninfo_to_dict(postgres)
    user, place = found.get("user", ""), found.get("host", "")
    port = f"&port={found['port']}" if "port" in found else ""
    return f"postgresql://{user}@/{found['dbname']}?host={place}{port}"


@pytest.mark.parametrize("odd", ODD)
async def test_an_odd_text_is_approved_written_and_read_again(make: Callable[..., Agent], odd: str) -> None:
    text, written = ODD[odd], list[str]()
    model = ScriptedModel().calls("write_down", text=text, notes={text: text}).calls("repeat", text=text).says(text)
    agent = make(model, written)

    waiting = await agent.ask(f"Write {text}", principal=CLERK)
    assert isinstance(waiting, Waiting), waiting
    (listed,) = await agent.approvals()
    assert text in str(listed.arguments["text"] if isinstance(listed.arguments, dict) else text)
    outcome = await agent.approve(waiting.approvals[0].token, by=BOSS)

    assert isinstance(outcome, Answer), outcome
    assert written == [text]
    assert await agent.report(outcome.run_id)
    assert (await agent.store.verify()).fault is None


HALVES = {"half a character": "a\ud800b", "two halves": "\ud83c\udf78", "huge": "é" * 1_000_000}
"""What Python holds and no JSON from a model can say, or may."""


@pytest.mark.parametrize("odd", HALVES)
async def test_an_odd_question_is_answered(make: Callable[..., Agent], odd: str) -> None:
    agent = make(ScriptedModel().calls("repeat", text="x").says("ok"), [])

    outcome = await agent.ask(HALVES[odd], principal=CLERK)

    assert isinstance(outcome, Answer), outcome
    assert await agent.report(outcome.run_id)
    assert (await agent.store.verify()).fault is None


@pytest.mark.parametrize("odd", [*ODD, *HALVES])
async def test_an_odd_approval_is_none(make: Callable[..., Agent], odd: str) -> None:
    agent = make(ScriptedModel(), [])

    outcome = await agent.approve((ODD | HALVES)[odd], by=BOSS)

    assert isinstance(outcome, Refused)
    assert outcome.reason is Reason.NOT_FOUND


@pytest.mark.parametrize("odd", [*ODD, *HALVES])
async def test_an_odd_reason_is_kept(make: Callable[..., Agent], odd: str) -> None:
    agent = make(ScriptedModel().calls("write_down", text="x", notes={}).says("ok"), [])
    waiting = await agent.ask("Write", principal=CLERK)
    assert isinstance(waiting, Waiting)

    outcome = await agent.reject(waiting.approvals[0].token, by=BOSS, reason=(ODD | HALVES)[odd])

    assert isinstance(outcome, Answer), outcome
    assert await agent.report(outcome.run_id)


@pytest.mark.parametrize("odd", ODD)
async def test_an_odd_direct_call_is_answered_once(make: Callable[..., Agent], odd: str) -> None:
    agent = make(ScriptedModel(), [])

    first = await agent.call("repeat", {"text": ODD[odd]}, principal=CLERK, key=ODD[odd][:50])
    again = await agent.call("repeat", {"text": ODD[odd]}, principal=CLERK, key=ODD[odd][:50])

    assert isinstance(first, ToolResult), first
    assert isinstance(again, ToolResult), again
    assert again.content == first.content
