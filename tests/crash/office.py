"""An office whose tools survive a crash in one declared way, and the agent over it that each process builds anew."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, cast

from placet.agent.definition import AgentDefinition
from placet.models.scripted import ScriptedModel
from placet.ports import ModelAnswer, ModelRequest, Store
from placet.runtime.keys import Keys
from placet.stores.postgres import PostgresStore
from placet.stores.sqlite import SqliteStore
from placet.testing import FrozenClock
from placet.tools.context import Context
from placet.tools.tool import Tool, tool
from placet.values.approval import Approval, Preview
from placet.values.call import ToolCall
from placet.values.json import canonical
from placet.values.message import ToolMessage
from placet.values.principal import Principal
from placet.values.tool import Survival
from placet.wiring import Agent
from tests.crash.outside import Outside
from tests.crash.points import PointedStore, Points

SECRET: Final = b"a secret of thirty-two bytes or more"
BOSS: Final = Principal("boss", roles={"finance"})
MONDAY: Final = datetime(2026, 11, 30, 9, tzinfo=UTC)

READ: Final = "read"
WAYS: Final = (READ, *(way.value for way in Survival))
"""Each way in which a tool survives a crash: a read is run again, a write says how."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where everything lies.

    Attributes:
        store: A path of a SQLite file, or how to reach a PostgreSQL.
        outside: The path of the database in which effects are counted.
        way: How the tools survive a crash.
    """

    store: str
    outside: str
    way: str

    @property
    def world(self) -> Outside:
        """The database in which effects are counted."""
        return Outside(Path(self.outside))

    @property
    def is_sqlite(self) -> bool:
        """Whether the store is a file."""
        return self.store.endswith(".db")


@dataclass(slots=True, kw_only=True)
class Desk:
    """What the tools of one process find as `context.deps`."""

    world: Outside
    points: Points
    way: str
    balance: int
    insert: str


def clerk(case: int) -> Principal:
    """Return the requester of a case, who is nobody else's."""
    return Principal(f"clerk_{case}", roles={"support"})


def open_store(place: Place) -> Store:
    """Return the store of a place, not yet opened."""
    key = Keys.of(SECRET).audit
    if place.is_sqlite:
        return SqliteStore(place.store, key=key)
    return cast(Store, PostgresStore(place.store, key=key, pool_size=2))


def insert_into(place: Place) -> str:
    """Return the statement by which a tool has its effect in the store's own database."""
    if place.is_sqlite:
        return "INSERT INTO crash_effect VALUES (?, ?, ?)"
    return "INSERT INTO crash_effect VALUES (%s, %s, %s)"


def make_agent(place: Place, points: Points, clock: FrozenClock, voice: str, balance: int = 100) -> Agent:
    """Return the agent as one process has it.

    Args:
        place: Where everything lies.
        points: Where the process may die.
        clock: The clock of this process.
        voice: What this process' model writes, so that it shows when a model was asked twice.
        balance: What previews see and bind.
    """
    return Agent(
        AgentDefinition(name="office", prompt="You help the clerks."),
        tools=tools(place.way),
        model=ScriptedModel(cycle=True).does(_speak(points, voice)),
        store=cast(Store, PointedStore(open_store(place), points)),
        deps=Desk(world=place.world, points=points, way=place.way, balance=balance, insert=insert_into(place)),
        secret=SECRET,
        clock=clock,
    )


def _speak(points: Points, voice: str) -> Callable[[ModelRequest], ModelAnswer]:
    """Return what the model says: three calls in one turn, and a word when it has their results."""

    def answer(request: ModelRequest) -> ModelAnswer:
        points.reach("the model is asked")
        if isinstance(request.transcript[-1], ToolMessage):
            return ModelAnswer(text="done")
        wanted = [("look", {}), ("note", {"text": voice}), ("pay", {"to": voice, "amount": 5})]
        return ModelAnswer(
            calls=tuple(ToolCall(f"c{place}", name, canonical(given)) for place, (name, given) in enumerate(wanted))
        )

    return answer


def tools(way: str) -> list[Tool]:
    """Return a read, a write that anybody may make, and a write that waits for the boss; or reads in their place."""
    options: dict[str, Any] = {"roles": {"support"}, "limit": "100/hour"}
    if way == READ:
        options |= {"effect": "read", "open_world": True}
    else:
        options |= {"effect": "write", "survival": way}

    async def look(context: Context[Desk]) -> str:
        """Look around."""
        context.deps.points.reach("inside look")
        return "nothing to see"

    async def note(text: str, context: Context[Desk]) -> str:
        """Write a note."""
        return _work(context, "note", text)

    def preview(arguments: Any, _resource: object, context: Context[Desk]) -> Preview:
        context.deps.points.reach("inside the preview")
        return Preview(f"pay {arguments.amount}", {"balance": context.deps.balance})

    async def pay(to: str, amount: int, context: Context[Desk]) -> str:
        """Pay somebody."""
        return _work(context, "pay", f"{amount} to {to}")

    free: dict[str, Any] = {} if way == READ else {"waiver": "notes are the clerk's own"}
    yes = Approval.always(approvers={"finance"}, ttl=timedelta(days=30))
    return [
        tool(effect="read", roles={"support"})(look),
        tool(**options, **free)(note),
        tool(**options, approval=yes, preview=preview)(pay),
    ]


def _work(context: Context[Desk], name: str, said: str) -> str:
    desk, who = context.deps, context.principal.id
    desk.world.begin(who, name, context.call_key)
    desk.points.reach(f"inside {name}, before its effect")
    if context.transaction is not None:
        context.transaction.add(desk.insert, (who, name, context.call_key), rows=1)
    else:
        # A tool that takes no idempotency key could not tell a second time from a first.
        by_key = desk.way == Survival.KEY
        key = context.idempotency_key if by_key else context.call_key
        desk.world.have_effect(who, name, key, once_each_key=by_key)
    desk.points.reach(f"inside {name}, after its effect")
    return f"{name}: {said}"
