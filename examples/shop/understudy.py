"""The understudy: plays the model where the embedded one cannot be loaded, and in tests.

It is a script of a few rules, no model: it looks for an order number, an e-mail address and
some words of three languages, and makes one call. What it does not know it leaves unsaid.
"""

import re
from typing import Any, Final

from placet.models.scripted import ScriptedModel
from placet.ports import Finish, ModelAnswer, ModelRequest
from placet.values.call import ToolCall
from placet.values.json import canonical
from placet.values.message import ToolMessage, UserMessage
from shop.words import fold

_NUMBER: Final = r"(?<![\w.,-])(?P<number>\d{1,18})(?![\w-])"
_RULES: Final = (
    ("search_orders_by_email", r"(?P<email>[\w.+-]+@[\w-]+(?:\.[\w-]+)+)"),
    ("cancel_order", rf"\b(?:cancel|anule).*?{_NUMBER}"),
    ("get_order_status", _NUMBER),
    (
        "get_weather",
        r"\b(?:weather|forecast|tempo|previsao|vreme|vremea|prognoza)\b.*?\b(?:in|em|la|for|para) (?P<city>.+)",
    ),
    (
        "check_stock",
        r"\b(?:stock of|estoque de|stocul pentru|have|tem|aveti) (?P<product>.+?)(?: (?:in|em|pe) e?sto\w+)?$",
    ),
    ("list_orders", r"\b(?:orders|pedidos|comenzi)\b.*\b(?:not|nao|nu)\b(?P<open>.*)\b(?:deliver|entreg|livr)"),
    ("list_orders", r"\b(?:orders|pedidos|comenzi)"),
)
"""In this order: a tool, and what a question that wishes it looks like, folded."""


def understudy() -> ScriptedModel:
    """Return the understudy."""
    return ScriptedModel(cycle=True, writes_prose=False, name="scripted:").does(_answer)


def choose_call(question: str) -> tuple[str, dict[str, Any]] | None:
    """Return the call that a question seems to wish, or None."""
    asked = fold(question[:500]).rstrip("?!. ")
    for tool, form in _RULES:
        if found := re.search(form, asked):
            said = found.groupdict()
            if "number" in said:
                return tool, {"order_id": int(said["number"])}
            if "open" in said:
                return tool, {"status": "not_delivered"}
            return tool, dict(said)
    return None


def _answer(request: ModelRequest) -> ModelAnswer:
    last = request.transcript[-1] if request.transcript else None
    if isinstance(last, ToolMessage) or not isinstance(last, UserMessage):
        return ModelAnswer()  # the tool's own words are the answer
    chosen = choose_call(last.text)
    if chosen is None:
        return ModelAnswer()
    name, arguments = chosen
    call = ToolCall(f"call_{len(request.transcript)}", name, canonical(arguments))
    return ModelAnswer(calls=(call,), finish=Finish.CALLS)
