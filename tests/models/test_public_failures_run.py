"""What has failed elsewhere, in public, from the wire through the gate to the tool and back.

Each case is played on each wire, streamed and whole, by a local server, through the vendor's SDK.
"""

import json
from typing import Any

import pytest

from placet.runtime.sinks import ListSink
from placet.tools.tool import tool
from placet.values.audit import AuditKind
from placet.values.limits import Budget
from placet.values.outcome import Stopped
from placet.values.run import StopReason
from tests.models.dialects import CHAT, Dialect
from tests.models.public_failures import CASES, ids_of
from tests.models.runs import ask_over_wire, both, on_each_wire, results_over_wire
from tests.models.wire import WireServer, chunks, events
from tests.tools.cases import Built, build

OSLO, ROME = {"city": "Oslo", "days": 1}, {"city": "Rome", "days": 1}

RECEIVED: dict[str, list[dict[str, Any]]] = {
    "C003": [{}],
    "C005": [{}],
    "C006": [{}],
    "C007": [{}],
    "C013": [{"city": "Oslo", "days": 2}],
    "C017": [{"note": '{"k": 1}'}],
    "C018": [{"note": "12345"}],
    "C019": [{"note": "007"}],
    "C020": [{"note": "true"}],
    "C021": [{"note": "null"}],
    "C025": [OSLO],
    "C027": [{"city": "Oslo", "unit": None}],
    "C033": [OSLO],
    "C060": [OSLO, ROME],
    "C061": [{"path": "a.txt"}, {"path": "b.txt"}],
    "C066": [OSLO],
    "C067": [OSLO],
    "C068": [OSLO],
    "C076": [OSLO],
    "C091": [{}],
    "C092": [{}],
}
"""What the tool gets. All else is refused: an error for each call, nothing executed."""
STREAMED: dict[str, list[dict[str, Any]]] = {
    "C042": [OSLO],
    "C044": [OSLO, ROME],
    "C045": [OSLO, ROME],
    "C046": [OSLO, ROME],
    "C047": [OSLO, ROME],
    "C048": [OSLO],
    "C049": [OSLO],
    "C050": [OSLO],
    "C054": [OSLO],
}


def build_tool(source: str, **options: Any) -> Built:
    """A tool of a case's signature; its body notes what it gets and says so."""
    return build(source.replace("-> float", "-> str"), **options)


@both
@on_each_wire
@pytest.mark.parametrize("case_id", ids_of("openai_message"))
async def test_a_call_runs_exactly_as_said_or_not_at_all(
    wire: WireServer, dialect: Dialect, case_id: str, streamed: bool
) -> None:
    choice = CASES[case_id]["input"]["choice"]
    built = build_tool(CASES[case_id]["input"]["tools"][0])
    first = dialect.says(choice["message"], choice["finish_reason"], streamed=streamed)
    done = dialect.says("done", streamed=streamed)

    told = await results_over_wire(wire, dialect, built.tool, replies=[first, done], streamed=streamed)

    expected = RECEIVED.get(case_id, [])
    assert sorted(built.received, key=str) == sorted(expected, key=str)
    assert len(told) == len(choice["message"]["tool_calls"])
    assert sum(is_error for _, is_error in told) == len(told) - len(expected)


@pytest.mark.parametrize("case_id", STREAMED)
async def test_a_streamed_call_runs_exactly_as_said(wire: WireServer, case_id: str) -> None:
    played = CASES[case_id]["input"]
    built = build_tool(played["tools"][0])
    first = events(chunks([chunk["delta"] for chunk in played["chunks"]], played["finish_reason"]))

    await results_over_wire(wire, CHAT, built.tool, replies=[first, CHAT.says("done", streamed=True)], streamed=True)

    assert sorted(built.received, key=str) == STREAMED[case_id]


@tool(effect="read", roles={"finance"})
async def get_weather(city: str) -> str:
    """Look up the weather."""
    return city


@both
@on_each_wire
async def test_no_unknown_tool_is_given_away(wire: WireServer, dialect: Dialect, streamed: bool) -> None:
    """C071: the model hears that there is no such tool, and of none that it may not see."""
    choice = CASES["C071"]["input"]["choice"]
    seen = build_tool("def get_rate(city: str) -> float")
    first = dialect.says(choice["message"], choice["finish_reason"], streamed=streamed)
    done = dialect.says("done", streamed=streamed)

    ((text, is_error),) = await results_over_wire(
        wire, dialect, seen.tool, get_weather, replies=[first, done], streamed=streamed
    )

    assert is_error
    assert "get_wether" in text
    assert "get_weather" not in json.dumps(wire.last)


NOTED = {
    "C013": "unwrapped",
    "C025": "end token",
    "C066": "written as 'functions.get_rate'",
    "C067": "written as 'default_api.get_rate'",
    "C068": "written as 'default_api:get_rate'",
}


@both
@on_each_wire
@pytest.mark.parametrize("case_id", NOTED)
async def test_the_audit_log_says_what_was_mended_and_names_the_tool_that_ran(
    wire: WireServer, dialect: Dialect, case_id: str, streamed: bool
) -> None:
    choice, heard = CASES[case_id]["input"]["choice"], ListSink()
    built = build_tool(CASES[case_id]["input"]["tools"][0])
    first = dialect.says(choice["message"], choice["finish_reason"], streamed=streamed)
    done = dialect.says("done", streamed=streamed)

    await results_over_wire(wire, dialect, built.tool, replies=[first, done], streamed=streamed, audit=[heard])

    (entry,) = [entry for entry in heard.entries if entry.kind is AuditKind.CALL]
    assert (entry.tool, entry.decision) == ("get_rate", "allow")
    assert NOTED[case_id] in json.loads(entry.body)["note"]


@both
@on_each_wire
@pytest.mark.parametrize("case_id", ["C066", "C067", "C068"])
async def test_a_prefix_opens_no_tool_that_is_hidden(
    wire: WireServer, dialect: Dialect, case_id: str, streamed: bool
) -> None:
    """Roles are asked of the tool that would run, and what is hidden looks as if it did not exist."""
    choice = CASES[case_id]["input"]["choice"]
    built = build("def get_rate(city: str, days: int = 1) -> str", roles={"finance"})
    first = dialect.says(choice["message"], choice["finish_reason"], streamed=streamed)
    done = dialect.says("done", streamed=streamed)

    ((text, is_error),) = await results_over_wire(wire, dialect, built.tool, replies=[first, done], streamed=streamed)

    assert is_error
    assert "there is no tool" in text
    assert built.received == []


@both
@on_each_wire
async def test_calls_of_tools_that_do_not_exist_use_up_the_budget(
    wire: WireServer, dialect: Dialect, streamed: bool
) -> None:
    """C071: they count towards the limits, so a model that goes on making them comes to an end."""
    choice = CASES["C071"]["input"]["choice"]
    built = build_tool("def get_rate(city: str) -> float")
    again = dialect.says(choice["message"], choice["finish_reason"], streamed=streamed)

    outcome = await ask_over_wire(wire, dialect, built.tool, replies=[again], streamed=streamed, budget=Budget(calls=2))

    assert isinstance(outcome, Stopped)
    assert (outcome.reason, len(wire.requests)) == (StopReason.CALLS, 2)
