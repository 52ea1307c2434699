"""The tools of the model-based test: four writes, each under another part of the promise."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from placet.models.scripted import ScriptedModel
from placet.ports import ModelAnswer, ModelRequest
from placet.tools.context import Context
from placet.tools.tool import tool
from placet.values.approval import Approval, Confirmation, Preview
from placet.values.call import ToolCall
from placet.values.json import canonical
from placet.values.message import AssistantMessage, ToolMessage, UserMessage
from tests.model.promise import NOTE, PAY, RENAME, SEND


@dataclass
class Desk:
    """What the tools work on: it outlives every process.

    Attributes:
        effects: What was done, for whom, and how often.
        keys: Under which key each was done; a key that comes twice where keys are taken is no effect.
        rate: What the previews bind.
        die: Called at the chosen place inside a tool, or None.
        dies: `before` or `after` its effect.
    """

    effects: Counter[tuple[str, str, int]] = field(default_factory=Counter)
    keys: list[str] = field(default_factory=list)
    rate: int = 0
    die: Callable[[], None] | None = None
    dies: str = ""

    def work(self, context: Context["Desk"], name: str, n: int) -> str:
        """Have an effect, and perhaps die before or after it."""
        if self.dies == "before":
            self._end()
        if name != SEND or context.idempotency_key not in self.keys:
            self.effects[context.principal.id, name, n] += 1
            self.keys.append(context.idempotency_key)
        if self.dies == "after":
            self._end()
        return "done"

    def _end(self) -> None:
        self.dies = ""
        if self.die is not None:
            self.die()
        raise OSError("the process is dead")


@tool(effect="write", roles={"support"}, waiver="notes are the clerk's own", limit="3/hour")
async def note(n: int, context: Context[Desk]) -> str:
    """Write a note."""
    return context.deps.work(context, NOTE, n)


@tool(effect="write", roles={"support"}, waiver="letters are the clerk's own", survival="key")
async def send(n: int, context: Context[Desk]) -> str:
    """Send a letter; the post takes each key once."""
    return context.deps.work(context, SEND, n)


def show_rate(arguments: Any, _resource: object, context: Context[Desk]) -> Preview:
    return Preview(f"{arguments.n} at {context.deps.rate}", {"rate": context.deps.rate})


@tool(effect="write", roles={"support"}, approval=Approval.always(approvers={"finance"}), preview=show_rate)
async def pay(n: int, context: Context[Desk]) -> str:
    """Pay somebody."""
    return context.deps.work(context, PAY, n)


@tool(effect="write", roles={"support"}, approval=Confirmation.always())
async def rename(n: int, context: Context[Desk]) -> str:
    """Rename the office."""
    return context.deps.work(context, RENAME, n)


TOOLS = (note, send, pay, rename)


def stubborn() -> ScriptedModel:
    """Return a model that makes the calls that its question names, and once more those that a person has rejected."""

    def answer(request: ModelRequest) -> ModelAnswer:
        last, before = request.transcript[-1], request.transcript[-2] if len(request.transcript) > 1 else None
        if isinstance(last, UserMessage):
            wanted = [word.split("=") for word in last.text.split()]
            calls = [ToolCall(f"c{place}", name, canonical({"n": int(n)})) for place, (name, n) in enumerate(wanted)]
            return ModelAnswer(calls=tuple(calls))
        if isinstance(last, ToolMessage) and isinstance(before, AssistantMessage) and len(request.transcript) == 3:
            pairs = zip(before.calls, last.results, strict=True)
            again = [call for call, result in pairs if "has rejected this call" in result.content]
            return ModelAnswer(text="done", calls=tuple(again))
        return ModelAnswer(text="done")

    return ScriptedModel(cycle=True).does(answer)
