"""Telemetry: OpenTelemetry spans of runs, answers of models, and calls of tools.

```text
invoke_agent orders
├── chat gpt-…
├── execute_tool cancel_order       placet.decision, placet.rule.id, placet.effect, placet.approval.id
│   └── invoke_agent clerk           a nested run
└── chat gpt-…
```

Only the API package is needed, and it is imported when there is something to tell it. Where the
application has installed no SDK there are no spans at all, and a run pays for one look at the
provider. Arguments and results stand in no span unless they are asked for, and then redacted as
in the audit log; the text of an exception stands in none.

Names are those of the GenAI semantic conventions, v0.1.0 (the repository
`semantic-conventions-genai`; all of them are in development there), written down here and
nowhere else: the constants that the OpenTelemetry packages export are deprecated.
"""

import os
import sys
import time
from collections.abc import Generator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final

from placet.ports import Finish, ModelAnswer
from placet.values.call import OK, ToolResult
from placet.values.construction import dataclass
from placet.values.decision import Reason
from placet.values.outcome import Answer, Outcome, Refused, Stopped, Waiting
from placet.values.run import Usage
from placet.values.tool import ToolSpec

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.trace import Span, Tracer, TracerProvider

OPERATION: Final = "gen_ai.operation.name"
AGENT: Final = "gen_ai.agent.name"
CONVERSATION: Final = "gen_ai.conversation.id"
PROVIDER: Final = "gen_ai.provider.name"
REQUEST_MODEL: Final = "gen_ai.request.model"
RESPONSE_MODEL: Final = "gen_ai.response.model"
FINISH_REASONS: Final = "gen_ai.response.finish_reasons"
OUTPUT_TYPE: Final = "gen_ai.output.type"
INPUT_TOKENS: Final = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS: Final = "gen_ai.usage.output_tokens"
CACHED_TOKENS: Final = "gen_ai.usage.cache_read.input_tokens"
TOOL: Final = "gen_ai.tool.name"
TOOL_TYPE: Final = "gen_ai.tool.type"
TOOL_DESCRIPTION: Final = "gen_ai.tool.description"
TOOL_CALL: Final = "gen_ai.tool.call.id"
TOOL_ARGUMENTS: Final = "gen_ai.tool.call.arguments"
TOOL_RESULT: Final = "gen_ai.tool.call.result"
ERROR_TYPE: Final = "error.type"

DECISION: Final = "placet.decision"
"""Ours: `allow`, `deny`, `invalid`, `rate_limited` or `approval_required`."""
RULE: Final = "placet.rule.id"
"""Ours: which rule decided."""
EFFECT: Final = "placet.effect"
"""Ours: what the tool does to the world."""
APPROVAL: Final = "placet.approval.id"
"""Ours: the approval that the call carries, or waits for. It grants nothing."""
RUN: Final = "placet.run.id"
"""Ours: the run, as the audit log has it; a conversation has one for each question and each nested run."""
STATUS: Final = "placet.run.status"
"""Ours: `done`, `waiting`, or why the run stopped."""

LOOK_AGAIN: Final = 1.0
"""Seconds for which it counts that no SDK is installed."""

_DECISIONS: Final[Mapping[str, str]] = {
    Reason.LIMIT_REACHED.value: "rate_limited",
    Reason.INVALID_ARGUMENTS.value: "invalid",
    Reason.CUT_OFF.value: "invalid",
}
_FINISHES: Final[Mapping[Finish, str]] = {
    Finish.STOP: "stop",
    Finish.CALLS: "tool_calls",
    Finish.LENGTH: "length",
    Finish.REFUSAL: "content_filter",
    Finish.FILTER: "content_filter",
    Finish.PAUSE: "pause",
    Finish.OTHER: "other",
}


