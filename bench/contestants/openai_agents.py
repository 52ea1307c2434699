"""openai-agents, bare: its agent, its loop, no gate, tracing off, nothing recorded."""

from collections.abc import AsyncIterator
from typing import Any

from agents import Agent, Model, ModelResponse, Runner, Usage, function_tool, set_tracing_disabled
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText
from pydantic import BaseModel

from bench.contestants.looping import Run, mark, measures_of
from bench.contestants.serving import serve


class Stock(BaseModel):
    """What the tool gives back."""

    product: str
    units: int


async def check_stock(product: str, limit: int) -> Stock:
    """Return how many units of a product there are."""
    return Stock(product=product, units=42 + limit)


class Scripted(Model):  # type: ignore[misc]  # of a package that is not here
    """Plays a script, from its first answer again for each question."""

    def __init__(self, turns: list[int]) -> None:
        self.turns = turns
        self.turn = 0

    async def get_response(self, *_: Any, **__: Any) -> ModelResponse:
        mark()
        turn, self.turn = self.turn, self.turn + 1
        if turn >= len(self.turns):
            self.turn = 0
            words = ResponseOutputText(text="Temos 47 unidades.", type="output_text", annotations=[])
            message = ResponseOutputMessage(
                id="m", content=[words], role="assistant", status="completed", type="message"
            )
            return ModelResponse(output=[message], usage=Usage(), response_id=None)
        calls = [
            ResponseFunctionToolCall(
                arguments='{"product":"arroz","limit":5}', call_id=f"call_{turn}_{n}", name="check_stock",
                type="function_call",
            )
            for n in range(self.turns[turn])
        ]  # fmt: skip
        return ModelResponse(output=[*calls], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
        raise AssertionError("nobody streams here")


def make(turns: list[int], tools: int) -> Run:
    names = ["check_stock", *(f"t{number}" for number in range(tools - 1))]
    built = [function_tool(check_stock, name_override=name) for name in names]
    agent = Agent(name="bench", instructions="Stock.", tools=[*built], model=Scripted(turns))
    return lambda: Runner.run(agent, "how much rice?", max_turns=1000)


if __name__ == "__main__":
    set_tracing_disabled(disabled=True)
    serve(measures_of(make))
