"""Stages: the parts of a workflow, as values. `placet.workflow.walk` carries them out.

A stage has a name, by which the run remembers how far it is: names tell the stages of one
list apart, and keep their meaning when stages are added around them.
"""

import inspect
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final, TypeAlias, TypeGuard

from pydantic import BaseModel

from placet.errors import ConfigurationError
from placet.tools.context import Context
from placet.values.outcome import Answer

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")


class WhenExhausted(StrEnum):
    """What a loop does when it has gone round as often as it may and its condition does not hold."""

    STOP = "stop"
    """The workflow ends here; its answer is the state as it is. Within a branch, the branch does."""
    GO_ON = "go on"
    """The next stage comes."""
    FAIL = "fail"
    """The workflow is stopped."""


class WhenStopped(StrEnum):
    """What becomes of a workflow when an agent ends short of an answer."""

    FAIL = "fail"
    """It is stopped too, for the same reason."""
    GO_ON = "go on"
    """The state stays as it is, and the next stage comes."""


Ask: TypeAlias = str | Callable[[Any], str] | None
"""What an agent is asked: a text with `{field}` for fields of the state, or a function of the state."""

Into: TypeAlias = str | Callable[[Any, Answer], Any] | None
"""Where an answer goes: a field of the state, or a function of state and answer."""

StageFunction: TypeAlias = Callable[..., Any]
"""`f(state)` or `f(context, state)`, sync or async; changes the state, or returns another."""

Until: TypeAlias = Callable[[Context[Any], Any], "bool | Awaitable[bool]"]
"""Whether a loop is done, from context and state."""

Merge: TypeAlias = Callable[[Any, list[Any]], Any]
"""From the state before and the branches' states, in order, to the state after (or None: the first was changed)."""


@dataclass(frozen=True, slots=True)
class AgentStage:
    """A stage in which an agent (or another workflow) is asked.

    Attributes:
        agent: The agent, or the name of one that the workflow was given (`agents=[…]`).
        ask: What it is asked; left out, what the workflow was asked.
        into: Where its answer goes. A field of type `str` gets its words; a field whose type
            is a model, a dataclass or a TypedDict makes that the type of its answer. Left
            out, it is the field that is named as the stage.
        output: The type of its answer, where `into` does not tell.
        when_stopped: What becomes of the workflow when it ends short of an answer.
        name: The stage's name; left out, the agent's.
    """

    agent: Any
    ask: Ask = None
    into: Into = None
    output: Any = None
    when_stopped: WhenStopped | str = WhenStopped.FAIL
    name: str = ""

    def __post_init__(self) -> None:
        definition = getattr(self.agent, "definition", None)
        name = self.name or (self.agent if isinstance(self.agent, str) else getattr(definition, "name", ""))
        if not name or (definition is None and not isinstance(self.agent, str)):
            raise ConfigurationError(f"an AgentStage needs an agent, a workflow or the name of one, not {self.agent!r}")
        object.__setattr__(self, "name", check_name(name))
        object.__setattr__(self, "when_stopped", _word(WhenStopped, self.when_stopped, f"stage {name!r}"))


@dataclass(frozen=True, slots=True)
class FunctionStage:
    """A stage that is a plain function.

    It should do nothing but work on the state: what touches the world is a tool's work,
    which passes the gate. When the process dies within it, it runs again.

    Attributes:
        function: `f(state)` or `f(context, state)`, sync (in a thread) or async.
        name: The stage's name; left out, the function's.
        takes_context: Whether it takes the context too; read from its signature.
    """

    function: StageFunction
    name: str = ""
    takes_context: bool = field(init=False)

    def __post_init__(self) -> None:
        name = self.name or getattr(self.function, "__name__", type(self.function).__name__)
        object.__setattr__(self, "name", check_name(name.replace("<lambda>", "function")))
        object.__setattr__(self, "takes_context", _count_parameters(self.function, self.name) == 2)


@dataclass(frozen=True, slots=True)
class Sequence:
    """Stages one after the other.

    Attributes:
        stages: At least one.
        name: The stage's name.
    """

    stages: Any
    name: str = "sequence"

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", check_name(self.name))
        object.__setattr__(self, "stages", as_stages(self.stages, f"sequence {self.name!r}"))


@dataclass(frozen=True, slots=True)
class Loop:
    """Stages that are gone through again until a condition holds. It is asked after each time.

    Attributes:
        stages: One stage, or several in a list.
        until: Whether it is done, from context and state; sync or async. Its answers are
            remembered, so that going on later goes on where it was.
        max_iterations: How often at most.
        when_exhausted: What happens when it was gone through so often and the condition does not hold.
        name: The stage's name.
    """

    stages: Any
    until: Until
    max_iterations: int
    when_exhausted: WhenExhausted | str = WhenExhausted.STOP
    name: str = "loop"

    def __post_init__(self) -> None:
        who = f"loop {self.name!r}"
        object.__setattr__(self, "name", check_name(self.name))
        object.__setattr__(self, "stages", as_stages(self.stages, who))
        object.__setattr__(self, "when_exhausted", _word(WhenExhausted, self.when_exhausted, who))
        if self.max_iterations < 1:
            raise ConfigurationError(f"{who} with max_iterations={self.max_iterations} does nothing; give at least 1")
        if _count_parameters(self.until, f"until of {who}") != 2:
            raise ConfigurationError(f"the condition of {who} must take (context, state)")


