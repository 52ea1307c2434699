"""A small application for the command line's tests: five orders in a file, a scripted model, a SQLite store.

Run in a process of its own. What it has done is read from the file, not from the process.
"""

import asyncio
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from placet import EVERYONE, Approval, Confirmation, Context, Loaded, Preview, Principal, ToolCall, ToolError, tool
from placet.agent.definition import AgentDefinition
from placet.config import AppOptions
from placet.errors import ModelUnavailableError
from placet.models.scripted import ScriptedModel
from placet.ports import Finish, ModelAnswer, ModelRequest, PrincipalDirectory
from placet.runtime.clock import SystemClock
from placet.tools.source import ToolSource
from placet.tools.tool import Tool
from placet.values.limits import Budget
from placet.values.message import ToolMessage, UserMessage
from placet.wiring import Agent

FIRST: Mapping[str, Mapping[str, Any]] = {
    "8842": {"owner": "c17", "status": "shipped", "address": "Rua A 1"},
    "8843": {"owner": "c17", "status": "paid", "address": "Rua A 1"},
    "9001": {"owner": "c18", "status": "paid", "address": "Strada B 2"},
}


@dataclass(frozen=True)
class Desk:
    """Orders in a JSON file."""

    file: Path

    def read(self) -> dict[str, dict[str, Any]]:
        if not self.file.exists():
            return {number: dict(order) for number, order in FIRST.items()}
        found: dict[str, dict[str, Any]] = json.loads(self.file.read_text("utf-8"))
        return found

    def change(self, number: int, **fields: Any) -> dict[str, Any]:
        orders = self.read()
        orders[str(number)].update(fields)
        self.file.write_text(json.dumps(orders), "utf-8")
        return orders[str(number)]


class People:
    """Who works here, and who buys here."""

    roles: Mapping[str, tuple[str, ...]] = {
        "c17": ("customer",),
        "c18": ("customer",),
        "s1": ("support",),
        "f1": ("finance",),
    }

    async def find(self, principal_id: str) -> Principal | None:
        found = self.roles.get(principal_id)
        return Principal(principal_id, found) if found is not None else None


class LateClock(SystemClock):
    """A clock that is ahead by as many seconds as the environment says."""

    def now(self) -> datetime:
        return super().now() + timedelta(seconds=float(os.environ.get("DESK_LATER", "0")))


def load_order(arguments: Any, context: Context[Desk]) -> dict[str, Any] | None:
    return context.deps.read().get(str(arguments.order_id))


def own_order(principal: Principal, order: Any, _arguments: Any) -> bool:
    return "support" in principal.roles or (order is not None and order["owner"] == principal.id)


def preview_cancel(arguments: Any, order: Any, _context: Context[Desk]) -> Preview:
    return Preview(f"{arguments.order_id}, status {order['status']} → cancelled", {"status": order["status"]})


def preview_note(arguments: Any, _order: Any, _context: Context[Desk]) -> str:
    return f"note on {arguments.order_id}: {arguments.note}, card {arguments.card}"


@tool(
    effect="read",
    roles={"customer", "support"},
    resource=load_order,
    authorise=own_order,
    progress={"en": "looking up order {order_id}…", "pt-BR": "consultando o pedido {order_id}…"},
)
def get_order_status(order_id: int, order: Loaded[dict[str, Any]]) -> str:
    """Return how far an order is.

    Args:
        order_id: Number of the order.
    """
    return f"order {order_id} is {order['status']}"


@tool(
    effect="destructive",
    roles={"customer", "support"},
    resource=load_order,
    authorise=own_order,
    approval=Approval.always(approvers={"finance"}),
    preview=preview_cancel,
)
def cancel_order(order_id: int, order: Loaded[dict[str, Any]], context: Context[Desk]) -> str:
    """Cancel an order."""
    context.deps.change(order_id, status="cancelled")
    return f"order {order_id} is cancelled, it was {order['status']}"


@tool(
    effect="write",
    roles={"customer"},
    resource=load_order,
    authorise=own_order,
    approval=Confirmation.always(),
    redact={"address"},
)
def change_address(order_id: int, address: str, order: Loaded[dict[str, Any]], context: Context[Desk]) -> str:
    """Send an order somewhere else."""
    context.deps.change(order_id, address=address)
    return f"order {order_id} no longer goes to {len(order['address'])} letters"


@tool(
    effect="write",
    roles={"support"},
    approval=Approval.always(approvers={"finance"}),
    preview=preview_note,
    redact={"card"},
)
def add_note(order_id: int, note: str, card: str, context: Context[Desk]) -> str:
    """Write a note on an order."""
    context.deps.change(order_id, note=note)
    return f"noted on {order_id} with card {len(card)}"


