"""What has failed elsewhere, in public: a container around an agent that led past the person who has to say yes."""

from collections.abc import Callable
from typing import Any

import pytest

from placet.models.scripted import ScriptedModel
from placet.values.outcome import Waiting
from placet.workflow import AgentStage, Loop, Parallel, Sequence
from tests.runtime.conftest import BOSS, CLERK, Office
from tests.workflow.conftest import MakeNamed, MakeWorkflow

CONTAINERS: dict[str, Callable[[Any, Any], Any]] = {
    "parallel": lambda one, two: Parallel([one, two]),
    "sequence": lambda one, two: Sequence([one, two]),
    "loop": lambda one, two: Loop([one, two], until=lambda _context, _state: True, max_iterations=1),
    "parallel in a sequence": lambda one, two: Sequence([Parallel([one]), two]),
    "sequences side by side": lambda one, two: Parallel([Sequence([one], name="a"), Sequence([two], name="b")]),
}


@pytest.mark.parametrize("container", CONTAINERS)
async def test_no_container_leads_past_the_person(
    named: MakeNamed, make_workflow: MakeWorkflow, office: Office, container: str
) -> None:
    """C129, C130: the call waits before the body, and runs once for its yes."""
    paying = ScriptedModel().calls("pay", to="a", amount=10).says("paid")
    one = AgentStage(named("one", paying), into="plan")
    two = AgentStage(named("two", ScriptedModel(cycle=True).says("written")), into="text")
    flow = make_workflow(CONTAINERS[container](one, two))

    waiting = await flow.ask("Go", principal=CLERK)

    assert isinstance(waiting, Waiting), waiting
    assert [pending.tool for pending in waiting.approvals] == ["pay"]
    assert not office.done
    await flow.approve(waiting.approvals[0].token, by=BOSS)
    await flow.approve(waiting.approvals[0].token, by=BOSS)
    assert office.done == [("pay", "a", 10)]
