"""agent-framework-core, bare: its agent, its loop, no gate, nothing recorded."""

from typing import Any

from agent_framework import Agent, BaseChatClient, ChatResponse, Content, FunctionInvocationLayer, Message, tool
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


class Scripted(BaseChatClient):  # type: ignore[misc]  # of a package that is not here
    """Plays a script, from its first answer again for each question."""

    def __init__(self, turns: list[int]) -> None:
        super().__init__()
        self.turns = turns

    async def _inner_get_response(self, *, messages: Any, **_: Any) -> Any:
        mark()
        turn = sum(message.role == "assistant" for message in messages)
        if turn >= len(self.turns):
            return ChatResponse(messages=[Message(role="assistant", contents=["Temos 47 unidades."])])
        calls = [
            Content.from_function_call(f"call_{turn}_{n}", "check_stock", arguments='{"product":"arroz","limit":5}')
            for n in range(self.turns[turn])
        ]
        return ChatResponse(messages=[Message(role="assistant", contents=calls)])


class Client(FunctionInvocationLayer, Scripted):  # type: ignore[misc]
    """The same, with the framework's own loop around it."""

    def __init__(self, turns: list[int]) -> None:
        options: dict[str, Any] = {"turns": turns, "function_invocation_configuration": {"max_iterations": 1000}}
        super().__init__(**options)


def make(turns: list[int], tools: int) -> Run:
    names = ["check_stock", *(f"t{number}" for number in range(tools - 1))]
    agent = Agent(Client(turns), "You answer questions about stock.", tools=[tool(check_stock, name=n) for n in names])
    return lambda: agent.run("how much rice?")


if __name__ == "__main__":
    serve(measures_of(make))
