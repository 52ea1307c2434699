"""Half a key is not recognised as one: what is long is redacted before it is cut."""

import pytest

from placet.models.scripted import ScriptedModel
from placet.runtime.sinks import ListSink
from tests.runtime.conftest import CLERK, MakeAgent

KEY = "ghp_Xq7Kz9Wv3Rt5Lm2PXq7Kz9Wv3Rt5Lm2P"


@pytest.mark.parametrize("lead", [3985, 3992, 3996])
async def test_no_half_of_a_secret_in_a_question_is_recorded(make_agent: MakeAgent, heard: ListSink, lead: int) -> None:
    agent = make_agent(ScriptedModel().says("Done."))

    await agent.ask("x" * (lead - 1) + " " + KEY, principal=CLERK)

    assert "ghp_" not in "".join(entry.body for entry in heard.entries)


@pytest.mark.parametrize("lead", [1985, 1992, 1996])
async def test_no_half_of_a_secret_in_an_answer_is_recorded(make_agent: MakeAgent, heard: ListSink, lead: int) -> None:
    agent = make_agent(ScriptedModel().says("x" * (lead - 1) + " " + KEY))

    await agent.ask("Which key?", principal=CLERK)

    assert "ghp_" not in "".join(entry.body for entry in heard.entries)
