from dataclasses import dataclass

import pytest
from pydantic import BaseModel, Field

from placet.errors import ConfigurationError
from placet.models.scripted import ScriptedModel
from placet.values.event import OutputDelta
from placet.values.message import UserMessage
from placet.values.outcome import Answer, Stopped, Waiting
from placet.values.run import StopReason
from tests.runtime.conftest import BOSS, CLERK, MakeAgent


class Product(BaseModel):
    name: str
    units: int = Field(ge=0)


GOOD = '{"name": "rice", "units": 42}'


@pytest.mark.parametrize("reply", [GOOD, f"```json\n{GOOD}\n```\n", f"  {GOOD}\n"])
async def test_the_last_word_is_a_validated_object(make_agent: MakeAgent, reply: str) -> None:
    model = ScriptedModel().calls("look", name="rice").says(reply)

    outcome = await make_agent(model).ask("How much rice?", principal=CLERK, output=Product)

    assert isinstance(outcome, Answer)
    assert outcome.output == Product(name="rice", units=42)
    assert model.requests[0].output_schema is not None


async def test_an_answer_that_does_not_fit_is_asked_again_field_by_field(make_agent: MakeAgent) -> None:
    model = ScriptedModel().says('{"name": "rice", "units": -1, "colour": "white"}').says(GOOD)

    outcome = await make_agent(model).ask("How much rice?", principal=CLERK, output=Product)

    assert isinstance(outcome, Answer)
    assert outcome.output == Product(name="rice", units=42)
    asked = model.requests[1].transcript[-1]
    assert isinstance(asked, UserMessage)
    assert not asked.by_person
    assert "units" in asked.text
    assert "colour" in asked.text


async def test_a_model_that_never_fits_ends_in_a_typed_failure(make_agent: MakeAgent) -> None:
    model = ScriptedModel(cycle=True).says("there is plenty")

    outcome = await make_agent(model).ask("How much rice?", principal=CLERK, output=Product)

    assert isinstance(outcome, Stopped)
    assert outcome.reason is StopReason.OUTPUT
    assert len(model.requests) == 3


async def test_an_object_somewhere_in_a_reply_is_not_looked_for(make_agent: MakeAgent) -> None:
    model = ScriptedModel().says(f"I think {GOOD} is right").says(GOOD)

    await make_agent(model).ask("How much rice?", principal=CLERK, output=Product)

    assert len(model.requests) == 2


async def test_an_output_that_was_asked_for_survives_a_wait_in_another_process(make_agent: MakeAgent) -> None:
    waiting = await make_agent(ScriptedModel().calls("pay", to="x", amount=1)).ask(
        "Pay", principal=CLERK, output=Product
    )
    assert isinstance(waiting, Waiting)

    elsewhere = make_agent(ScriptedModel().says("done!").says(GOOD))
    outcome = await elsewhere.approve(waiting.approvals[0].id, by=BOSS)

    assert isinstance(outcome, Answer)
    assert outcome.output == {"name": "rice", "units": 42}


async def test_the_object_shows_while_it_streams(make_agent: MakeAgent) -> None:
    agent = make_agent(ScriptedModel().says(GOOD), output=Product)

    events = [event async for event in agent.stream("How much rice?", principal=CLERK)]

    partial = [event.partial for event in events if isinstance(event, OutputDelta)]
    assert partial[-1] == {"name": "rice", "units": 42}
    assert len(partial) > 1


@dataclass
class Pair:
    left: int
    right: int


@pytest.mark.parametrize(
    ("kind", "reply", "value"),
    [
        (Pair, '{"left": 1, "right": 2}', Pair(1, 2)),
        ({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}, '{"a": "b"}', {"a": "b"}),
    ],
)
async def test_dataclasses_and_schemas_will_do_too(
    make_agent: MakeAgent, kind: object, reply: str, value: object
) -> None:
    outcome = await make_agent(ScriptedModel().says(reply)).ask("?", principal=CLERK, output=kind)

    assert isinstance(outcome, Answer)
    assert outcome.output == value


async def test_what_is_no_object_is_no_output(make_agent: MakeAgent) -> None:
    with pytest.raises(ConfigurationError, match="not a type of output"):
        await make_agent().ask("?", principal=CLERK, output=list[int])
