"""What has failed elsewhere, in public, with authority and secrets: each test names its cases."""

import logging
from dataclasses import dataclass
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pydantic import SecretStr

from placet.errors import ToolDefinitionError, ToolError
from placet.models.scripted import ScriptedModel
from placet.runtime.hooks import Hooks, ToolUse
from placet.runtime.sinks import ListSink
from placet.runtime.telemetry import Telemetry
from placet.tools.context import Context
from placet.tools.parameters import Injected
from placet.tools.tool import Tool, tool
from placet.tools.toolset import Toolset
from placet.values.call import ToolResult
from placet.values.outcome import Answer
from placet.values.principal import EVERYONE, Principal
from placet.wiring import Agent
from tests.runtime.conftest import CLERK, MakeAgent, Office, ask_first
from tests.runtime.doors import DOORS, ask_inner
from tests.runtime.public_failures import GATED, results

# ── authority ─────────────────────────────────────────────────────────────────────────


class TenantId(str):
    """Whose data a tool may see."""

    __slots__ = ()


@tool(effect="read", roles={EVERYONE})
async def order(order_id: str, tenant_id: Injected[TenantId], context: Context[Office]) -> str:
    """Read an order."""
    context.deps.done.append(("order", order_id, str(tenant_id)))
    return "one order"


FOR_OURS = Toolset([order, ask_first, ask_inner()], providers={TenantId: TenantId("ours")})


@pytest.mark.parametrize(
    "more", [{"tenant_id": "other"}, {"context": {"tenant": "other"}}, {"Tenant_Id": "other"}, {"principal": "admin"}],
    ids=repr,
)  # fmt: skip
@pytest.mark.parametrize("door", DOORS)
async def test_what_the_program_gives_cannot_be_given_by_a_model(
    make_agent: MakeAgent, office: Office, heard: ListSink, door: str, more: dict[str, Any]
) -> None:
    """C134: through every door."""

    def make(*arguments: Any, **options: Any) -> Agent:
        return make_agent(*arguments, **{"tools": FOR_OURS, **options})

    result = await DOORS[door](make, "order", {"order_id": "7", **more}, CLERK)

    assert result.code == "invalid_arguments"
    assert not office.done
    assert "order" in {entry.tool for entry in heard.entries if entry.decision == "invalid_arguments"}
    spec = next(one.spec for one in FOR_OURS if one.name == "order")
    assert "tenant" not in repr(spec.input_schema)


async def test_what_the_program_gives_arrives(make_agent: MakeAgent, office: Office) -> None:
    agent = make_agent(tools=FOR_OURS)

    await agent.call("order", {"order_id": "7"}, principal=CLERK)

    assert office.done == [("order", "7", "ours")]


@pytest.mark.parametrize("door", DOORS)
async def test_a_tool_of_another_role_is_no_tool(make_agent: MakeAgent, office: Office, door: str) -> None:
    """C136, but for its wire: one is listed, the others are refused as what does not exist is."""
    viewer = Principal("v1", {"viewer"})

    def make(*arguments: Any, **options: Any) -> Agent:
        return make_agent(*arguments, **{"tools": [*GATED, ask_first, ask_inner()], **options})

    hidden = await DOORS[door](make, "delete_row", {"id": 1}, viewer)
    unknown = await DOORS[door](make, "delete_rows", {"id": 1}, viewer)
    listed = await DOORS[door](make, "list_rows", {}, viewer)

    assert hidden.code == unknown.code == "unknown_tool"
    assert hidden.content.replace("delete_row", "…") == unknown.content.replace("delete_rows", "…")
    assert listed.content == "rows 1, 2 and 3"
    assert office.done == [("list_rows",)]


def test_a_tool_for_nobody_in_particular_is_not_built() -> None:
    """C136: `undeclared`."""

    @tool(effect="read")
    async def undeclared() -> str:
        """Do it."""
        return "done"

    with pytest.raises(ToolDefinitionError, match="nobody may call"):
        Toolset([undeclared])


