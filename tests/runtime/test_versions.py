"""A write rests on the version of its resource that was authorised, at every door."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

from placet.errors import ToolDefinitionError
from placet.models.scripted import ScriptedModel
from placet.ports import Store
from placet.runtime.sinks import ListSink
from placet.testing import FrozenClock
from placet.tools.context import Context
from placet.tools.parameters import Loaded
from placet.tools.tool import Tool, tool
from placet.values.approval import Approval
from placet.values.effect import EffectState
from placet.values.outcome import Answer, Waiting
from tests.runtime.conftest import BOSS, CLERK, TOOLS, MakeAgent, Office
from tests.runtime.doors import AFTER_A_YES, DOORS, last_result
from tests.runtime.test_takeover import Dying, results

ALL = {**DOORS, **AFTER_A_YES}


async def load_box(arguments: Any, context: Context[Office]) -> dict[str, Any] | None:
    """Load the box; `meanwhile` says what others make of it just after it was looked at."""
    box = dict(context.deps.accounts["a"])
    for change in context.deps.accounts.get("meanwhile", {}).pop("changes", []):
        change(context.deps.accounts["a"])
    return box


def moves_on(box: dict[str, Any]) -> None:
    box["version"] += 1


def putting(**options: Any) -> Tool:
    """Return a tool that puts something into the box and writes down on which version."""

    @tool(effect="write", roles={"support"}, name="put", resource=load_box, version="version", **options)
    async def put(what: str, box: Loaded[dict[str, Any]], context: Context[Office]) -> str:
        """Put something into the box."""
        context.deps.done.append(("put", what, context.version))
        return f"put into version {box['version']}"

    return put


@pytest.fixture(autouse=True)
def box(office: Office) -> dict[str, Any]:
    office.accounts["a"]["version"] = 7
    return office.accounts["a"]


def and_then(office: Office, *changes: Callable[[dict[str, Any]], object]) -> None:
    """Let others change the box right after it is looked at next."""
    office.accounts["meanwhile"] = {"changes": list(changes)}


@pytest.fixture
def make_mine(make_agent: MakeAgent) -> MakeAgent:
    return partial(make_agent, tools=[*TOOLS, putting(waiver="a test")])


@pytest.mark.parametrize("door", sorted(DOORS))
async def test_a_write_to_what_has_changed_since_it_was_authorised_does_nothing_and_says_so(
    make_mine: MakeAgent, office: Office, store: Store, door: str
) -> None:
    and_then(office, moves_on)

    result = await DOORS[door](make_mine, "put", {"what": "a pen"}, CLERK)

    assert (result.is_error, result.code) == (True, "tool_error")
    assert "has changed meanwhile, and nothing was done" in result.content
    assert office.done == []
    assert [effect.state for effect in await store.list_effects()] == [EffectState.FAILED]


@pytest.mark.parametrize("door", sorted(ALL))
async def test_what_has_not_changed_is_written_and_the_tool_knows_on_which_version(
    make_mine: MakeAgent, office: Office, door: str
) -> None:
    result = await ALL[door](make_mine, "put", {"what": "a pen"}, CLERK)

    assert (result.code, result.content) == ("ok", "put into version 7")
    assert office.done == [("put", "a pen", 7)]


async def test_it_may_be_made_again_once_it_has_come_to_nothing(make_mine: MakeAgent, office: Office) -> None:
    and_then(office, moves_on)
    model = ScriptedModel().calls("put", what="a pen").calls("put", what="a pen").says("ok")

    first, second = results(await make_mine(model).ask("Put it", principal=CLERK))

    assert (first.code, second.code) == ("tool_error", "ok")
    assert office.done == [("put", "a pen", 8)]


async def test_what_is_gone_or_cannot_be_looked_at_again_is_not_written(make_mine: MakeAgent, office: Office) -> None:
    for change in (lambda box: box.pop("version"), lambda _: office.accounts.pop("a")):
        office.accounts["a"] = {"owner": "s1", "version": 7}
        and_then(office, change)
        result = await DOORS["loop"](make_mine, "put", {"what": "a pen"}, CLERK)
        assert (result.is_error, office.done) == (True, [])


async def test_a_yes_given_on_one_version_counts_for_no_other_whether_a_preview_shows_it_or_not(
    make_agent: MakeAgent, office: Office, box: dict[str, Any]
) -> None:
    asking = putting(approval=Approval.always(approvers={"finance"}))
    agent = make_agent(ScriptedModel().calls("put", what="a pen").says("ok"), tools=[asking])
    waiting = await agent.ask("Put it", principal=CLERK)
    assert isinstance(waiting, Waiting)
    moves_on(box)

    again = await agent.approve(waiting.approvals[0].token, by=BOSS)
    assert isinstance(again, Waiting)
    assert office.done == []
    ended = await agent.approve(again.approvals[0].token, by=BOSS)

    assert isinstance(ended, Answer)
    assert office.done == [("put", "a pen", 8)]


async def test_a_version_that_cannot_be_told_refuses_the_call(
    make_mine: MakeAgent, office: Office, heard: ListSink, box: dict[str, Any]
) -> None:
    del box["version"]

    result = await DOORS["loop"](make_mine, "put", {"what": "a pen"}, CLERK)

    assert (result.code, office.done) == ("check_failed", [])
    assert "KeyError" in "".join(entry.body for entry in heard.entries)


async def test_of_a_call_that_begins_again_after_a_crash_nobody_says_that_nothing_was_done(
    make_agent: MakeAgent, office: Office, clock: FrozenClock, store: Store, box: dict[str, Any]
) -> None:
    @tool(
        effect="write", roles={"support"}, name="put", waiver="a test", survival="key", resource=load_box,
        version=lambda box: box["version"],
    )  # fmt: skip
    async def put(what: str, context: Context[Office]) -> str:
        """Put something into the box, once under its key."""
        if context.idempotency_key not in context.deps.keys:
            context.deps.keys.append(context.idempotency_key)
            moves_on(box)
        return "put"

    dead = Dying(store)
    dying = make_agent(ScriptedModel().calls("put", what="a pen"), tools=[put], clock=clock, store=dead)
    run_id = dying.world.ids.new("run")
    task = asyncio.create_task(dying._ask("Put it", CLERK, (), None, None, run_id=run_id))
    await asyncio.sleep(0.05)
    assert box["version"] == 8
    clock.move(3600)
    and_then(office, moves_on)

    outcome = await make_agent(ScriptedModel().says("ok"), tools=[put], clock=clock).resume(run_id)
    dead.buried.set()
    await task

    assert last_result(outcome).content == "put"
    assert (box["version"], len(office.keys)) == (9, 1)


@dataclass
class Box:
    version: object


@pytest.mark.parametrize("version", [7, "7a", 7.5, True, None, ("a", 1)])
async def test_any_value_tells_a_version(make_agent: MakeAgent, office: Office, version: object) -> None:
    boxes = [Box(version), Box(version)]

    @tool(effect="write", roles={"support"}, waiver="a test", resource=lambda _, __: boxes.pop(), version="version")
    async def put(context: Context[Office]) -> str:
        """Put something into the box."""
        return repr(context.version)

    result = await DOORS["loop"](partial(make_agent, tools=[put]), "put", {}, CLERK)

    assert result.content == repr(version if type(version) in (int, str) else str(version))


def test_a_version_of_what_nobody_loads_does_not_build() -> None:
    with pytest.raises(ToolDefinitionError, match="resource=load_"):

        @tool(effect="read", roles={"support"}, version="version")
        async def look(what: str) -> str:
            """Look."""
            return what
