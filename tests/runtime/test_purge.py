"""What ended runs have said is forgotten; what they have done still happens no second time."""

import sqlite3
from pathlib import Path

import pytest

from placet.errors import ConfigurationError
from placet.models.scripted import ScriptedModel
from placet.runtime.sinks import ListSink
from placet.testing import FrozenClock
from placet.values.audit import AuditKind
from placet.values.call import ToolResult
from placet.values.outcome import Answer, Waiting
from tests.runtime.conftest import BOSS, CLERK, MakeAgent, Office

DAY = 24 * 3600


async def test_a_repeated_call_runs_no_second_time_although_its_result_is_gone(
    make_agent: MakeAgent, office: Office, clock: FrozenClock, heard: ListSink
) -> None:
    agent = make_agent(clock=clock)
    await agent.call("note", {"text": "x"}, principal=CLERK, key="1")
    failed = await agent.call("break_something", {"how": "knowing"}, principal=CLERK, key="2")
    clock.move(31 * DAY)

    assert isinstance(failed, ToolResult)
    assert await agent.purge("30 days") == 2
    again = await agent.call("note", {"text": "x"}, principal=CLERK, key="1")
    failed_again = await agent.call("break_something", {"how": "knowing"}, principal=CLERK, key="2")

    assert isinstance(again, ToolResult)
    assert isinstance(failed_again, ToolResult)
    assert (again.code, again.is_error) == ("ok", False)
    assert "has been purged" in again.content
    assert (failed_again.code, failed_again.is_error) == ("tool_error", True)
    assert office.done == [("note", "x"), ("break", "knowing")]
    assert [entry.decision for entry in heard.entries if entry.kind is AuditKind.PURGE] == ["purged"]


async def test_a_run_that_waits_is_kept_however_old_it_is(make_agent: MakeAgent, clock: FrozenClock) -> None:
    agent = make_agent(ScriptedModel().calls("pay", to="x", amount=5).says("ok"), clock=clock)
    waiting = await agent.ask("Pay", principal=CLERK)
    clock.move(60 * DAY)

    assert isinstance(waiting, Waiting)
    assert await agent.purge("30 days") == 0
    assert await agent.store.load_run(waiting.run_id) is not None


@pytest.mark.parametrize("age", ["0 days", 0, "soon"])
async def test_an_age_that_is_none_purges_nothing(make_agent: MakeAgent, age: str | int) -> None:
    with pytest.raises(ConfigurationError, match="length of time"):
        await make_agent().purge(age)


async def test_an_encrypted_store_carries_a_call_through_its_approval(
    make_agent: MakeAgent, office: Office, tmp_path: Path
) -> None:
    url, keys = f"sqlite:///{tmp_path}/placet.db", [b"k" * 32]
    async with make_agent(
        ScriptedModel().calls("pay", to="hunter2", amount=5), store=url, encryption_keys=keys
    ) as asking:
        waiting = await asking.ask("Pay", principal=CLERK)
    assert isinstance(waiting, Waiting)
    connection = sqlite3.connect(tmp_path / "placet.db")
    held = connection.execute("SELECT snapshot, arguments FROM run_snapshot, approval").fetchall()
    connection.close()

    async with make_agent(ScriptedModel().says("ok"), store=url, encryption_keys=keys) as elsewhere:
        (request,) = await elsewhere.approvals()
        outcome = await elsewhere.approve(waiting.approvals[0].id, by=BOSS)

    assert request.arguments == {"to": "hunter2", "amount": 5}
    assert isinstance(outcome, Answer)
    assert office.done == [("pay", "hunter2", 5)]
    assert len(held) == 1
    assert "hunter2" not in repr(held)