@dataclass(slots=True, kw_only=True)
class Telemetry:
    """What is told to OpenTelemetry.

    Attributes:
        content: Whether spans of tools hold arguments and results, redacted as in the audit log.
        provider: Whose tracer is used; left out, the one that the process has set.
    """

    content: bool = False
    provider: "TracerProvider | None" = None
    _tracers: "dict[int, Tracer]" = field(default_factory=dict[int, Any], repr=False, compare=False)
    _look_again: float = field(default=0.0, repr=False, compare=False)

    def tracer(self) -> "Tracer | None":
        """Return the tracer, or None where no SDK is installed that would make anything of it.

        That there is none holds for a second: asking for the provider looks at the environment
        each time, and costs more than everything else here.
        """
        now = time.monotonic()
        if now < self._look_again:
            return None
        provider = self.provider or _provider_of_the_process()
        if provider is None or _tells_nobody(provider):
            self._look_again = now + LOOK_AGAIN
            return None
        known = self._tracers.get(id(provider))
        if known is None:
            from importlib.metadata import version  # noqa: PLC0415 - as heavy as the API, and not needed without it

            known = self._tracers[id(provider)] = provider.get_tracer("placet", version("placet"))
        return known

    def begin_run(self, agent: str, run_id: str, conversation: str, model: str | None) -> "RunSpan | None":
        """Return the span of one segment of a run, within whatever span is current; None without an SDK.

        Args:
            agent: Whose run.
            run_id: The run.
            conversation: The outermost run of its tree.
            model: Id of the model that is asked, or None for none.
        """
        tracer = self.tracer()
        if tracer is None:
            return None
        span = tracer.start_span(f"invoke_agent {agent}")
        if span.is_recording():
            span.set_attributes(
                {OPERATION: "invoke_agent", AGENT: agent, RUN: run_id, CONVERSATION: conversation, **_model(model)}
            )
        return RunSpan(tracer=tracer, span=span, conversation=conversation, content=self.content)

    def begin_call(self, spec: ToolSpec | None, call_id: str) -> "CallSpan | None":
        """Return the span of one call that stands in no run, within whatever span is current; None without an SDK.

        Args:
            spec: The tool, or None when there is none of this name: a name that somebody
                made up is not repeated.
            call_id: The id of the call.
        """
        tracer = self.tracer()
        if tracer is None:
            return None
        return CallSpan(span=_begin_call(tracer, spec, call_id, None), content=self.content)


def _provider_of_the_process() -> "TracerProvider | None":
    """Return the provider that the process has set. One that has set any has imported the API, or names one for it."""
    if "opentelemetry.trace" not in sys.modules and "OTEL_PYTHON_TRACER_PROVIDER" not in os.environ:
        return None
    from opentelemetry.trace import get_tracer_provider  # noqa: PLC0415 - heavy, and most processes trace nothing

    return get_tracer_provider()


def _tells_nobody(provider: "TracerProvider") -> bool:
    from opentelemetry.trace import NoOpTracerProvider, ProxyTracerProvider  # noqa: PLC0415 - as above

    return isinstance(provider, ProxyTracerProvider | NoOpTracerProvider)


def _begin_call(tracer: "Tracer", spec: ToolSpec | None, call_id: str, within: "Context | None") -> "Span":
    name = spec.name if spec is not None else "unknown"
    span = tracer.start_span(f"execute_tool {name}", context=within)
    if span.is_recording():
        told = {OPERATION: "execute_tool", TOOL: name, TOOL_TYPE: "function", TOOL_CALL: call_id}
        if spec is not None:
            told |= {TOOL_DESCRIPTION: spec.description, EFFECT: spec.effect.value}
        span.set_attributes(told)
    return span


@contextmanager
def _current(span: "Span") -> Generator[None, None, None]:
    """Make a span the current one. Unlike `trace.use_span`, it records no exception: its text may hold anything."""
    from opentelemetry import context  # noqa: PLC0415 - as above

    token = context.attach(_within(span))
    try:
        yield
    finally:
        context.detach(token)


@contextmanager
def _whole(span: "Span") -> Generator[None, None, None]:
    """Make a span the current one, and end it; left by an exception, it has failed with its name."""
    try:
        with _current(span):
            yield
    except BaseException as error:
        _fail(span, type(error).__name__)
        raise
    finally:
        span.end()


