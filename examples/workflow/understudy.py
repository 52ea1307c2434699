"""The understudies: scripts of a few rules that play the four models, for tests and where none is at hand."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from placet import ToolCall, ToolMessage, UserMessage
from placet.models.scripted import ScriptedModel
from placet.ports import Finish, ModelAnswer, ModelRequest
from placet.values.json import canonical

Play = Callable[[str, list[str]], ModelAnswer]
"""From what was asked and the results so far to the next answer."""


def understudy(agent: str) -> ScriptedModel:
    """Return the understudy of an agent."""
    play = _PLAYS[agent]

    def answer(request: ModelRequest) -> ModelAnswer:
        asked = next(message.text for message in request.transcript if isinstance(message, UserMessage))
        results = [
            result.content
            for message in request.transcript
            if isinstance(message, ToolMessage)
            for result in message.results
        ]
        return play(asked, results)

    return ScriptedModel(cycle=True, name=f"scripted:{agent}").does(answer)


def _plan(asked: str, results: list[str]) -> ModelAnswer:
    if not results:
        return _calls(("list_notes", {}))
    words = set(re.findall(r"\w+", asked.casefold()))
    names: list[str] = json.loads(results[0])
    chosen = [name for name in names if words & set(name.split("-"))]
    return ModelAnswer(text=canonical({"notes": chosen or names}))


def _explore(asked: str, results: list[str]) -> ModelAnswer:
    names = re.findall(r'"([\w-]+)"', asked.partition("Notes:")[2].partition("\n")[0])[1:]
    if not results:
        return _calls(*[("read_note", {"name": name}) for name in names])
    facts = [text.strip() for text in results]
    if "brackets" in asked:  # the reviewer has commented
        facts = [f"{fact} [{name}]" for name, fact in zip(names, facts, strict=True)]
    return ModelAnswer(text=" ".join(facts))


def _review(asked: str, results: list[str]) -> ModelAnswer:
    del results
    draft = asked.partition("Draft:")[2]
    approved = bool(re.search(r"\[[\w-]+\]", draft))
    comments = "" if approved else "name in brackets the note that each fact comes from"
    return ModelAnswer(text=canonical({"approved": approved, "comments": comments}))


def _publish(asked: str, results: list[str]) -> ModelAnswer:
    del asked
    return ModelAnswer(text="It is published.") if results else _calls(("publish", {}))


def _calls(*calls: tuple[str, Mapping[str, Any]]) -> ModelAnswer:
    made = [ToolCall(f"call_{place}", name, canonical(arguments)) for place, (name, arguments) in enumerate(calls)]
    return ModelAnswer(calls=tuple(made), finish=Finish.CALLS)


_PLAYS: Final[Mapping[str, Play]] = {
    "planner": _plan,
    "explorer": _explore,
    "reviewer": _review,
    "publisher": _publish,
}
