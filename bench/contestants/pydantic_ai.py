"""pydantic-ai-slim, bare: its agent, its loop, no gate, nothing recorded."""

from pydantic import BaseModel
from pydantic_ai import Agent, Tool
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.usage import UsageLimits

from bench.contestants.looping import Run, mark, measures_of
from bench.contestants.serving import serve


class Stock(BaseModel):
    """What the tool gives back."""

    product: str
    units: int


async def check_stock(product: str, limit: int) -> Stock:
    """Return how many units of a product there are."""
    return Stock(product=product, units=42 + limit)


def make(turns: list[int], tools: int) -> Run:
    def play(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        mark()
        turn = sum(isinstance(message, ModelResponse) for message in messages)
        if turn >= len(turns):
            return ModelResponse(parts=[TextPart("Temos 47 unidades.")])
        arguments = '{"product":"arroz","limit":5}'
        return ModelResponse(
            parts=[ToolCallPart("check_stock", arguments, tool_call_id=f"call_{turn}_{n}") for n in range(turns[turn])]
        )

    names = ["check_stock", *(f"t{number}" for number in range(tools - 1))]
    agent = Agent(FunctionModel(play), instructions="Stock.", tools=[Tool(check_stock, name=name) for name in names])
    limits = UsageLimits(request_limit=None)
    return lambda: agent.run("how much rice?", usage_limits=limits)


if __name__ == "__main__":
    serve(measures_of(make))
