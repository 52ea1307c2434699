"""Spans of runs, answers and calls: who is within whom, what they tell, and what they never tell."""

import asyncio
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from opentelemetry.trace import NoOpTracerProvider, StatusCode

from placet.agent.definition import AgentDefinition
from placet.models.scripted import ScriptedModel
from placet.runtime import telemetry as names
from placet.runtime.telemetry import Telemetry
from placet.tools.context import Context
from placet.tools.tool import tool
from placet.values.outcome import Answer, Waiting
from placet.values.principal import EVERYONE
from placet.values.run import Usage
from tests.runtime.conftest import BOSS, CLERK, MakeAgent
from tests.runtime.doors import digests_kept_by


@pytest.fixture
def exported() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def provider(exported: InMemorySpanExporter) -> TracerProvider:
    made = TracerProvider(shutdown_on_exit=False)
    made.add_span_processor(SimpleSpanProcessor(exported))
    return made


@pytest.fixture
def traced(provider: TracerProvider, make_agent: MakeAgent) -> MakeAgent:
    def make(model: ScriptedModel, **options: Any) -> Any:
        return make_agent(model, **{"telemetry": Telemetry(provider=provider), **options})

    return make


def tree(exported: InMemorySpanExporter) -> list[str]:
    """Every span, in the order of its beginning, under its parent."""
    spans = sorted(exported.get_finished_spans(), key=lambda span: (span.start_time or 0, span.context.span_id))
    named = {span.context.span_id: span for span in spans}

    def path(span: ReadableSpan) -> str:
        above = named.get(span.parent.span_id) if span.parent is not None else None
        return span.name if above is None else f"{path(above)} > {span.name}"

    return [path(span) for span in spans]


def find(exported: InMemorySpanExporter, name: str) -> ReadableSpan:
    (found,) = [span for span in exported.get_finished_spans() if span.name == name]
    return found


def told(exported: InMemorySpanExporter, name: str) -> dict[str, Any]:
    return dict(find(exported, name).attributes or {})


async def test_a_run_has_its_answers_and_calls_within_it(traced: MakeAgent, exported: InMemorySpanExporter) -> None:
    model = ScriptedModel(usage=Usage(input_tokens=7, output_tokens=2)).calls("look", name="sky").says("blue")

    await traced(model).ask("Hi", principal=CLERK)

    assert tree(exported) == [
        "invoke_agent office",
        "invoke_agent office > chat scripted",
        "invoke_agent office > execute_tool look",
        "invoke_agent office > chat scripted",
    ]


async def test_what_the_spans_tell(traced: MakeAgent, exported: InMemorySpanExporter) -> None:
    model = ScriptedModel(usage=Usage(input_tokens=7, output_tokens=2), name="openai-responses:gpt-x").calls(
        "look", name="sky"
    )

    outcome = await traced(model.says("blue")).ask("Hi", principal=CLERK)

    assert told(exported, "execute_tool look") == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.conversation.id": outcome.run_id,
        "gen_ai.tool.name": "look",
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": "call_1_0",
        "gen_ai.tool.description": "Look something up.",
        "placet.effect": "read",
        "placet.decision": "allow",
        "placet.rule.id": "role support",
    }
    assert told(exported, "invoke_agent office") == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "office",
        "gen_ai.conversation.id": outcome.run_id,
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-x",
        "gen_ai.usage.input_tokens": 14,
        "gen_ai.usage.output_tokens": 4,
        "placet.run.id": outcome.run_id,
        "placet.run.status": "done",
    }
    first = exported.get_finished_spans()[0]
    assert dict(first.attributes or {}) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.conversation.id": outcome.run_id,
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-x",
        "gen_ai.output.type": "text",
        "gen_ai.response.finish_reasons": ("tool_calls",),
        "gen_ai.usage.input_tokens": 7,
        "gen_ai.usage.output_tokens": 2,
    }


@pytest.mark.parametrize(
    ("name", "arguments", "decision", "rule"),
    [
        ("look", {"nam": "x"}, "invalid", None),
        ("balance_of", {"account": "b"}, "deny", "owns_account"),
        ("payroll", {}, "deny", "hidden by role"),
    ],
)
async def test_a_refusal_is_told_with_its_rule(
    name: str,
    arguments: dict[str, Any],
    decision: str,
    rule: str | None,
    traced: MakeAgent,
    exported: InMemorySpanExporter,
) -> None:
    await traced(ScriptedModel().calls(name, arguments).says("ok")).ask("Hi", principal=CLERK)

    span = find(exported, f"execute_tool {name}")
    assert span.status.status_code is StatusCode.ERROR
    assert dict(span.attributes or {})["placet.decision"] == decision
    assert dict(span.attributes or {}).get("placet.rule.id") == rule


