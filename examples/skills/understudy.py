"""The understudy: a script of a few rules that plays the model, for tests and where none is at hand."""

import re
from typing import Any, Final

from placet import ToolCall, UserMessage
from placet.models.scripted import ScriptedModel
from placet.ports import Finish, ModelAnswer, ModelRequest
from placet.values.json import canonical
from shop.words import fold

_WEATHER: Final = r"\b(?:weather|tempo|vreme|vremea)\b.*?\b(?:in|em|la) (?P<city>.+)"
_CUSTOMER: Final = r"\b(?:customer|cliente|client|clientul|clienta) (?P<query>.+)"
_QUESTIONS: Final = (
    ("orders_by_status", r"\b(?:orders|pedidos|comenzi)\b"),
    ("low_stock", r"\b(?:stock|estoque|stoc)\b"),
    ("best_products", r"\b(?:best|mais vendid\w+|cel mai bine)\b"),
)


def understudy() -> ScriptedModel:
    """Return the understudy. It writes no prose: the tools' own words are the answer."""
    return ScriptedModel(cycle=True, writes_prose=False, name="scripted:").does(_answer)


def choose_call(question: str) -> tuple[str, dict[str, Any]] | None:
    """Return the call that a question seems to wish, or None."""
    asked = fold(question[:500]).rstrip("?!. ")
    if found := re.search(_WEATHER, asked):
        return "get_weather", {"city": found["city"]}
    if found := re.search(_CUSTOMER, asked):
        return "search_customers", {"query": found["query"]}
    name = next((name for name, form in _QUESTIONS if re.search(form, asked)), None)
    return ("query_database", {"query": name}) if name else None


def _answer(request: ModelRequest) -> ModelAnswer:
    last = request.transcript[-1]
    chosen = choose_call(last.text) if isinstance(last, UserMessage) else None
    if chosen is None:
        return ModelAnswer()
    name, arguments = chosen
    call = ToolCall(f"call_{len(request.transcript)}", name, canonical(arguments))
    return ModelAnswer(calls=(call,), finish=Finish.CALLS)
