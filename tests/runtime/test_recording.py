"""Nothing runs unrecorded: what a store that fails means for reads and for writes."""

import asyncio
import contextlib
import logging

import pytest

from placet.errors import StoreError
from placet.models.scripted import ScriptedModel
from placet.ports import Store
from placet.runtime.sinks import ListSink
from placet.tools.context import Context
from placet.tools.tool import tool
from placet.values.audit import AuditEntry, AuditKind
from placet.values.call import ToolResult
from placet.values.effect import Claim, ClaimAnswer, EffectState
from placet.values.outcome import Answer, Waiting
from tests.runtime.conftest import BOSS, CLERK, MakeAgent, Office
from tests.runtime.doors import digests_kept_by


class Failing:
    """A store that fails at one verb."""

    def __init__(self, store: Store, verb: str) -> None:
        self._store = store
        self._verb = verb

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)

    async def append(self, *entries: AuditEntry) -> None:
        if self._verb == "append":
            raise StoreError("disk full")
        await self._store.append(*entries)

    async def claim(self, claim: Claim) -> ClaimAnswer:
        if self._verb == "claim":
            raise StoreError("disk full")
        return await self._store.claim(claim)

    async def settle(self, key: str, state: EffectState, result: str | None, entry: AuditEntry) -> None:
        if self._verb == "settle":
            raise StoreError("disk full")
        await self._store.settle(key, state, result, entry)


async def test_a_reads_result_that_cannot_be_recorded_is_withheld_and_counted(
    make_agent: MakeAgent, store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    agent = make_agent(store=Failing(store, "append"))

    with caplog.at_level(logging.ERROR, "placet"):
        result = await agent.call("look", {"name": "sky"}, principal=CLERK)

    assert isinstance(result, ToolResult)
    assert result.code == "unrecorded"
    assert "blue" not in result.content
    assert agent.world.losses == {AuditKind.CALL: 1}
    assert "could not record" in caplog.text


async def test_a_reads_result_may_be_released_counted_and_loud(
    make_agent: MakeAgent, store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    agent = make_agent(store=Failing(store, "append"), release_unrecorded_reads=True)

    with caplog.at_level(logging.ERROR, "placet"):
        result = await agent.call("look", {"name": "sky"}, principal=CLERK)

    assert isinstance(result, ToolResult)
    assert result.content == "sky is blue"
    assert agent.world.losses == {AuditKind.CALL: 1}
    assert "could not record" in caplog.text


async def test_a_write_whose_intent_cannot_be_stored_does_not_run(
    make_agent: MakeAgent, store: Store, office: Office
) -> None:
    agent = make_agent(ScriptedModel().calls("note", text="x").says("ok"), store=Failing(store, "claim"))

    assert isinstance(await agent.ask("Hi", principal=CLERK), Answer)
    assert not office.done


async def test_a_write_whose_outcome_cannot_be_stored_keeps_its_result_and_is_not_repeated(
    make_agent: MakeAgent, store: Store, office: Office, caplog: pytest.LogCaptureFixture
) -> None:
    failing = make_agent(store=Failing(store, "settle"))

    with caplog.at_level(logging.ERROR, "placet"):
        first = await failing.call("note", {"text": "x"}, principal=CLERK, key="1")
    again = await make_agent().call("note", {"text": "x"}, principal=CLERK, key="2")

    assert isinstance(first, ToolResult)
    assert first.content == "noted"
    assert isinstance(again, ToolResult)
    assert again.code == "effect_running"
    assert office.done == [("note", "x")]
    assert failing.world.losses == {AuditKind.OUTCOME: 1}


def test_of_a_tool_that_is_not_known_only_the_names_of_arguments_are_shown(make_agent: MakeAgent) -> None:
    world = make_agent().world

    assert world.redacted(None, {"iban": "RO49AAAA1B31007593840000"}) == {"iban": "[redacted]"}


@pytest.mark.parametrize("open_world", [False, True])
async def test_a_read_that_calls_out_stores_its_intent_first(
    make_agent: MakeAgent, store: Store, office: Office, open_world: bool
) -> None:
    @tool(effect="read", roles={"support"}, open_world=open_world)
    async def fetch(name: str, context: Context[Office]) -> str:
        """Fetch something from outside."""
        context.deps.done.append(("fetch", name))
        return "fetched"

    agent = make_agent(store=Failing(store, "claim"), tools=[fetch])

    result = await agent.call("fetch", {"name": "x"}, principal=CLERK)

    assert isinstance(result, ToolResult)
    assert office.done == ([] if open_world else [("fetch", "x")])
    assert result.code == ("unrecorded" if open_world else "ok")


async def test_no_digest_of_arguments_leaves_in_a_record_or_a_report(make_agent: MakeAgent, heard: ListSink) -> None:
    agent = make_agent(ScriptedModel().calls("pay", to="x", amount=5).calls("note", text="y").says("ok"))
    waiting = await agent.ask("Pay", principal=CLERK)
    assert isinstance(waiting, Waiting)
    await agent.approve(waiting.approvals[0].id, by=BOSS)

    digests = await digests_kept_by(agent)
    told = repr([entry async for entry in agent.store.read()]) + repr(heard.entries)
    told += repr(await agent.report(waiting.run_id))
    assert len(digests) == 2
    assert [digest for digest in digests if digest in told] == []


async def test_how_a_write_ends_that_was_given_up_is_added_to_what_is_known(
    make_agent: MakeAgent, store: Store, heard: ListSink, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("placet.runtime.execute.GRACE", 0.02)
    end = asyncio.Event()

    @tool(effect="write", roles={"support"}, waiver="a test", timeout=0.02)
    async def stubborn() -> str:
        """Be cancelled by nobody."""
        while not end.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await end.wait()
        return "done at last"

    agent = make_agent(tools=[stubborn])
    result = await agent.call("stubborn", {}, principal=CLERK, key="1")
    (before,) = await store.list_effects()
    end.set()
    await asyncio.sleep(0.02)
    await agent.world.settle_late_endings()
    (after,) = await store.list_effects()

    assert isinstance(result, ToolResult)
    assert result.code == "timeout"
    assert (before.state, after.state) == (EffectState.UNKNOWN, EffectState.DONE)
    assert [entry.decision for entry in heard.entries if entry.tool == "stubborn"] == ["allow", "unknown", "late"]