# ── secrets ───────────────────────────────────────────────────────────────────────────

SECRET_TEXT = "sk-TEST-123"
OPAQUE = "tk_9f2e opaque/of+no-form"


def _spoil(args: dict[str, Any]) -> str:
    args["api_key"] = SECRET_TEXT
    args.setdefault("nested", {})["api_key"] = SECRET_TEXT
    return "done"


def spoiling() -> Tool:
    schema = {"type": "object", "properties": {"q": {"type": "string"}, "nested": {"type": "object"}}}

    def f(args: dict[str, Any]) -> str:
        return _spoil(args)

    return Tool.define(name="f", description="Do it.", parameters=schema, effect="read", handler=f, roles={EVERYONE})


@tool(effect="read", roles={EVERYONE}, name="f")
def spoiling_one(nested: dict[str, Any], q: str = "") -> str:
    """Do it."""
    return _spoil(nested)


@pytest.mark.parametrize("spoils", [spoiling(), spoiling_one], ids=["the whole input", "one argument"])
async def test_what_a_tool_makes_of_its_input_stays_with_it(
    make_agent: MakeAgent, heard: ListSink, caplog: pytest.LogCaptureFixture, spoils: Tool
) -> None:
    """C214."""
    exported, provider = InMemorySpanExporter(), TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exported))
    hooked: list[Any] = []

    def after(use: ToolUse, result: ToolResult, data: Any) -> None:
        hooked.append((use, result, data))

    hooks = Hooks(before_tool=hooked.append, after_tool=after)
    agent = make_agent(
        ScriptedModel().calls("f", q="x", nested={"a": 1}).says("ok"), tools=[spoils], hooks=[hooks],
        telemetry=Telemetry(provider=provider, content=True),
    )  # fmt: skip
    with caplog.at_level(logging.DEBUG):
        outcome = await agent.ask("Go", principal=CLERK)

    assert isinstance(outcome, Answer)
    assert results(outcome)[0].content == "done"
    assert len(hooked) == 2
    spans = [span.to_json() for span in exported.get_finished_spans()]
    report = await agent.report(outcome.run_id)
    for place in (heard.entries, hooked, spans, outcome, report, caplog.text):
        assert SECRET_TEXT not in repr(place)


@dataclass
class Token:
    """What a tool logs in with."""

    value: str


class Plain:
    """The same, of a class that says more than it should."""

    def __init__(self, value: str) -> None:
        self.value = value

    def __repr__(self) -> str:
        return f"<Plain {self.value}>"


class Text(str):
    """The same, as a text."""

    __slots__ = ()


@pytest.mark.parametrize("effect", ["read", "write"])
@pytest.mark.parametrize("kind", [Token, Plain, Text])
@pytest.mark.parametrize("value", [SECRET_TEXT, OPAQUE])
async def test_what_an_exception_says_of_a_dependency_is_said_to_nobody(
    make_agent: MakeAgent, heard: ListSink, caplog: pytest.LogCaptureFixture, kind: Any, value: str, effect: str
) -> None:
    """C215."""

    @tool(effect=effect, roles={EVERYONE}, waiver="a test", name="f")
    def f(q: str, auth: Injected[kind]) -> str:  # pyright: ignore[reportInvalidTypeForm,reportUnknownParameterType] - of each kind
        """Do it."""
        raise RuntimeError(f"{auth!r}", q)

    model = ScriptedModel().calls("f", q="x").says("ok")
    agent = make_agent(model, tools=Toolset([f], providers={kind: kind(value)}))
    with caplog.at_level(logging.DEBUG):
        outcome = await agent.ask("Go", principal=CLERK)

    assert isinstance(outcome, Answer)
    assert results(outcome)[0].code == "internal_error"
    assert any("RuntimeError" in entry.body for entry in heard.entries)
    for place in (heard.entries, outcome, model.requests, await agent.report(outcome.run_id), caplog.text):
        assert value not in repr(place)