async def test_a_limit_that_is_reached_is_told(traced: MakeAgent, exported: InMemorySpanExporter) -> None:
    model = ScriptedModel()
    for number in range(4):
        model.calls("note", text=str(number))

    await traced(model.says("ok")).ask("Hi", principal=CLERK)

    assert [dict(span.attributes or {}).get("placet.decision") for span in notes(exported)] == [
        "allow", "allow", "allow", "rate_limited"
    ]  # fmt: skip


def notes(exported: InMemorySpanExporter) -> list[ReadableSpan]:
    return [span for span in exported.get_finished_spans() if span.name == "execute_tool note"]


async def test_an_approval_is_told_where_it_is_asked_for_and_where_it_is_used(
    traced: MakeAgent, exported: InMemorySpanExporter
) -> None:
    agent = traced(ScriptedModel().calls("pay", to="x", amount=3).says("ok"))
    waiting = await agent.ask("Hi", principal=CLERK)
    assert isinstance(waiting, Waiting)
    asked = told(exported, "execute_tool pay")
    assert told(exported, "invoke_agent office")["placet.run.status"] == "waiting"
    exported.clear()

    await agent.approve(waiting.approvals[0].token, by=BOSS)

    used = told(exported, "execute_tool pay")
    assert (asked["placet.decision"], used["placet.decision"]) == ("approval_required", "allow")
    assert asked["placet.approval.id"] == used["placet.approval.id"] == waiting.approvals[0].id
    assert waiting.approvals[0].token not in str(asked)


async def test_a_name_that_the_model_made_up_is_not_repeated(traced: MakeAgent, exported: InMemorySpanExporter) -> None:
    await traced(ScriptedModel().calls("sk-hunter2").says("ok")).ask("Hi", principal=CLERK)

    assert told(exported, "execute_tool unknown")["placet.decision"] == "deny"
    assert "hunter2" not in everything(exported)


def everything(exported: InMemorySpanExporter) -> str:
    return "".join(span.to_json() for span in exported.get_finished_spans())


async def test_arguments_results_and_the_texts_of_exceptions_stand_in_no_span(
    traced: MakeAgent, exported: InMemorySpanExporter
) -> None:
    model = ScriptedModel().calls("look", name="tulip").calls("break_down", how="unknown").says("secret words")

    await traced(model).ask("a question", principal=CLERK)

    text = everything(exported)
    assert told(exported, "execute_tool break_down")["error.type"] == "internal_error"
    assert not [word for word in ("tulip", "is blue", "hunter2", "secret words", "a question") if word in text]


async def test_they_stand_there_redacted_when_they_are_asked_for(
    traced: MakeAgent, provider: TracerProvider, exported: InMemorySpanExporter
) -> None:
    @tool(effect="read", roles={EVERYONE}, redact={"card"})
    async def charge(card: str, to: str) -> dict[str, str]:
        """Charge a card."""
        return {"card": card, "to": to}

    model = ScriptedModel().calls("charge", card="4111-1111", to="ana").says("ok")
    telemetry = Telemetry(provider=provider, content=True)
    await traced(model, tools=[charge], telemetry=telemetry).ask("Hi", principal=CLERK)

    attributes = told(exported, "execute_tool charge")
    assert attributes[names.TOOL_ARGUMENTS] == '{"card":"[redacted]","to":"ana"}'
    assert attributes[names.TOOL_RESULT] == '{"card":"[redacted]","to":"ana"}'
    assert "4111-1111" not in everything(exported)


async def test_a_fatal_tool_and_a_broken_model_end_their_spans_as_errors(
    traced: MakeAgent, exported: InMemorySpanExporter
) -> None:
    await traced(ScriptedModel().calls("break_down", how="fatal")).ask("Hi", principal=CLERK)
    assert told(exported, "invoke_agent office")["error.type"] == "fatal"
    assert "vault" not in everything(exported)
    exported.clear()

    await traced(ScriptedModel()).ask("Hi", principal=CLERK)

    assert told(exported, "chat scripted")["error.type"] == "ModelProtocolError"
    assert find(exported, "invoke_agent office").status.status_code is StatusCode.ERROR


async def test_calls_of_one_turn_stand_side_by_side(traced: MakeAgent, exported: InMemorySpanExporter) -> None:
    model = ScriptedModel().calls_all([("look", {"name": "a"}), ("look", {"name": "b"}), ("payroll", {})]).says("ok")

    await traced(model).ask("Hi", principal=CLERK)

    calls = [path for path in tree(exported) if "execute_tool" in path]
    assert sorted(calls) == [
        "invoke_agent office > execute_tool look",
        "invoke_agent office > execute_tool look",
        "invoke_agent office > execute_tool payroll",
    ]


