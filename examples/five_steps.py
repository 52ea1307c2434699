"""The five steps of function calling, each printed as it happens.

1. the tools go out with the question
2. the model answers with calls
3. the calls run, behind the gate
4. their results go back
5. the model answers in words

Run it with any model: `python examples/five_steps.py openai:NAME` (and OPENAI_API_KEY set),
`anthropic:NAME`, `openai-compatible:NAME@http://127.0.0.1:8080/v1` …
"""

import asyncio
import sys
from collections.abc import Callable

from placet import Agent, AgentDefinition, Answer, Principal, ToolMessage, tool
from placet.models.open import open_model
from placet.ports import ModelAnswer, ModelClient, ModelRequest, OnText
from placet.values.principal import EVERYONE

TEMPERATURES = {"Oslo": 4, "Rome": 19}
QUESTION = "How warm is it in Oslo and in Rome? Look up both at once."


@tool(effect="read", roles={EVERYONE})
async def get_temperature(city: str) -> str:
    """Look up how warm it is in a city now, in degrees Celsius."""
    print(f"3. get_temperature runs for {city}")
    return str(TEMPERATURES.get(city, "unknown"))


class Watched:
    """A model client that says what passes through it."""

    def __init__(self, model: ModelClient, say: Callable[[str], None]) -> None:
        self.name = model.name
        self.writes_prose = model.writes_prose
        self._model = model
        self._say = say

    async def answer(self, request: ModelRequest, on_text: OnText | None = None) -> ModelAnswer:
        said = request.transcript[-1]
        if isinstance(said, ToolMessage):
            self._say(f"4. {len(said.results)} results go back, in the order of the calls")
        else:
            self._say(f"1. the question goes out with the tools {[spec.name for spec in request.tools.specs]}")
        answer = await self._model.answer(request, on_text)
        for call in answer.calls:
            self._say(f"2. the model calls {call.name} with {call.arguments}")
        if not answer.calls:
            self._say(f"5. the model says: {answer.text}")
        return answer


async def take_five_steps(model: ModelClient, say: Callable[[str], None] = print) -> str:
    """Return the model's last words."""
    agent = Agent(
        AgentDefinition(name="thermometer", prompt="Answer in one short sentence."),
        tools=[get_temperature],
        model=Watched(model, say),
        store="memory:",
    )
    async with agent:
        outcome = await agent.ask(QUESTION, principal=Principal("you", roles=set()))
    assert isinstance(outcome, Answer), outcome
    return outcome.text


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    asyncio.run(take_five_steps(open_model(sys.argv[1])))
