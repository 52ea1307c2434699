"""The understudy: a script of a few rules that plays the model, for tests and where none is at hand."""

import re
from typing import Final

from library.shelf import BOOKS, fold
from placet import ToolCall, UserMessage
from placet.models.scripted import ScriptedModel
from placet.ports import Finish, ModelAnswer, ModelRequest
from placet.values.json import canonical

_RULES: Final = (
    ("return_book", r"\b(?:devolv|return|returnez|inapoi)"),
    ("borrow_book", r"\b(?:emprest|borrow|imprumut)"),
    ("find_book", r""),
)


def understudy() -> ScriptedModel:
    """Return the understudy. It writes no prose: the tools' own words are the answer."""
    return ScriptedModel(cycle=True, writes_prose=False).does(_answer)


def _answer(request: ModelRequest) -> ModelAnswer:
    last = request.transcript[-1]
    if not isinstance(last, UserMessage):
        return ModelAnswer()
    asked = fold(last.text)
    title = next((title for title, _, _ in BOOKS if fold(title) in asked), None)
    if title is None:
        return ModelAnswer()
    tool = next(name for name, form in _RULES if re.search(form, asked))
    call = ToolCall(f"call_{len(request.transcript)}", tool, canonical({"title": title}))
    return ModelAnswer(calls=(call,), finish=Finish.CALLS)
