"""The office of the runtime's tests, and workflows over its agents."""

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel

from placet.agent.definition import AgentDefinition
from placet.models.scripted import ScriptedModel
from placet.ports import Store
from placet.runtime.sinks import ListSink
from placet.workflow import Workflow
from tests.runtime.conftest import SECRET, MakeAgent, Office, clock, heard, make_agent, office, store

__all__ = ["clock", "heard", "make_agent", "office", "store"]


class Draft(BaseModel):
    """The state of most workflows here."""

    question: str = ""
    plan: str = ""
    text: str = ""
    approved: bool = False
    log: list[str] = []


MakeWorkflow = Callable[..., Workflow[Draft]]
MakeNamed = Callable[[str, ScriptedModel], Any]


@pytest.fixture
def make_workflow(store: Store, office: Office, heard: ListSink) -> MakeWorkflow:
    def make(*stages: Any, **options: Any) -> Workflow[Draft]:
        given = {"state": Draft, "store": store, "deps": office, "audit": [heard], "secret": SECRET, **options}
        return Workflow("flow", stages=stages, **given)

    return make


@pytest.fixture
def named(make_agent: MakeAgent) -> MakeNamed:
    """Make an agent of the office by its name and its script."""

    def make(name: str, model: ScriptedModel) -> Any:
        return make_agent(model, definition=AgentDefinition(name=name))

    return make
