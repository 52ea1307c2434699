"""What becomes of one call: laws of the one path, through every door."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from placet.models.scripted import ScriptedModel
from placet.ports import Finish, ModelAnswer, StoredRun
from placet.runtime.sinks import ListSink
from placet.stores.memory import MemoryStore
from placet.tools.context import Context
from placet.tools.tool import Tool, tool
from placet.values.audit import AuditKind
from placet.values.call import ToolCall, ToolResult
from placet.values.event import CallFinished
from placet.values.message import ToolMessage
from placet.values.outcome import Answer, Refused
from placet.values.principal import Principal
from placet.wiring import Agent
from tests.runtime.conftest import CLERK, TOOLS, MakeAgent, Office
from tests.runtime.doors import DOORS

Call = Callable[..., Awaitable[ToolResult]]


@pytest.fixture(params=sorted(DOORS))
def call(request: pytest.FixtureRequest, make_agent: MakeAgent) -> Call:
    door = DOORS[request.param]

    async def through_the_door(tool: str, principal: Principal = CLERK, **arguments: Any) -> ToolResult:
        return await door(make_agent, tool, arguments, principal)

    return through_the_door


async def test_an_unknown_tool_and_a_hidden_one_are_refused_in_the_same_words(call: Call) -> None:
    unknown, hidden = await call("payrull"), await call("payroll")

    assert unknown.code == hidden.code == "unknown_tool"
    assert unknown.content.replace("payrull", "X") == hidden.content.replace("payroll", "X")
    assert "look" in unknown.content


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({}, "name"),
        ({"name": "sky", "evil": 2}, "evil"),
        ({"nam": "sky"}, "name"),
        ({"name": 5}, "name"),
        ({"name": "sky", "context": {"principal": "boss"}}, "context"),
    ],
)
async def test_arguments_that_do_not_fit_are_refused_and_nothing_runs(
    call: Call, office: Office, arguments: dict[str, Any], complaint: str
) -> None:
    result = await call("look", **arguments)

    assert result.code == "invalid_arguments"
    assert complaint in result.content
    assert not office.done


async def test_a_foreign_resource_and_a_missing_one_look_the_same(call: Call) -> None:
    foreign, missing = await call("balance_of", account="b"), await call("balance_of", account="zzz")

    assert (foreign.code, foreign.content) == (missing.code, missing.content)


async def test_what_a_tool_says_itself_reaches_the_model_as_written(call: Call) -> None:
    result = await call("break_down", how="knowing")

    assert result.content == "city not found: 'Oslp' (use the English name)"
    assert (result.is_error, result.code) == (True, "tool_error")


async def test_any_other_exception_reaches_the_model_as_a_code_and_a_reference_only(
    call: Call, heard: ListSink
) -> None:
    result = await call("break_down", how="by surprise")

    assert (result.is_error, result.code) == (True, "internal_error")
    assert "hunter2" not in result.content
    reference = result.content.split("reference ")[1].split(")")[0]
    (entry,) = [entry for entry in heard.entries if reference in entry.body and entry.kind is AuditKind.CALL]
    assert "ValueError" in entry.body
    assert "hunter2" not in entry.body


async def test_tool_output_is_fenced_with_a_marker_of_its_own(call: Call) -> None:
    first, second = await call("look", name="sky"), await call("look", name="sea")

    assert first.fence
    assert first.fence != second.fence


async def test_a_write_is_recorded_before_and_after(call: Call, heard: ListSink) -> None:
    await call("note", text="hello")

    kinds = [entry.kind for entry in heard.entries if entry.tool == "note"]
    assert kinds == [AuditKind.INTENT, AuditKind.OUTCOME]


async def test_a_refusal_is_recorded_with_its_rule(call: Call, heard: ListSink) -> None:
    await call("payroll")

    (entry,) = [entry for entry in heard.entries if entry.tool == "payroll"]
    assert (entry.tool, entry.decision, entry.rule) == ("payroll", "unknown_tool", "hidden by role")


async def test_a_call_that_was_cut_off_is_not_executed(make_agent: MakeAgent, office: Office) -> None:
    model = ScriptedModel().calls_raw("note", '{"text": "hel').says("ok")

    outcome = await make_agent(model).ask("Hi", principal=CLERK)

    assert isinstance(outcome, Answer)
    assert not office.done


async def test_a_call_that_cannot_be_known_is_not_executed_although_it_would_parse(
    make_agent: MakeAgent, office: Office
) -> None:
    call = ToolCall("c1", "note", '{"text": "hello"}', fault="the reply was cut at the token limit")
    model = ScriptedModel().does(lambda _: ModelAnswer(calls=(call,), finish=Finish.LENGTH)).says("ok")

    outcome = await make_agent(model).ask("Hi", principal=CLERK)

    assert isinstance(outcome, Answer)
    message = next(message for message in outcome.history if isinstance(message, ToolMessage))
    assert message.results[0].code == "cut_off"
    assert not office.done


async def test_three_of_twenty_run_when_the_limit_is_three_and_they_are_the_first(
    make_agent: MakeAgent, office: Office
) -> None:
    model = ScriptedModel().calls_all([("note", {"text": str(number)}) for number in range(20)]).says("ok")

    outcome = await make_agent(model).ask("Hi", principal=CLERK)

    assert isinstance(outcome, Answer)
    assert office.done == [("note", "0"), ("note", "1"), ("note", "2")]
    message = next(message for message in outcome.history if isinstance(message, ToolMessage))
    assert [result.code for result in message.results] == ["ok"] * 3 + ["limit_reached"] * 17


async def test_a_write_that_fails_by_surprise_is_unknown_and_blocks_its_like_everywhere(
    make_agent: MakeAgent, office: Office
) -> None:
    agent = make_agent()
    first = await agent.call("break_something", {"how": "x"}, principal=CLERK, key="1")
    second = await agent.call("break_something", {"how": "x"}, principal=CLERK, key="2")
    other = await agent.call("break_something", {"how": "knowing"}, principal=CLERK, key="3")

    assert isinstance(first, ToolResult)
    assert "not known whether it had an effect" in first.content
    assert isinstance(second, ToolResult)
    assert second.code == "effect_unknown"
    assert isinstance(other, ToolResult)
    assert other.code == "tool_error"
    assert office.done == [("break", "x"), ("break", "knowing")]


async def test_a_write_without_a_key_is_refused_at_the_direct_door(make_agent: MakeAgent, office: Office) -> None:
    result = await make_agent().call("note", {"text": "x"}, principal=CLERK)

    assert isinstance(result, Refused)
    assert result.reason == "key_required"
    assert not office.done


@pytest.mark.parametrize("again", [50, 50.0])
async def test_what_nobody_knows_blocks_its_like_however_a_number_is_written(
    make_agent: MakeAgent, office: Office, again: float
) -> None:
    async def fail(arguments: Any, context: Context[Office]) -> str:
        context.deps.done.append(arguments["amount"])
        raise OSError("connection reset")

    form = {"type": "object", "properties": {"amount": {"type": "number"}}, "required": ["amount"]}
    wire = Tool.define(
        name="wire", description="Wire.", parameters=form, effect="write", handler=fail, roles={"support"}, waiver="x"
    )
    agent = make_agent(tools=[wire])
    await agent.call("wire", {"amount": 50}, principal=CLERK, key="1")

    result = await agent.call("wire", {"amount": again}, principal=CLERK, key="2")

    assert isinstance(result, ToolResult)
    assert result.code == "effect_unknown"
    assert len(office.done) == 1


async def test_the_same_key_gives_the_recorded_result_and_another_call_under_it_a_conflict(
    make_agent: MakeAgent, office: Office
) -> None:
    agent = make_agent()
    first = await agent.call("note", {"text": "x"}, principal=CLERK, key="1")
    again = await agent.call("note", {"text": "x"}, principal=CLERK, key="1")
    other = await agent.call("note", {"text": "y"}, principal=CLERK, key="1")

    assert first == again
    assert isinstance(other, Refused)
    assert other.reason == "key_conflict"
    assert office.done == [("note", "x")]


class Distant(MemoryStore):
    """A store that takes a moment to say which runs there are, as one over a network does."""

    async def load_run(self, run_id: str) -> StoredRun | None:
        found = await super().load_run(run_id)
        await asyncio.sleep(0.001)
        return found


async def test_of_many_that_come_at_once_with_one_key_one_runs_and_its_result_stands(
    make_agent: MakeAgent, office: Office
) -> None:
    store = Distant(key=b"k" * 32)

    @tool(effect="write", roles={"support"}, waiver="a test")
    async def lend(context: Context[Office]) -> str:
        """Lend something."""
        context.deps.done.append(("lent",))
        await asyncio.sleep(0.01)
        return "lent"

    agents = [make_agent(tools=[lend], store=store) for _ in range(2)]
    together = await asyncio.gather(*[agent.call("lend", {}, principal=CLERK, key="1") for agent in agents * 5])
    later = await agents[0].call("lend", {}, principal=CLERK, key="1")

    assert office.done == [("lent",)]
    assert isinstance(later, ToolResult)
    assert later.code == "ok"
    assert later in together
    others = [one for one in together if one != later]
    assert {one.reason for one in others if isinstance(one, Refused)} <= {"effect_running"}
    assert not [one for one in others if not isinstance(one, Refused)]


async def test_who_watches_learns_no_more_than_the_model(make_agent: MakeAgent) -> None:
    def finished(name: str, **arguments: Any) -> Any:
        async def watch() -> list[tuple[str, str]]:
            agent = make_agent(ScriptedModel().calls(name, **arguments).says("ok"))
            events = [event async for event in agent.stream("Hi", principal=CLERK)]
            return [(event.code, event.rule) for event in events if isinstance(event, CallFinished)]

        return watch()

    assert await finished("payroll") == await finished("payrull") == [("unknown_tool", "")]
    assert (
        await finished("balance_of", account="b") == await finished("balance_of", account="zz") == [("not_found", "")]
    )


async def test_a_key_stands_for_a_call_of_one_tool(make_agent: MakeAgent, office: Office) -> None:
    @tool(effect="write", roles={"support"}, waiver="a test")
    async def jot(context: Context[Office], text: str) -> str:
        """Write it down elsewhere."""
        context.deps.done.append(("jot", text))
        return "jotted"

    agent = make_agent(tools=[*TOOLS, jot])
    await agent.call("note", {"text": "x"}, principal=CLERK, key="1")
    other = await agent.call("jot", {"text": "x"}, principal=CLERK, key="1")

    assert isinstance(other, ToolResult)
    assert other.content == "jotted"
    assert office.done == [("note", "x"), ("jot", "x")]


@pytest.mark.parametrize("door", sorted(DOORS))
async def test_what_nobody_knows_blocks_its_like_through_every_door(
    make_agent: MakeAgent, office: Office, door: str
) -> None:
    await make_agent().call("break_something", {"how": "x"}, principal=CLERK, key="first")

    result = await DOORS[door](make_agent, "break_something", {"how": "x"}, CLERK)

    assert result.code == "effect_unknown"
    assert office.done == [("break", "x")]


@pytest.mark.parametrize("door", sorted(DOORS))
async def test_what_is_running_blocks_its_like_through_every_door(
    make_agent: MakeAgent, office: Office, door: str
) -> None:
    begun, end = asyncio.Event(), asyncio.Event()

    @tool(effect="write", roles={"support"}, waiver="a test", timeout=60)
    async def wait(context: Context[Office], how: str) -> str:
        """Take a long time."""
        context.deps.done.append(("wait", how))
        if not begun.is_set():
            begun.set()
            await end.wait()
        return "waited"

    def agent(*arguments: Any, **options: Any) -> Agent:
        return make_agent(*arguments, **{**options, "tools": [wait, *TOOLS, *options.get("tools", ())]})

    first = asyncio.create_task(agent().call("wait", {"how": "x"}, principal=CLERK, key="first"))
    await begun.wait()
    result = await DOORS[door](agent, "wait", {"how": "x"}, CLERK)
    end.set()
    await first

    assert result.code in ("effect_running", "effect_unknown")  # the clock of a takeover is far ahead
    assert office.done == [("wait", "x")]
