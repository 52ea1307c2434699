"""Workflow: stages over agents and functions, asked, approved and resumed as an agent is.

A workflow is a read tool whose code walks the stages (`placet.workflow.walk`); asking it is a
run that begins with the call of that tool. So it passes the gate, pauses when something in
it waits for a person, and goes on in any process, as every run does.
"""

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic, TypeAlias, TypeVar

from pydantic import BaseModel, ValidationError

from placet.agent.definition import AgentDefinition
from placet.agent.output import Contract
from placet.errors import ConfigurationError, ToolError
from placet.gate.gate import Gate
from placet.ports import Clock, IdSource, ModelClient, PrincipalDirectory, Store
from placet.redaction.redact import Redactor
from placet.runtime.hooks import Hooks
from placet.runtime.kept_state import KeptState
from placet.runtime.nested import Nesting
from placet.runtime.site import Emit
from placet.runtime.telemetry import Telemetry
from placet.runtime.world import AuditSink, World
from placet.tools.arguments import Arguments, refuse
from placet.tools.complaints import property_names
from placet.tools.context import Context
from placet.tools.parameters import Input
from placet.tools.tool import Tool
from placet.values.call import ToolCall, Wire
from placet.values.decision import Deny
from placet.values.json import Json, JsonObject, canonical, is_mapping
from placet.values.limits import WORKFLOW_BUDGET, Budget
from placet.values.message import AssistantMessage, Message
from placet.values.outcome import Outcome
from placet.values.price import Price
from placet.values.principal import EVERYONE
from placet.values.tool import Effect
from placet.wiring import Agent, Who, by_name
from placet.words.template import choose
from placet.workflow.fields import QUESTION, check_places, fill_question, settle_stage
from placet.workflow.stages import agents_of, as_stages, find_agents, is_state_type
from placet.workflow.walk import Walk

S = TypeVar("S", bound=BaseModel)

Words: TypeAlias = str | Mapping[str, str] | Callable[[Any], str] | None
"""A text with `{field}` for fields of the state, one for each language, or a function of the state."""


class Opening(BaseModel):
    """With what a workflow begins."""

    question: str
    state: dict[str, Any] | None = None


class Question(BaseModel):
    """What a model may give to a workflow that it can call as a tool."""

    question: str


@dataclasses.dataclass(frozen=True, slots=True)
class StateContract:
    """A workflow answers with its state.

    Attributes:
        kind: The type of the state.
        schema: Its JSON Schema.
    """

    kind: type[BaseModel]
    schema: JsonObject

    def read(self, text: str) -> Arguments | Deny:
        """Refuse: no model is asked for a state."""
        del text
        return refuse("a workflow answers with its state")

    def value_of(self, read: Arguments) -> Any:
        """Return what the caller gets."""
        return read.value

    def load(self, output: Json) -> Any:
        """Return the state that is stored with a run.

        Raises:
            ConfigurationError: It does not fit the type any more.
        """
        kept = KeptState(self.kind, None)
        kept.restore(output)
        return kept.value