@dataclass(frozen=True, slots=True)
class Parallel:
    """Stages side by side. Each works on a copy of the state of its own.

    Attributes:
        branches: The branches, at least one.
        merge: From the state before and the branches' states, in order, to the state after.
            Left out, each field that one branch has changed is taken from there, and two
            branches that have made different things of one field stop the workflow.
        name: The stage's name.
    """

    branches: Any
    merge: Merge | None = None
    name: str = "parallel"

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", check_name(self.name))
        object.__setattr__(self, "branches", as_stages(self.branches, f"parallel {self.name!r}"))


Stage: TypeAlias = AgentStage | FunctionStage | Sequence | Loop | Parallel
"""One part of a workflow."""


def as_stage(thing: Any) -> Stage:
    """Return the stage of an agent, a workflow or a function; a stage as it is.

    Raises:
        ConfigurationError: It can be no stage.
    """
    if isinstance(thing, Stage):
        return thing
    if hasattr(thing, "definition"):
        return AgentStage(thing)
    if callable(thing) and not isinstance(thing, type):
        return FunctionStage(thing)
    raise ConfigurationError(
        f"{thing!r} is no stage: give an agent, a function, AgentStage, Sequence, Loop or Parallel"
    )


def _is_several(things: object) -> TypeGuard[Iterable[Any]]:
    return isinstance(things, list | tuple)


def as_stages(things: Any, who: str) -> tuple[Stage, ...]:
    """Return the stages of a list, or of one thing that stands for a list of one.

    Args:
        things: What was given.
        who: Whose stages they are, for messages.

    Raises:
        ConfigurationError: There are none, one can be no stage, or two are of one name.
    """
    listed: list[Any] = list(things) if _is_several(things) else [things]
    stages = tuple(as_stage(thing) for thing in listed)
    if not stages:
        raise ConfigurationError(f"{who} has no stages")
    names = [stage.name for stage in stages]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ConfigurationError(f"{who} has two stages called {twice[0]!r}: give one of them a name=…")
    return stages


def find_agents(stages: tuple[Stage, ...], named: Mapping[str, Any]) -> tuple[Stage, ...]:
    """Return the stages with the agents in place of their names.

    Raises:
        ConfigurationError: There is no agent of a name.
    """
    return tuple(_with_agents(stage, named) for stage in stages)


def _with_agents(stage: Stage, named: Mapping[str, Any]) -> Stage:
    match stage:
        case AgentStage(agent=str() as name):
            if name not in named:
                raise ConfigurationError(f"no agent {name!r} for stage {stage.name!r}: give Workflow(…, agents=[…])")
            return replace(stage, agent=named[name])
        case AgentStage() | FunctionStage():
            return stage
        case Parallel(branches=stages):
            return replace(stage, branches=list(find_agents(stages, named)))
        case Sequence(stages=stages) | Loop(stages=stages):
            return replace(stage, stages=list(find_agents(stages, named)))


def agents_of(stages: tuple[Stage, ...], named: Mapping[str, Any]) -> list[Any]:
    """Return the agents of some stages and of those within, and further ones, each once.

    Args:
        stages: The stages, which hold their agents.
        named: Further agents by name.

    Raises:
        ConfigurationError: Two of them are of one name.
    """
    found = dict(named)
    pending: list[Stage] = list(stages)
    while pending:
        match pending.pop():
            case AgentStage(agent=agent):
                name = agent.definition.name
                if found.setdefault(name, agent) is not agent:
                    raise ConfigurationError(f"two agents of one workflow are called {name!r}: give one another name")
            case Parallel(branches=inner) | Sequence(stages=inner) | Loop(stages=inner):
                pending += inner
            case FunctionStage():
                pass
    return list(found.values())


def check_name(name: str) -> str:
    """Return the name of a stage.

    Raises:
        ConfigurationError: It is none: the ids of nested runs are made of it.
    """
    if not _NAME.fullmatch(name):
        raise ConfigurationError(
            f"{name!r} cannot name a stage: letters, digits, '_', '-' and '.', at most 64, starting with a letter"
        )
    return name


def is_state_type(kind: Any) -> bool:
    """Whether a type can be the state of a workflow."""
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _count_parameters(function: Callable[..., Any], who: str) -> int:
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError) as error:
        raise ConfigurationError(f"the signature of {who} cannot be read: {error}") from error
    needed = [parameter for parameter in parameters if parameter.default is inspect.Parameter.empty]
    count = len(needed)
    if count not in (1, 2) or any(parameter.kind not in _POSITIONAL for parameter in needed):
        raise ConfigurationError(f"{who!r} must take (state) or (context, state)")
    return count


_POSITIONAL: Final = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _word(kind: type[StrEnum], word: str, who: str) -> StrEnum:
    try:
        return kind(word)
    except ValueError as error:
        known = ", ".join(repr(one.value) for one in kind)
        raise ConfigurationError(f"{who}: {word!r} is none of {known}") from error