async def test_a_nested_run_stands_within_the_call_that_started_it(
    traced: MakeAgent, make_agent: MakeAgent, provider: TracerProvider, exported: InMemorySpanExporter
) -> None:
    inner = make_agent(ScriptedModel(per_run=True).calls("look", name="x").says("seen"),
                       definition=AgentDefinition(name="inner"))  # fmt: skip

    @tool(effect="read", roles={EVERYONE}, timeout=30)
    async def delegate(context: Context[Any]) -> str:
        """Ask twice at once."""
        with provider.get_tracer("mine").start_as_current_span("my own"):
            pass
        answers = await asyncio.gather(context.runtime.run("inner", "a"), context.runtime.run("inner", "b"))
        return " ".join(answer.text for answer in answers)

    model = ScriptedModel().calls("delegate").says("ok")
    outcome = await traced(model, tools=[delegate], agents=[inner]).ask("Hi", principal=CLERK)

    within = "invoke_agent office > execute_tool delegate"
    paths = tree(exported)
    assert f"{within} > my own" in paths
    assert paths.count(f"{within} > invoke_agent inner") == 2
    assert paths.count(f"{within} > invoke_agent inner > execute_tool look") == 2
    assert {span.attributes["gen_ai.conversation.id"] for span in exported.get_finished_spans() if span.attributes} == {
        outcome.run_id
    }


async def test_a_run_stands_within_the_span_of_its_caller(
    traced: MakeAgent, provider: TracerProvider, exported: InMemorySpanExporter
) -> None:
    with provider.get_tracer("server").start_as_current_span("POST /ask"):
        await traced(ScriptedModel().says("ok")).ask("Hi", principal=CLERK)

    assert "POST /ask > invoke_agent office > chat scripted" in tree(exported)


async def test_a_program_s_call_has_a_span(traced: MakeAgent, exported: InMemorySpanExporter) -> None:
    agent = traced(ScriptedModel())

    await agent.call("look", {"name": "x"}, principal=CLERK)
    await agent.call("note", {"text": "x"}, principal=CLERK, key="k")

    assert tree(exported) == ["execute_tool look", "invoke_agent direct", "invoke_agent direct > execute_tool note"]


async def test_a_cancelled_run_ends_its_spans(traced: MakeAgent, exported: InMemorySpanExporter) -> None:
    began = asyncio.Event()

    @tool(effect="read", roles={EVERYONE})
    async def hang() -> str:
        """Hang."""
        began.set()
        await asyncio.Event().wait()
        return "never"

    model = ScriptedModel().calls_all([("hang", {}), ("hang", {})])
    working = asyncio.create_task(traced(model, tools=[hang]).ask("Hi", principal=CLERK))
    await began.wait()
    working.cancel()
    await asyncio.wait({working})

    assert len(exported.get_finished_spans()) == 4
    assert told(exported, "invoke_agent office")["error.type"] == "CancelledError"


async def test_a_span_that_is_not_sampled_is_told_nothing(make_agent: MakeAgent) -> None:
    provider = TracerProvider(sampler=ALWAYS_OFF, shutdown_on_exit=False)
    agent = make_agent(ScriptedModel().calls("look", name="x").says("ok"), telemetry=Telemetry(provider=provider))

    assert isinstance(await agent.ask("Hi", principal=CLERK), Answer)


@pytest.mark.parametrize("provider", [None, NoOpTracerProvider()])
def test_without_an_sdk_there_is_no_tracer(provider: trace.TracerProvider | None) -> None:
    assert Telemetry(provider=provider).tracer() is None
    assert Telemetry(provider=provider).begin_run("a", "run_1", "run_1", None) is None


def test_every_name_is_of_the_conventions_or_ours() -> None:
    own = {value for name, value in vars(names).items() if name.isupper() and isinstance(value, str) and "." in value}

    assert own == {name for name in own if name.startswith(("gen_ai.", "placet.")) or name == "error.type"}


async def test_no_digest_of_arguments_stands_in_a_span(traced: MakeAgent, exported: InMemorySpanExporter) -> None:
    agent = traced(ScriptedModel().calls("pay", to="x", amount=5).calls("note", text="y").says("ok"))
    waiting = await agent.ask("Pay", principal=CLERK)
    assert isinstance(waiting, Waiting)
    await agent.approve(waiting.approvals[0].token, by=BOSS)

    digests = await digests_kept_by(agent)
    text = everything(exported)
    assert len(digests) == 2
    assert not [digest for digest in digests if digest in text]
