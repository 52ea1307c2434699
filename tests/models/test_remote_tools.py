"""Tools that come from elsewhere, called by models: on each wire, streamed and whole."""

import json
from typing import Any

import pytest

from placet.errors import DuplicateToolError
from placet.tools.context import Context
from placet.tools.source import ToolSource
from placet.tools.tool import Tool
from placet.tools.toolset import Toolset
from placet.values.principal import EVERYONE
from tests.models.dialects import Dialect
from tests.models.public_failures import CASES, ids_of
from tests.models.runs import both, call, calling, on_each_wire, results_over_wire
from tests.models.wire import WireServer

Ran = list[tuple[str, str, dict[str, Any]]]
"""Source, exact name and arguments of each remote call."""


def remote_tool(ran: Ran, source: str, name: str, *, prefix: bool = False) -> Tool:
    """A tool of a source that writes down what it was asked to run."""

    async def run(called: str, arguments: dict[str, Any], _context: Context[Any]) -> str:
        ran.append((source, called, arguments))
        return f"{source}: {called}"

    return ToolSource(source, run, prefix=prefix).tool(
        name,
        description="Do it.",
        parameters={"type": "object", "properties": {"n": {"type": "integer"}}},
        effect="read",
        roles={EVERYONE},
    )


def names_sent(dialect: Dialect, body: Any) -> list[str]:
    """The names under which a request offers its tools."""
    return [entry["function"]["name"] if dialect.name == "chat" else entry["name"] for entry in body["tools"]]


async def call_each(wire: WireServer, dialect: Dialect, tools: list[Tool], *, streamed: bool) -> list[tuple[str, bool]]:
    """What the model is told when it calls each tool that it was offered, under the name that was offered."""
    names = [made.name for made in tools]
    calls = [call(f"c{place}", name, f'{{"n": {place}}}') for place, name in enumerate(names)]
    replies = calling(dialect, *calls, streamed=streamed)

    told = await results_over_wire(wire, dialect, *tools, replies=replies, streamed=streamed)

    assert [names_sent(dialect, request.body) for request in wire.requests] == [names] * 2
    sent_back = json.dumps(wire.last)
    assert all(f'"{name}"' in sent_back for name in names)
    return told


def test_every_case_of_remote_tools_is_tried() -> None:
    assert ids_of("mcp_tools", ("tool-name",)) == ["C074", "C075"]


NAMES = {
    "C074": CASES["C074"]["input"]["names"],
    "all of them would collapse onto one": ["a.b", "a/b", "a b", "a:b", "a_b"],
    "letters that only look the same": ["list", "\u013aist", "l\u0456st"],
    "no letter that a provider takes": ["\u67e5\u8be2", "\u5929\u6c14", "///", "..."],
    "longer than a provider takes": ["x" * 64, "x" * 65, "x" * 66, "x" * 200],
    "in capitals": ["Send_Email", "send_email", "SEND_EMAIL"],
    "what models put before a name": ["functions.get", "get", "default_api:get"],
    "a digit at the start": ["2fa", "_2fa"],
    "the alias of its sibling": ["admin.tools/list", "admin_tools_list_148795b5318fbc58ed7e"],
}


@both
@on_each_wire
@pytest.mark.parametrize("prefix", [False, True], ids=["plain", "prefixed"])
@pytest.mark.parametrize("label", NAMES)
async def test_every_remote_tool_is_usable_and_runs_under_its_exact_name(
    wire: WireServer, dialect: Dialect, label: str, prefix: bool, streamed: bool
) -> None:
    """C074."""
    names, ran = NAMES[label], Ran()
    tools = [remote_tool(ran, "adm", name, prefix=prefix) for name in names]

    told = await call_each(wire, dialect, tools, streamed=streamed)

    assert sorted(ran, key=str) == sorted([("adm", name, {"n": place}) for place, name in enumerate(names)], key=str)
    assert [(f"adm: {name}" in text, is_error) for name, (text, is_error) in zip(names, told, strict=True)] == [
        (True, False)
    ] * len(names)


@both
@on_each_wire
async def test_two_servers_may_have_a_tool_of_one_name_where_the_server_stands_before_it(
    wire: WireServer, dialect: Dialect, streamed: bool
) -> None:
    """C075, with prefixes."""
    servers, ran = CASES["C075"]["input"]["servers"], Ran()
    tools = [remote_tool(ran, source, name, prefix=True) for source, names in servers.items() for name in names]

    told = await call_each(wire, dialect, tools, streamed=streamed)

    assert [made.name for made in tools] == ["a__send_email", "b__send_email"]
    assert sorted(ran, key=str) == [("a", "send_email", {"n": 0}), ("b", "send_email", {"n": 1})]
    assert [text.splitlines()[1] for text, _ in told] == ["a: send_email", "b: send_email"]


@pytest.mark.parametrize("turned", [False, True])
def test_without_prefixes_two_tools_of_one_name_are_an_error_at_the_build(turned: bool) -> None:
    """C075, without: whichever comes last, none wins, and no request is ever made."""
    servers, ran = CASES["C075"]["input"]["servers"], Ran()
    tools = [remote_tool(ran, source, name) for source, names in servers.items() for name in names]

    with pytest.raises(DuplicateToolError, match=r"'send_email' \([ab]: 'send_email', [ab]: 'send_email'\).*prefix"):
        Toolset(reversed(tools) if turned else tools)


@both
@on_each_wire
async def test_a_model_that_writes_the_exact_remote_name_runs_nothing(
    wire: WireServer, dialect: Dialect, streamed: bool
) -> None:
    """It was offered the alias; a name that nobody was offered is an unknown tool, whatever it means elsewhere."""
    ran = Ran()
    tools = [remote_tool(ran, "adm", name) for name in ("admin.tools/list", "functions.list", "list")]
    names = ("admin.tools/list", "adm.list", "adm__list", "admin_tools_list")
    calls = [call(f"c{place}", name) for place, name in enumerate(names)]
    replies = calling(dialect, *calls, streamed=streamed)

    told = await results_over_wire(wire, dialect, *tools, replies=replies, streamed=streamed)

    assert ran == []
    assert [is_error for _, is_error in told] == [True] * len(names)