@tool(effect="write", roles={"support"}, waiver="for a test of dying in the middle", timeout=30)
async def mark_slowly(order_id: int, context: Context[Desk]) -> str:
    """Mark an order, and take a long time over it."""
    context.deps.change(order_id, marked=True)
    await asyncio.sleep(30)
    return "marked"


@tool(effect="read", roles={EVERYONE}, limit="1/hour")
def count_orders(context: Context[Desk]) -> int:
    """Count all orders."""
    return len(context.deps.read())


@tool(effect="read", roles={EVERYONE}, timeout=0.05)
async def dawdle() -> str:
    """Take too long."""
    await asyncio.sleep(5)
    return "done"


@tool(effect="read", roles={EVERYONE}, timeout=30)
async def ponder() -> str:
    """Think for a long time."""
    await asyncio.sleep(30)
    return "hm"


@tool(effect="read", roles={EVERYONE})
def read_mail() -> str:
    """Return a mail that somebody from outside has written."""
    return "hello \x1b[2Jthere \u202egnp.exe"


@tool(effect="read", roles={EVERYONE})
def complain() -> str:
    """Fail, and say so."""
    raise ToolError("the printer is on fire", hint="call somebody")


async def call_crm(name: str, arguments: dict[str, Any], context: Context[Desk]) -> str:
    return f"{name} ran with {sorted(arguments)}"


wipe = ToolSource("crm", call_crm, prefix=True).tool(
    "notes/wipe", description="Wipe the notes.", effect="destructive",
    parameters={
        "type": "object",
        "properties": {"days": {"type": ["integer", "null"]}, "of": {"type": ["string", "null"], "enum": ["me", None]}},
    },
    roles={"support"}, approval=Approval.always(approvers={"finance"}),
)  # fmt: skip

TOOLS: tuple[Tool, ...] = (
    get_order_status, cancel_order, change_address, add_note, mark_slowly, count_orders, dawdle, ponder, read_mail,
    complain, wipe,
)  # fmt: skip


def answer(request: ModelRequest) -> ModelAnswer:
    """Play the model: a few words make a call, and what a tool has said is the answer."""
    last = request.transcript[-1]
    if isinstance(last, ToolMessage):
        return ModelAnswer(text=" / ".join(result.content for result in last.results))
    text = last.text if isinstance(last, UserMessage) else ""
    number = int(found[0]) if (found := re.search(r"\d{4}", text)) else 0
    calls: list[tuple[str, dict[str, Any]]] = []
    for word, name in (("cancel", "cancel_order"), ("saiu", "get_order_status"), ("where", "get_order_status")):
        if word in text.lower():
            calls.append((name, {"order_id": number}))
    if "move" in text:
        calls.append(("change_address", {"order_id": number, "address": text.partition(" to ")[2]}))
    if "note" in text:
        calls.append(("add_note", {"order_id": number, "note": "ok \u202eko\x1b[31m", "card": "4111-1111"}))
    if "mark" in text:
        calls.append(("mark_slowly", {"order_id": number}))
    for word, name in (("ponder", "ponder"), ("mail", "read_mail"), ("wipe", wipe.name)):
        if word in text:
            calls.append((name, {}))
    if not calls:
        turns = sum(isinstance(message, UserMessage) for message in request.transcript)
        finish = Finish.LENGTH if "tale" in text else Finish.STOP
        return ModelAnswer(text=f"You have asked {turns} times. \x1b[31mRed\x1b[0m.", finish=finish)
    place = len(request.transcript)
    made = tuple(
        ToolCall(f"call_{place}_{index}", name, json.dumps(arguments)) for index, (name, arguments) in enumerate(calls)
    )
    return ModelAnswer(calls=made, finish=Finish.CALLS)


def answer_or_break(request: ModelRequest) -> ModelAnswer:
    """Play the model, or one that cannot be reached."""
    last = request.transcript[-1]
    if isinstance(last, UserMessage) and "break" in last.text:
        raise ModelUnavailableError("the line is dead")
    return answer(request)


def build_agent(options: AppOptions) -> Agent:
    """Return the desk's agent."""
    options.tell(f"desk: model {options.model or 'scripted'}\x1b[31m")
    stated = bool(os.environ.get("DESK_STATED"))
    directory: PrincipalDirectory | None = None if stated else People()
    return Agent(
        AgentDefinition(name="desk", prompt="You help.", budget=Budget(turns=3)),
        tools=TOOLS,
        model=ScriptedModel(cycle=True).does(answer_or_break),
        store=options.store or "sqlite:///desk.db",
        deps=Desk(Path(os.environ["DESK_FILE"])),
        directory=directory,
        clock=LateClock(),
    )


def build_nothing(_: AppOptions) -> str:
    """Return what is no agent."""
    return "nothing"


def build_alone() -> Agent:
    """Take no options."""
    return build_agent(AppOptions())


def build_badly(_: AppOptions) -> Agent:
    """Fail while building."""
    raise KeyError("no such setting")
