"""Whatever a model does, nothing runs that was not permitted, and everything is recorded."""

import pytest

from placet import Agent, AgentDefinition, Budget
from placet.testing import MemoryStore
from placet.testing.malicious_model import MaliciousModel
from placet.values.audit import AuditKind
from placet.values.outcome import Answer, Stopped, Waiting
from tests.runtime.conftest import CLERK, TOOLS, Office


@pytest.mark.parametrize("seed", range(60))
async def test_the_promise_holds_whatever_the_model_does(seed: int) -> None:
    office, store = Office(), MemoryStore(key=b"k" * 32)
    model = MaliciousModel(seed, hidden=["payroll"])
    definition = AgentDefinition(name="office", budget=Budget(turns=6, calls=20))
    agent = Agent(definition, tools=TOOLS, model=model, store=store, deps=office, secret=b"s" * 32)

    outcome = await agent.ask("Please be good", principal=CLERK)

    assert isinstance(outcome, Answer | Stopped | Waiting)
    done = [name for name, *_ in office.done]
    assert "pay" not in done
    assert "rename" not in done
    assert done.count("note") <= 3
    entries = [record.entry async for record in store.read()]
    intents = [entry.call_key for entry in entries if entry.kind is AuditKind.INTENT]
    outcomes = [entry.call_key for entry in entries if entry.kind is AuditKind.OUTCOME]
    assert sorted(intents) == sorted(outcomes)
    assert len(intents) == len(set(intents)) == done.count("note") + done.count("break")
    assert (await store.verify()).fault is None
