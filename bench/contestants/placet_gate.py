"""placet with everything on: roles, strict arguments, gate, output schema, fence, sealed audit records.

Arguments: `memory` keeps the audit log in memory, `sqlite` in a file (WAL, NORMAL: it survives a
killed process, not a power cut), `intent` the same with a write, whose intent is stored before
and whose outcome after it (FULL).
"""

import json
import sys
import tempfile
from pathlib import Path

from pydantic import BaseModel

from bench.contestants.looping import Run, mark, measures_of
from bench.contestants.serving import serve
from placet import Agent, AgentDefinition, Budget, Principal, Tool, tool
from placet.ports import Finish, ModelAnswer, ModelRequest, OnText, Store
from placet.stores.memory import MemoryStore
from placet.stores.sqlite import SqliteStore
from placet.values.call import ToolCall

KIND = sys.argv[1] if len(sys.argv) > 1 else "memory"
CLERK = Principal("s1", roles={"support"})
TURNS = 1000


class Stock(BaseModel):
    """What the tool gives back."""

    product: str
    units: int


async def check_stock(product: str, limit: int) -> Stock:
    """Return how many units of a product there are."""
    return Stock(product=product, units=42 + limit)


def make_tool(name: str) -> Tool:
    if KIND == "intent":
        return tool(effect="write", roles={"support"}, waiver="a bench", name=name)(check_stock)
    return tool(effect="read", roles={"support"}, name=name)(check_stock)


FOLDER = tempfile.TemporaryDirectory(prefix="placet-bench-")
_stores = 0


def make_store() -> Store:
    global _stores  # noqa: PLW0603 - a counter of this program
    _stores += 1
    if KIND == "memory":
        return MemoryStore(key=b"k" * 32)
    return SqliteStore(Path(FOLDER.name) / f"{_stores}.db", key=b"k" * 32)


ARGUMENTS = [json.dumps({"product": "arroz", "limit": 5 + n}) for n in range(50)]


class Scripted:
    """Plays a script, from its first answer again for each question."""

    name, writes_prose = "scripted:bench", True

    def __init__(self, turns: list[int]) -> None:
        self.turns = turns
        self.turn = 0

    async def answer(self, _: ModelRequest, on_text: OnText | None = None) -> ModelAnswer:  # noqa: ARG002 - the port's
        mark()
        turn, self.turn = self.turn, self.turn + 1
        if turn >= len(self.turns):
            self.turn = 0
            return ModelAnswer(text="Temos 47 unidades.")
        return ModelAnswer(
            calls=tuple(
                # Writes of one turn differ, or the ledger would rightly hold them back while one of them runs.
                ToolCall(f"call_{turn}_{n}", "check_stock", ARGUMENTS[n])
                for n in range(self.turns[turn])
            ),
            finish=Finish.CALLS,
        )


_agents: list[Agent] = []


def make(turns: list[int], tools: int) -> Run:
    budget = Budget(turns=TURNS, calls=TURNS * 50, parallel=50, output_bytes=10_000_000, seconds=3600)
    definition = AgentDefinition(name="bench", prompt="You answer questions about stock.", budget=budget)
    names = ["check_stock", *(f"t{number}" for number in range(tools - 1))]
    agent = Agent(
        definition,
        tools=[make_tool(name) for name in names],
        model=Scripted(turns),
        store=make_store(),
        secret=b"s" * 32,
    )
    _agents.append(agent)
    return lambda: agent.ask("how much rice?", principal=CLERK)


async def close() -> None:
    while _agents:
        await _agents.pop().close()


if __name__ == "__main__":
    serve(measures_of(make, close))