@dataclass
class Settings:
    """What a tool finds in its context."""

    greeting: str
    api_key: str
    login: Token


@pytest.mark.parametrize("what", ["api_key", "login"])
async def test_what_an_exception_says_of_a_secret_in_the_context_is_recorded_nowhere(
    make_agent: MakeAgent, heard: ListSink, what: str
) -> None:
    """C215: where the token comes with the context."""

    @tool(effect="read", roles={EVERYONE}, name="f")
    async def f(context: Context[Settings]) -> str:
        """Do it."""
        raise RuntimeError(context.deps.greeting, getattr(context.deps, what))

    deps = Settings("good morning", OPAQUE, Token(OPAQUE[::-1]))
    await make_agent(tools=[f], deps=deps).call("f", {}, principal=CLERK)

    assert "good morning" in repr(heard.entries)
    assert OPAQUE not in repr(heard.entries)
    assert OPAQUE[::-1] not in repr(heard.entries)


async def test_what_a_tool_says_for_the_model_holds_no_login(make_agent: MakeAgent, heard: ListSink) -> None:
    """C215: where the tool itself puts the token into words for the model."""

    @tool(effect="read", roles={EVERYONE}, name="f")
    async def f(auth: Injected[Token], context: Context[Settings]) -> str:
        """Do it."""
        raise ToolError(f"{context.deps.greeting}: {auth}", hint=f"not with {context.deps.api_key}")

    model = ScriptedModel().calls("f").says("ok")
    deps = Settings("good morning", OPAQUE[::-1], Token(""))
    agent = make_agent(model, tools=Toolset([f], providers={Token: Token(OPAQUE)}), deps=deps)
    outcome = await agent.ask("Go", principal=CLERK)

    assert results(outcome)[0].content.startswith("good morning: ")
    for place in (outcome, model.requests, heard.entries):
        assert OPAQUE not in repr(place)
        assert OPAQUE[::-1] not in repr(place)


@tool(effect="read", roles={EVERYONE}, name="f")
class Fetching:
    """Do it."""

    def __init__(self, auth: Token) -> None:
        self.auth = auth

    def execute(self, q: str) -> str:
        """Do it."""
        raise RuntimeError(self.auth, q)


async def test_what_a_class_was_constructed_with_is_recorded_nowhere(make_agent: MakeAgent, heard: ListSink) -> None:
    """C215: where the tool is a class."""
    agent = make_agent(tools=Toolset([Fetching], providers={Token: Token(OPAQUE)}))
    await agent.call("f", {"q": "a word"}, principal=CLERK)

    assert "a word" in repr(heard.entries)
    assert OPAQUE not in repr(heard.entries)


async def test_a_secret_of_a_type_of_its_own_says_nothing(make_agent: MakeAgent, heard: ListSink) -> None:
    @tool(effect="read", roles={EVERYONE}, name="f")
    def f(auth: Injected[SecretStr]) -> str:
        """Do it."""
        raise RuntimeError(f"{auth!r} {auth.get_secret_value()}")

    agent = make_agent(tools=Toolset([f], providers={SecretStr: SecretStr(OPAQUE)}))
    await agent.call("f", {}, principal=CLERK)

    assert OPAQUE not in repr(heard.entries)


@pytest.mark.parametrize("message", ["city not found: Oslp", "pay 100% of {x}, não 50", "a\nb"])
async def test_what_a_tool_says_for_the_model_reaches_the_model(make_agent: MakeAgent, message: str) -> None:
    """C217."""

    @tool(effect="read", roles={EVERYONE}, name="find")
    async def find() -> str:
        """Find it."""
        raise ToolError(message)

    outcome = await make_agent(ScriptedModel().calls("find").says("ok"), tools=[find]).ask("Go", principal=CLERK)

    assert results(outcome)[0].content == message
