"""A small office whose tools write down what they have done, and agents over it that play a script."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from placet.agent.definition import AgentDefinition
from placet.errors import FatalToolError, ToolError
from placet.models.scripted import ScriptedModel
from placet.ports import Store
from placet.runtime.sinks import ListSink
from placet.stores.memory import MemoryStore
from placet.testing import FrozenClock
from placet.tools.context import Context
from placet.tools.parameters import Loaded
from placet.tools.tool import Tool, tool
from placet.values.approval import Approval, Confirmation, Preview
from placet.values.principal import EVERYONE, Principal
from placet.wiring import Agent

CLERK = Principal("s1", roles={"support"})
OTHER_CLERK = Principal("s2", roles={"support"})
BOSS = Principal("f1", roles={"finance"})
SECRET = b"a secret of thirty-two bytes or more"


@dataclass
class Office:
    """What the tools work on, and what they have done."""

    accounts: dict[str, dict[str, Any]] = field(
        default_factory=lambda: {"a": {"owner": "s1", "balance": 100}, "b": {"owner": "s2", "balance": 50}}
    )
    done: list[tuple[Any, ...]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)


async def load_account(arguments: Any, context: Context[Office]) -> dict[str, Any] | None:
    return context.deps.accounts.get(arguments.account)


def owns_account(principal: Principal, account: dict[str, Any], arguments: object) -> bool:
    return bool(account["owner"] == principal.id)


async def preview_payment(arguments: Any, account: Any, context: Context[Office]) -> Preview:
    balance = context.deps.accounts.get("a", {}).get("balance", 0)
    return Preview(f"balance {balance} → {balance - arguments.amount}", {"balance": balance})


@tool(effect="read", roles={"support", "finance"}, progress={"en": "looking at {name}…", "pt-BR": "olhando {name}…"})
async def look(context: Context[Office], name: str) -> str:
    """Look something up.

    Args:
        name: What.
    """
    context.deps.done.append(("look", name))
    return f"{name} is blue"


@tool(effect="read", roles={"support"}, resource=load_account, authorise=owns_account)
async def balance_of(account: str, loaded: Loaded[dict[str, Any]]) -> int:
    """Return the balance of an account."""
    return int(loaded["balance"])


@tool(effect="write", roles={"support"}, approval=Approval.always(approvers={"finance"}), preview=preview_payment)
async def pay(context: Context[Office], to: str, amount: int) -> str:
    """Pay somebody."""
    context.deps.done.append(("pay", to, amount))
    context.deps.keys.append(context.idempotency_key)
    return f"paid {amount} to {to}"


@tool(effect="write", roles={"support"}, approval=Confirmation.always())
async def rename(context: Context[Office], name: str) -> str:
    """Rename the office."""
    context.deps.done.append(("rename", name))
    return f"now called {name}"


@tool(effect="write", roles={"support"}, waiver="notes are the clerk's own", limit="3/minute")
async def note(context: Context[Office], text: str) -> str:
    """Write a note."""
    context.deps.done.append(("note", text))
    return "noted"


@tool(effect="read", roles={EVERYONE})
async def break_down(how: str) -> str:
    """Fail in some way."""
    match how:
        case "knowing":
            raise ToolError("city not found: 'Oslp'", hint="use the English name")
        case "fatal":
            raise FatalToolError("the vault is open")
        case _:
            raise ValueError("db password=hunter2")


@tool(effect="write", roles={"support"}, waiver="a test of failing writes")
async def break_something(context: Context[Office], how: str) -> str:
    """Fail in some way while writing."""
    context.deps.done.append(("break", how))
    if how == "knowing":
        raise ToolError("nothing was done")
    raise OSError("connection reset")


@tool(effect="read", roles={EVERYONE}, approval=Approval.always(approvers={"finance"}))
async def ask_first() -> str:
    """Do nothing, once somebody has allowed it."""
    return "asked"


@tool(effect="read", roles={"finance"})
async def payroll() -> str:
    """Read the payroll."""
    return "secret"


TOOLS: tuple[Tool, ...] = (look, balance_of, pay, rename, note, break_down, break_something, ask_first, payroll)

MakeAgent = Callable[..., Agent]


@pytest.fixture
def office() -> Office:
    return Office()


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock()


@pytest.fixture
def heard() -> ListSink:
    return ListSink()


@pytest.fixture
def store() -> Store:
    return MemoryStore(key=b"k" * 32)


@pytest.fixture
def make_agent(office: Office, store: Store, heard: ListSink) -> MakeAgent:
    def make(model: ScriptedModel | None = None, **options: Any) -> Agent:
        given = {"tools": TOOLS, "store": store, "deps": office, "audit": [heard], "secret": SECRET, **options}
        definition = given.pop("definition", AgentDefinition(name="office", prompt="You help the clerks."))
        return Agent(definition, model=model or ScriptedModel().says("ok"), **given)

    return make