def _within(span: "Span") -> "Context":
    from opentelemetry.trace import set_span_in_context  # noqa: PLC0415 - as above

    return set_span_in_context(span)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSpan:
    """The span of one segment of a run.

    Attributes:
        tracer: Makes the spans within it.
        span: The span.
        conversation: The outermost run of the tree.
        content: Whether spans of tools hold arguments and results.
    """

    tracer: "Tracer"
    span: "Span"
    conversation: str
    content: bool

    def current(self) -> AbstractContextManager[None]:
        """Make it the current span, and end it; left by an exception, it has failed with its name."""
        return _whole(self.span)

    def tell(self, outcome: Outcome, before: Usage, after: Usage) -> None:
        """Tell what came of the segment, and what it has used up; it ends where `current` is left."""
        if not self.span.is_recording():
            return
        match outcome:
            case Answer():
                status = "done"
            case Waiting():
                status = "waiting"
            case Stopped(reason=reason) | Refused(reason=reason):
                status = reason.value
                _fail(self.span, status)
        used = Usage(
            input_tokens=after.input_tokens - before.input_tokens,
            output_tokens=after.output_tokens - before.output_tokens,
            cached_tokens=after.cached_tokens - before.cached_tokens,
        )
        self.span.set_attributes({STATUS: status, **_usage(used)})

    def begin_chat(self, model: str, *, structured: bool) -> "ChatSpan":
        """Return the span of one question to a model."""
        from opentelemetry.trace import SpanKind  # noqa: PLC0415 - as above

        told = _model(model)
        within = _within(self.span)
        span = self.tracer.start_span(f"chat {told[REQUEST_MODEL]}", context=within, kind=SpanKind.CLIENT)
        if span.is_recording():
            output = "json" if structured else "text"
            span.set_attributes({OPERATION: "chat", CONVERSATION: self.conversation, OUTPUT_TYPE: output, **told})
        return ChatSpan(span)

    def begin_call(self, spec: ToolSpec | None, call_id: str) -> "CallSpan":
        """Return the span of one call within the run; see `Telemetry.begin_call`."""
        span = _begin_call(self.tracer, spec, call_id, _within(self.span))
        if span.is_recording():
            span.set_attribute(CONVERSATION, self.conversation)
        return CallSpan(span=span, content=self.content)


@dataclass(frozen=True, slots=True)
class ChatSpan:
    """The span of one question to a model.

    Attributes:
        span: The span.
    """

    span: "Span"

    def current(self) -> AbstractContextManager[None]:
        """Make it the current span, so that what the provider's own client traces stands in it, and end it."""
        return _whole(self.span)

    def answer(self, answer: ModelAnswer) -> None:
        """Tell what the model has answered, not what it has said."""
        if self.span.is_recording():
            told: dict[str, Any] = {FINISH_REASONS: [_FINISHES[answer.finish]], **_usage(answer.usage)}
            if answer.model:
                told[RESPONSE_MODEL] = answer.model
            self.span.set_attributes(told)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSpan:
    """The span of one call, from its proposal to its recorded result.

    Attributes:
        span: The span.
        content: Whether it holds arguments and result.
    """

    span: "Span"
    content: bool

    def current(self) -> AbstractContextManager[None]:
        """Make it the current span, so that what the tool traces and nests stands in it; it does not end with that."""
        return _current(self.span)

    def refuse(self, reason: Reason, rule: str) -> None:
        """Tell that the call was refused, and by which rule; what is invalid is so by no rule."""
        self._decided(_DECISIONS.get(reason.value, "deny"), rule, None)

    def wait(self, approval: str, rule: str) -> None:
        """Tell that a person has to say yes first."""
        self._decided("approval_required", rule, approval)

    def allow(self, rule: str, approval: str | None) -> None:
        """Tell that the call was permitted, and by which rule."""
        self._decided("allow", rule, approval)

    def _decided(self, decision: str, rule: str, approval: str | None) -> None:
        if self.span.is_recording():
            told = {DECISION: decision, RULE: rule, APPROVAL: approval or ""}
            self.span.set_attributes({name: value for name, value in told.items() if value})

    def show(self, name: str, text: str) -> None:
        """Tell arguments or a result, redacted before, if spans may hold them."""
        if self.content and text and self.span.is_recording():
            self.span.set_attribute(name, text)

    def end(self, result: ToolResult | None = None) -> None:
        """End it, with the code of its result when that is no success."""
        if result is not None and result.is_error and self.span.is_recording():
            _fail(self.span, result.code if result.code != OK else "tool_error")
        self.span.end()

    def fail(self, kind: str) -> None:
        """End it for a call that came to no result, unless it has ended."""
        if self.span.is_recording():
            _fail(self.span, kind)
            self.span.end()


def _fail(span: "Span", kind: str) -> None:
    from opentelemetry.trace import Status, StatusCode  # noqa: PLC0415 - as above

    if span.is_recording():
        span.set_attribute(ERROR_TYPE, kind)
        span.set_status(Status(StatusCode.ERROR))


def _usage(usage: Usage) -> dict[str, int]:
    counted = {
        INPUT_TOKENS: usage.input_tokens,
        OUTPUT_TOKENS: usage.output_tokens,
        CACHED_TOKENS: usage.cached_tokens,
    }
    return {name: count for name, count in counted.items() if count}


def _model(model: str | None) -> dict[str, str]:
    """Return provider and model of the id of a model client, as `"openai-responses:NAME"`, without its address."""
    if model is None:
        return {}
    kind, _, name = model.partition(":")
    provider = "openai" if kind == "openai-responses" else kind
    return {PROVIDER: provider, REQUEST_MODEL: name.partition("@http")[0] or provider}
