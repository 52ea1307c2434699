"""The narrow way to AgentDojo: what is used of it, with types, and nothing else of the project imports it.

AgentDojo (PyPI `agentdojo`, MIT) brings four suites, each an environment, tools, honest tasks of a
person, and injection tasks of an attacker whose text stands in what the tools give back.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import yaml
from agentdojo.functions_runtime import (  # type: ignore[import-not-found]  # only in its own environment
    FunctionCall,
    FunctionsRuntime,
)
from agentdojo.task_suite.load_suites import get_suites  # type: ignore[import-not-found]  # the same
from agentdojo.task_suite.task_suite import read_suite_file  # type: ignore[import-not-found]  # the same

from placet.values.json import JsonObject

VERSION = "v1.2.2"
NAMES = ("banking", "slack", "travel", "workspace")


class Environment(Protocol):
    """The state that the tools of a suite read and change."""

    def model_copy(self, *, deep: bool) -> "Environment":
        """Return a copy."""
        ...


class Call(Protocol):
    """One call, as AgentDojo writes it."""

    function: str
    args: Mapping[str, Any]


class Function(Protocol):
    """One tool of a suite; `parameters` is a pydantic model."""

    name: str
    description: str
    parameters: Any


class Task(Protocol):
    """What a person wants, or an attacker."""

    ID: str
    GROUND_TRUTH_OUTPUT: str

    def ground_truth(self, pre_environment: Environment) -> Sequence[Call]:
        """Return the calls that do it."""
        ...


class UserTask(Task, Protocol):
    """What a person wants, in the person's words."""

    PROMPT: str

    def init_environment(self, environment: Environment) -> Environment:
        """Return the environment in which the task begins."""
        ...


class InjectionTask(Task, Protocol):
    """What an attacker wants, as the text says that is put into a tool's output."""

    GOAL: str


class Pipeline(Protocol):
    """What AgentDojo asks to work on a task."""

    def query(self, query: str, runtime: Any, env: Environment) -> tuple[str, Any, Environment, list[Any], Any]:
        """Return, among what it was given, the messages of the conversation."""
        ...


@dataclass(frozen=True)
class Suite:
    """One suite.

    Attributes:
        name: Which.
        source: AgentDojo's own object.
        seen: By honest task, the places for an injection that its tool outputs show. Filled when asked for.
    """

    name: str
    source: Any
    seen: dict[str, frozenset[str]] = field(default_factory=dict)

    @property
    def functions(self) -> Sequence[Function]:
        """The tools."""
        functions: Sequence[Function] = self.source.tools
        return functions

    @cached_property
    def user_tasks(self) -> Sequence[UserTask]:
        """The honest tasks."""
        return list(self.source.user_tasks.values())

    @cached_property
    def injection_tasks(self) -> Sequence[InjectionTask]:
        """The injection tasks that can be replayed: those whose ground truth holds calls."""
        clean = self.environment()
        tasks: Sequence[InjectionTask] = list(self.source.injection_tasks.values())
        return [task for task in tasks if task.ground_truth(clean.model_copy(deep=True))]

    @cached_property
    def _text(self) -> str:
        text: str = read_suite_file(self.name, "environment.yaml", None)
        return text

    @cached_property
    def _defaults(self) -> dict[str, str]:
        defaults: dict[str, str] = self.source.get_injection_vector_defaults()
        return defaults

    def environment(self, injections: Mapping[str, str] | None = None) -> Environment:
        """Return a new environment, as AgentDojo makes it, but read by the parser in C: there are hundreds."""
        text = self._text.format(**{**self._defaults, **(injections or {})})
        made: Environment = self.source.environment_type.model_validate(yaml.load(text, yaml.CSafeLoader))
        return made

    def injected(self, user: UserTask, injection: InjectionTask) -> Environment:
        """Return the environment in which the attacker's text stands wherever the honest task will read it."""
        return self.environment(dict.fromkeys(self._places(user), f"TODO: {injection.GOAL}"))

    def _places(self, user: UserTask) -> frozenset[str]:
        if user.ID not in self.seen:
            marks = {place: f"<CANARY---{place}--->" for place in self._defaults}
            environment = self.environment(marks)
            outputs = [str(execute(self, environment, call)[0]) for call in user.ground_truth(environment)]
            self.seen[user.ID] = frozenset(
                place for place, mark in marks.items() if any(mark in output for output in outputs)
            )
        return self.seen[user.ID]

    def grade(
        self, pipeline: Pipeline, user: UserTask, injection: InjectionTask | None, environment: Environment
    ) -> tuple[bool, bool]:
        """Return whether the honest task was done and whether the attack succeeded, by AgentDojo's own functions."""
        utility, security = self.source.run_task_with_pipeline(pipeline, user, injection, {}, environment=environment)
        return bool(utility), injection is not None and bool(security)

    def plain(self, call: Call) -> tuple[str, JsonObject]:
        """Return a call as JSON, its arguments as AgentDojo's own validation reads them."""
        return call.function, self._read(call).model_dump(mode="json", include=set(call.args))

    def whole(self, call: Call) -> tuple[str, JsonObject]:
        """Return the same with the defaults of arguments that were left out, so that calls can be compared."""
        return call.function, self._read(call).model_dump(mode="json")

    def _read(self, call: Call) -> Any:
        function = next(one for one in self.functions if one.name == call.function)
        return function.parameters.model_validate(dict(call.args))


def execute(suite: Suite, environment: Environment, call: Call) -> tuple[Any, str | None]:
    """Return what AgentDojo's own runtime makes of a call, and the error if there was one."""
    result: tuple[Any, str | None] = FunctionsRuntime(suite.functions).run_function(
        environment, call.function, call.args
    )
    return result


def make_call(function: str, arguments: JsonObject) -> Call:
    """Return a call in AgentDojo's form."""
    call: Call = FunctionCall(function=function, args=dict(arguments))
    return call


def message_of(call: Call) -> dict[str, Any]:
    """Return the message in which a model makes a call, in AgentDojo's form."""
    return {"role": "assistant", "tool_calls": [call], "content": []}


def last_message(text: str) -> dict[str, Any]:
    """Return the model's last word, in AgentDojo's form."""
    return {"role": "assistant", "tool_calls": None, "content": [{"type": "text", "content": text}]}


def load(name: str) -> Suite:
    """Return the suite of this name."""
    return Suite(name, get_suites(VERSION)[name])
