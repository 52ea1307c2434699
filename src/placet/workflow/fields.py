"""What agents are asked out of the state, and which field their answers go into: settled when the workflow is built."""

import dataclasses
import difflib
import re
import types
from collections.abc import Collection, Mapping
from typing import Annotated, Any, Final, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic_core import to_json

from placet.errors import ConfigurationError
from placet.tools.typed_arguments import is_object_type
from placet.values.json import Json
from placet.workflow.stages import AgentStage, FunctionStage, Loop, Parallel, Sequence, Stage

QUESTION: Final = "question"
"""The place in a text for what the workflow was asked, unless the state has a field of this name."""

_PLACE: Final = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


def settle_stage(stage: Stage, kind: type[BaseModel]) -> Stage:
    """Return a stage with everything that the type of the state tells, its own stages too.

    Raises:
        ConfigurationError: It names a field that is not there, or one that cannot take an answer.
    """
    match stage:
        case AgentStage():
            return _settle_agent(stage, kind)
        case FunctionStage():
            return stage
        case Parallel(branches=stages):
            return dataclasses.replace(stage, branches=[settle_stage(inner, kind) for inner in stages])
        case Sequence(stages=stages) | Loop(stages=stages):
            return dataclasses.replace(stage, stages=[settle_stage(inner, kind) for inner in stages])


def _settle_agent(stage: AgentStage, kind: type[BaseModel]) -> AgentStage:
    if isinstance(stage.ask, str):
        check_places(stage.ask, kind, f"what stage {stage.name!r} asks")
    if callable(stage.into):
        return stage
    into = stage.into or stage.name
    if into not in kind.model_fields:
        near = difflib.get_close_matches(into, kind.model_fields, n=1)
        hint = f"did you mean {near[0]!r}?" if near else "say into=… with a field of the state, or a function"
        raise ConfigurationError(
            f"the answer of stage {stage.name!r} goes into {into!r}, which {kind.__name__} has not; {hint}"
        )
    output = stage.output or _output_of(kind.model_fields[into].annotation)
    if output is None:
        raise ConfigurationError(
            f"the answer of stage {stage.name!r} goes into {into!r}, which is neither a text nor an object: "
            "give a function, into=lambda state, answer: …"
        )
    return dataclasses.replace(stage, into=into, output=None if output is str else output)


def _output_of(annotation: Any) -> Any:
    """Return the type of an answer that goes into a field: `str` for words, None when the field can take none."""
    while get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    if get_origin(annotation) in (Union, types.UnionType):
        inner = [one for one in get_args(annotation) if one is not type(None)]
        return _output_of(inner[0]) if len(inner) == 1 else None
    return annotation if annotation is str or is_object_type(annotation) else None


def check_places(text: str, kind: type[BaseModel], who: str, hidden: Collection[str] = ()) -> None:
    """Refuse a text that names a field which the state has not.

    Args:
        text: With `{field}` for fields of the state.
        kind: The type of the state.
        who: Whose text it is, for the message.
        hidden: Fields that it must not name.

    Raises:
        ConfigurationError: It names a field that is not there or must not be said, or has a brace too many.
    """
    known = {*kind.model_fields, QUESTION}
    for place in _PLACE.finditer(text):
        if place[0] not in ("{{", "}}") and place[1] not in known:
            raise ConfigurationError(
                f"{who} names {place[0]!r}, which is no field of {kind.__name__}; "
                f"known are {sorted(known)}; a brace itself is written {{{{ or }}}}"
            )
        if place[1] in hidden:
            raise ConfigurationError(f"{who} names {place[0]!r}, which is redacted: what is said is recorded too")


def fill_question(text: str, values: Mapping[str, Json], question: str) -> str:
    """Return the text of a question with the fields of the state in their places.

    Texts stand as they are, everything else as JSON. Nothing in a value is read as a place.

    Args:
        text: As it was given; its places were checked when the workflow was built.
        values: The state as JSON.
        question: What the workflow was asked.
    """

    def fill(place: re.Match[str]) -> str:
        if place[0] in ("{{", "}}"):
            return place[0][0]
        value = values.get(place[1], question)
        return value if isinstance(value, str) else to_json(value).decode()

    return _PLACE.sub(fill, text)