class Workflow(Agent, Generic[S]):
    """Stages over agents and functions, with one typed state.

    It is asked, approved, rejected, resumed, watched and closed as an `Agent`; its answer has
    the final state as `output`. It can be a stage of another workflow, be started by a tool
    through `context.runtime`, and be a tool of an agent (`as_tool`).

    Args:
        name: Under which its runs are stored, and the name of its tool.
        state: The type of the state, a pydantic model. It is stored as JSON, field by field.
        stages: Agents, functions, `AgentStage`, `Sequence`, `Loop`, `Parallel`, in order.
        start: Makes the state from what is asked. Left out, the state begins with its
            defaults, and with the question in the field `question` if there is one.
        answer: The answer in words: a text with `{field}` for fields of the state, one for
            each language, or a function of the state. Left out, it is the state as JSON, redacted.
        description: What it is for.
        roles: Who may start it.
        redact: Fields of the state that are kept out of the audit log and of texts in the answer.
        agents: Agents that stages name rather than hold.
        store: As for `Agent`; that of the agents in its stages is not used.
        deps: What its functions find as `context.deps`; agents have their own.
        directory: As for `Agent`.
        audit: As for `Agent`.
        hooks: As for `Agent`, for the workflow's own call.
        gate: As for `Agent`, for the workflow's own call.
        secret: As for `Agent`.
        budget: What the whole tree may use up.
        prices: As for `Agent`, for every agent in the tree; an agent's own outweigh them.
        release_unrecorded_reads: As for `Agent`.
        telemetry: As for `Agent`, for everything in the tree.
        clock: As for `Agent`.
        ids: As for `Agent`.

    Raises:
        ConfigurationError: Something is built wrong; the message names it and the mend.
    """

    def __init__(  # noqa: PLR0913 - the one place where everything is given
        self,
        name: str,
        *,
        state: type[S],
        stages: Iterable[Any],
        start: Callable[[str], S] | None = None,
        answer: Words = None,
        description: str = "",
        roles: Iterable[str] = (EVERYONE,),
        redact: Iterable[str] = (),
        agents: Iterable[Agent] = (),
        store: Store | str = "sqlite:///placet.db",
        deps: Any = None,
        directory: PrincipalDirectory | None = None,
        audit: Iterable[AuditSink] = (),
        hooks: Iterable[Hooks] = (),
        gate: Gate | None = None,
        secret: bytes | None = None,
        budget: Budget = WORKFLOW_BUDGET,
        prices: Mapping[str, Price | None] | None = None,
        release_unrecorded_reads: bool = False,
        telemetry: Telemetry | None = None,
        clock: Clock | None = None,
        ids: IdSource | None = None,
    ) -> None:
        if not is_state_type(state):
            raise ConfigurationError(f"the state of workflow {name!r} is a pydantic model, not {state!r}")
        named = by_name(agents)
        listed = find_agents(as_stages(list(stages), f"workflow {name!r}"), named)
        self.state = state
        self.stages = tuple(settle_stage(stage, state) for stage in listed)
        self._start = start
        self._words = answer
        self._about = description or f"Run the workflow {name!r}."
        self._roles = frozenset(roles)
        self._redactor = Redactor(frozenset(redact))
        schema = state.model_json_schema(by_alias=False)
        unknown = sorted(self._redactor.fields - property_names(schema))
        if unknown:
            raise ConfigurationError(f"redact of workflow {name!r} names {unknown}, which {state.__name__} has not")
        for text in _texts(answer):
            check_places(text, state, f"the answer of workflow {name!r}", self._redactor.fields)
        super().__init__(
            AgentDefinition(name=name, description=description, budget=budget),
            tools=[self._tool(name, Opening, budget)],
            store=store,
            deps=deps,
            directory=directory,
            audit=tuple(audit),
            hooks=tuple(hooks),
            gate=gate,
            secret=secret,
            agents=agents_of(self.stages, named),
            prices=prices,
            release_unrecorded_reads=release_unrecorded_reads,
            telemetry=telemetry,
            clock=clock,
            ids=ids,
        )
        self.contract: Contract | None = StateContract(state, schema)
        if start is None:
            self._begin_state("")

    # ── asking ────────────────────────────────────────────────────────────────────────

    async def ask(
        self,
        question: str,
        *,
        principal: Who,
        history: Iterable[Message] = (),
        language: str | None = None,
        output: Any = None,
        emit: Emit | None = None,
        state: S | None = None,
    ) -> Outcome:
        """Return what comes of a question: `Answer` (its `output` is the state), `Waiting`, `Stopped` or `Refused`.

        Args:
            question: What the person says.
            principal: On whose behalf. It never comes from the model or from a client's text.
            history: The conversation before: the `history` of the last outcome.
            language: Of the person; left out, it is found as for an agent.
            output: Must be left out: a workflow answers with its state.
            emit: Told what happens meanwhile; see `placet.values.event`.
            state: With which it begins; left out, it is made from the question.

        Raises:
            ConfigurationError: An output was asked for, or the state is of another type.
            StoreError: The store or the directory cannot be read.
            asyncio.CancelledError: The caller was cancelled; the run is closed as cancelled.
        """
        begin = None if state is None else KeptState(self.state, state).keep()
        opening = self._first_call(question, begin)
        return await self._ask(question, principal, tuple(history), language, output, emit=emit, opening=opening)

    def opening(self, question: str) -> AssistantMessage | None:
        """Return the call of the workflow's tool, with which its runs begin."""
        return self._first_call(question, None)

    def as_tool(self, *, name: str | None = None, description: str | None = None) -> Tool:
        """Return the workflow as a tool of an agent: the model gives the question and reads the answer in words.

        Where one of its agents reads what others can write, others can write what it gives back
        (`writable_output`).

        Args:
            name: What the model calls it by; left out, the workflow's name.
            description: What it does and when to use it; left out, the workflow's.

        Raises:
            ToolDefinitionError: No provider takes the name.
        """
        tool = self._tool(name or self.definition.name, Question, self.definition.budget)
        writable = _reads_others(self.world)
        spec = dataclasses.replace(
            tool.spec, description=description or tool.spec.description, writable_output=writable
        )
        return dataclasses.replace(tool, spec=spec)

    # ── inside ────────────────────────────────────────────────────────────────────────

    def _open_model(self, model: ModelClient | str | None) -> ModelClient | None:
        del model
        return None

    def _check_output(self, output: Any) -> None:
        if output is not None:
            raise ConfigurationError(f"workflow {self.definition.name!r} answers with its state: leave output=… out")

    def _first_call(self, question: str, state: JsonObject | None) -> AssistantMessage:
        given: JsonObject = {"question": question} if state is None else {"question": question, "state": state}
        return AssistantMessage(calls=(ToolCall("call_0", self.definition.name, canonical(given), wire=Wire.DIRECT),))

    def _tool(self, name: str, parameters: type[Opening] | type[Question], budget: Budget) -> Tool:
        async def walk(given: Input[Any], context: Context[Any]) -> str:
            return await self._walk(given.question, getattr(given, "state", None), context)

        tool = Tool.define(
            name=name,
            description=self._about,
            parameters=parameters,
            effect=Effect.READ,
            handler=walk,
            roles=self._roles,
            timeout=budget.seconds,
        )
        # The fields are those of the state, which stands in the arguments as it is: they were checked against its type.
        return dataclasses.replace(tool, spec=dataclasses.replace(tool.spec, redact=self._redactor.fields))

    async def _walk(self, question: str, given: JsonObject | None, context: Context[Any]) -> str:
        runtime = context.runtime
        if not isinstance(runtime, Nesting):
            raise ToolError("a workflow needs a run of its own", hint="ask it, or call it with an idempotency key")
        kept = KeptState(self.state, None)
        if given is None:
            kept.value = self._begin_state(question)
        else:
            kept.restore(given)
        kept.keep()
        deps = context.deps if self.world.deps is None else self.world.deps
        walk = Walk(
            context=dataclasses.replace(context, deps=deps),
            runtime=runtime,
            question=question,
            kept=kept,
            seconds=self.definition.budget.seconds,
            redactor=self._redactor,
        )
        return await walk.through(self.stages, self._say)

    def _begin_state(self, question: str) -> S:
        if self._start is not None:
            return self._start(question)
        values = {QUESTION: question} if QUESTION in self.state.model_fields else {}
        try:
            return self.state.model_validate(values, by_alias=False, by_name=True)
        except ValidationError as error:
            missing = [".".join(map(str, item["loc"])) for item in error.errors(include_input=False)]
            raise ConfigurationError(
                f"the state {self.state.__name__} of workflow {self.definition.name!r} cannot begin: {missing} have no "
                "defaults; give them, or start=lambda question: …"
            ) from error

    def _say(self, walk: Walk) -> str:
        words = self._words
        if callable(words):
            return str(words(walk.kept.value))
        if words is None:
            return canonical(self._redactor.value(walk.kept.dump()))
        text = words if isinstance(words, str) else choose(words, walk.context.language)
        return fill_question(text, walk.kept.dump(), walk.question)


def _reads_others(world: World) -> bool:
    """Whether others can write something that a tool of this world, or of an agent in it, gives back."""
    if any(tool.spec.writable_output for tool in world.toolset):
        return True
    return any(_reads_others(agent.world) for agent in world.agents.values())


def _texts(words: Words) -> Iterable[str]:
    if isinstance(words, str):
        return (words,)
    return tuple(words.values()) if is_mapping(words) else ()
