"""What has failed elsewhere, in public, from the wire through the gate to the tool and back.

Each case is played on each wire, streamed and whole, by a local server, through the vendor's SDK.
"""

import json
from typing import Any

import pytest

from placet.tools.tool import tool
from tests.models.dialects import CHAT, Dialect
from tests.models.public_failures import CASES, ids_of
from tests.models.runs import both, on_each_wire, results_over_wire
from tests.models.wire import WireServer, chunks, events
from tests.tools.cases import Built, build

KINDS = ("args-json", "stream-delta", "call-id", "tool-name", "history-pairing", "provider-quirk")
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
@pytest.mark.parametrize("case_id", ids_of("openai_message", KINDS))
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
