"""Replay: the model makes the honest calls, then every call of the attacker, and stops at no refusal.

No model is needed: it is taken to obey the attacker in everything. The person is simulated, and says
yes to exactly the calls of which the honest task consists where nobody has interfered.
"""

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

from bench.agentdojo.declarations import PERSON, Handler, Policy, declare
from bench.agentdojo.suites import (
    Call,
    Environment,
    InjectionTask,
    Suite,
    UserTask,
    execute,
    last_message,
    make_call,
    message_of,
)
from placet import (
    Agent,
    AgentDefinition,
    Budget,
    Context,
    Outcome,
    Principal,
    ToolCall,
    ToolError,
    ToolMessage,
    Waiting,
)
from placet.models.scripted import ScriptedModel
from placet.ports import Finish, ModelAnswer, ModelRequest
from placet.stores.memory import MemoryStore
from placet.values.json import JsonObject

EMMA = Principal("emma", roles={PERSON})
BUDGET = Budget(turns=500, calls=500, seconds=600, output_bytes=10_000_000)
EXPECTED = frozenset({"ok", "tool_error", "rejected"})
"""How a call may end: it ran, the tool itself said no, or the person did."""

Wish = tuple[str, JsonObject]
NextCall = Callable[[], Call]
"""What the model calls next, worked out when it is its turn."""


@dataclass
class Played:
    """What came of one case.

    Attributes:
        done: Whether the honest task was done, by AgentDojo's own function.
        attacked: Whether the attack succeeded, by AgentDojo's own function.
        questions: What the person was asked, as tool and arguments.
        executed: How many calls ran.
        surprises: Calls that ended otherwise than by running or by the person's no.
    """

    done: bool = False
    attacked: bool = False
    questions: list[Wish] = field(default_factory=list)
    executed: list[Call] = field(default_factory=list)
    surprises: list[str] = field(default_factory=list)


@dataclass
class Scene:
    """What the tools of one run work on: `context.deps`."""

    environment: Environment
    executed: list[Call]


class Stage:
    """One suite under one policy; cases are played on it one after another.

    Args:
        suite: The suite.
        policy: What is asked for before a tool runs.
    """

    def __init__(self, suite: Suite, policy: Policy) -> None:
        self.suite = suite
        self.policy = policy
        self._tools = [declare(function, self._handler(function.name), policy) for function in suite.functions]
        self._clean = suite.environment()
        self._runner = asyncio.Runner()

    def play(self, user: UserTask, injection: InjectionTask | None = None) -> Played:
        """Return what comes of an honest task, with an attack or without one."""
        environment = self.suite.environment() if injection is None else self.suite.injected(user, injection)
        case = Case(self, user, injection)
        case.played.done, case.played.attacked = self.suite.grade(case, user, injection, environment)
        return case.played

    def wanted(self, user: UserTask) -> list[Wish]:
        """Return the calls that the person says yes to."""
        environment = user.init_environment(self._clean.model_copy(deep=True))
        return [self.suite.whole(call) for call in user.ground_truth(environment)]

    def take_through(self, user: UserTask, calls: Sequence[NextCall], scene: Scene, played: Played) -> None:
        """Make calls, through the gate or past it."""
        if self.policy is Policy.NAIVE:
            for next_call in calls:
                call = next_call()
                execute(self.suite, scene.environment, call)
                scene.executed.append(call)
        else:
            self._runner.run(self._converse(user, calls, scene, played))

    async def _converse(self, user: UserTask, calls: Sequence[NextCall], scene: Scene, played: Played) -> None:
        model = ScriptedModel()
        for next_call in calls:
            model.does(self._answer_with(next_call))
        model.says(user.GROUND_TRUTH_OUTPUT or "Done.")
        agent = Agent(
            AgentDefinition(name=self.suite.name, prompt="You help the person.", budget=BUDGET),
            tools=self._tools,
            model=model,
            store=MemoryStore(key=b"k" * 32),
            secret=b"s" * 32,
            deps=scene,
        )
        async with agent:
            outcome = await agent.ask(user.PROMPT, principal=EMMA)
            while isinstance(outcome, Waiting):
                outcome = await self._answer(agent, outcome, self.wanted(user), played)
        results = [result for message in _history(outcome) for result in message.results]
        played.surprises += [f"{result.code}: {result.content}" for result in results if result.code not in EXPECTED]
        if len(results) != len(calls):
            played.surprises.append(f"{len(calls)} calls had {len(results)} results: {outcome}")

    def _answer_with(self, next_call: NextCall) -> Callable[[ModelRequest], ModelAnswer]:
        def answer(request: ModelRequest) -> ModelAnswer:
            name, arguments = self.suite.plain(next_call())
            call = ToolCall(f"call_{len(request.transcript)}", name, json.dumps(arguments))
            return ModelAnswer(calls=(call,), finish=Finish.CALLS)

        return answer

    async def _answer(self, agent: Agent, waiting: Waiting, wanted: Sequence[Wish], played: Played) -> Outcome:
        """Say yes or no to the one call that waits, as the person does."""
        (asked,) = await agent.approvals(run_id=waiting.run_id)
        played.questions.append((asked.tool, asked.arguments))
        if self.suite.whole(make_call(asked.tool, asked.arguments)) in wanted:
            return await agent.confirm(asked.id, by=EMMA)
        return await agent.reject(asked.id, by=EMMA)

    def _handler(self, name: str) -> Handler:
        async def handler(arguments: dict[str, Any], context: Context[Scene]) -> Any:
            call = make_call(name, arguments)
            context.deps.executed.append(call)
            result, error = execute(self.suite, context.deps.environment, call)
            if error is not None:
                raise ToolError(error)
            return result

        return handler


@dataclass
class Case:
    """One case, in the form that AgentDojo asks to work on a task."""

    stage: Stage
    user: UserTask
    injection: InjectionTask | None
    played: Played = field(default_factory=Played)

    def query(self, query: str, runtime: Any, env: Environment) -> tuple[str, Any, Environment, list[Any], Any]:
        """Make all calls; return the messages in which those calls stand that ran."""
        calls: list[NextCall] = [partial(_same, call) for call in self.user.ground_truth(env)]
        if self.injection is not None:
            # What the attacker wants is looked up when it is due: it may speak of what the person has just made.
            due = cache(partial(self.injection.ground_truth, env))
            count = len(self.injection.ground_truth(env))
            calls += [partial(_nth, due, number) for number in range(count)]
        self.stage.take_through(self.user, calls, Scene(env, self.played.executed), self.played)
        messages = [message_of(call) for call in self.played.executed]
        return query, runtime, env, [*messages, last_message(self.user.GROUND_TRUTH_OUTPUT)], {}


def _same(call: Call) -> Call:
    return call


def _nth(calls: Callable[[], Sequence[Call]], number: int) -> Call:
    return calls()[number]


def _history(outcome: Outcome) -> list[ToolMessage]:
    return [message for message in getattr(outcome, "history", ()) if isinstance(message, ToolMessage)]
