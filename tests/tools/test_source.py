"""ToolSource: what runs is exactly the remote tool of the name, whatever it is called here."""

import itertools
import json
from typing import Any

import pytest

from placet.agent.definition import AgentDefinition
from placet.errors import ConfigurationError, DuplicateToolError, ToolDefinitionError
from placet.models.scripted import ScriptedModel
from placet.ports import Store
from placet.runtime.sinks import ListSink
from placet.stores.memory import MemoryStore
from placet.tools.context import Context
from placet.tools.source import ToolSource
from placet.tools.tool import Tool, tool
from placet.tools.toolset import Toolset
from placet.values.approval import Approval, Preview
from placet.values.audit import AuditKind
from placet.values.call import ToolResult
from placet.values.decision import Reason
from placet.values.message import ToolMessage
from placet.values.outcome import Answer, Waiting
from placet.values.policy import Policy, Rule, Verdict
from placet.values.principal import EVERYONE, Principal
from placet.values.tool import Effect, Remote, ToolSpec
from placet.wiring import Agent

CLERK, BOSS = Principal("s1", roles={"support"}), Principal("f1", roles={"finance"})
TEXT: dict[str, Any] = {"type": "object", "properties": {"text": {"type": "string"}}}
ASKING: dict[str, Any] = {"effect": "destructive", "approval": Approval.always(approvers={"finance"})}


class Server:
    """A server that writes down what it was asked to run."""

    def __init__(self, name: str = "adm", *, prefix: bool = False) -> None:
        self.ran: list[tuple[str, dict[str, Any]]] = []
        self.keys: list[str] = []
        self.source = ToolSource(name, self.call, prefix=prefix)

    async def call(self, name: str, arguments: dict[str, Any], context: Context[Any]) -> str:
        self.ran.append((name, arguments))
        self.keys.append(context.idempotency_key)
        return f"{name} ran"

    def tool(self, name: str, **options: Any) -> Tool:
        options = {"effect": "read", "roles": {EVERYONE}, **options}
        return self.source.tool(name, description="Do it.", parameters=TEXT, **options)


def make_agent(
    *tools: Tool, store: Store | None = None, model: ScriptedModel | None = None, policy: Policy | None = None
) -> Agent:
    return Agent(
        AgentDefinition(name="clerk"), tools=tools, model=model or ScriptedModel(), store=store or MemoryStore(),
        secret=b"a secret of thirty-two bytes or more", audit=[ListSink()], policy=policy,
    )  # fmt: skip


NAMES = ["admin.tools/list", "admin_tools_list", "admin tools list", "admin/tools.list", "\u0430dmin_tools_list"]
"""Replacing what no provider takes would make one of the first four."""


@pytest.mark.parametrize("prefix", [False, True])
async def test_each_alias_runs_exactly_its_remote_tool(prefix: bool) -> None:
    server = Server(prefix=prefix)
    tools = [server.tool(name) for name in NAMES]
    agent = make_agent(*tools)

    for made in tools:
        result = await agent.call(made.name, {"text": made.name}, principal=CLERK)
        assert isinstance(result, ToolResult)

    assert server.ran == [(name, {"text": made.name}) for name, made in zip(NAMES, tools, strict=True)]
    assert all(server.keys)
    await agent.close()


def test_an_alias_depends_neither_on_the_order_nor_on_what_else_there_is() -> None:
    server = Server()
    alone = {name: server.tool(name).name for name in NAMES}

    for order in itertools.permutations(NAMES):
        assert dict(zip(order, Toolset([server.tool(name) for name in order]).names, strict=True)) == alone


async def test_a_remote_name_is_no_name_here() -> None:
    server = Server(prefix=True)
    agent = make_agent(server.tool("admin.tools/list"), server.tool("send_email"))

    for name in ("admin.tools/list", "send_email", "adm.send_email", "adm__admin.tools/list"):
        result = await agent.call(name, {}, principal=CLERK)
        assert isinstance(result, ToolResult)
        assert result.code == Reason.UNKNOWN_TOOL

    assert server.ran == []
    await agent.close()


# ── collisions ────────────────────────────────────────────────────────────────────────


def test_one_name_of_two_sources_is_an_error_that_says_the_mend() -> None:
    """C075."""
    a, b = Server("a"), Server("b")

    with pytest.raises(DuplicateToolError, match=r"'send_email' \(a: 'send_email', b: 'send_email'\).*prefix=True"):
        Toolset([a.tool("send_email"), b.tool("send_email")])
    with pytest.raises(DuplicateToolError, match="prefix=True"):
        Toolset([a.tool("send_email")]).combine(Toolset([b.tool("send_email")]))


def test_with_the_sources_before_them_both_are_usable() -> None:
    a, b = Server("a", prefix=True), Server("b", prefix=True)

    assert Toolset([a.tool("send_email"), b.tool("send_email")]).names == ("a__send_email", "b__send_email")


def test_one_tool_twice_is_an_error() -> None:
    server = Server()

    with pytest.raises(DuplicateToolError, match=r"twice, adm: 'admin\.tools/list'"):
        Toolset([server.tool("admin.tools/list"), server.tool("admin.tools/list")])


def test_an_alias_that_is_the_name_of_the_application_s_own_tool_is_an_error_whichever_comes_first() -> None:
    remote = Server().tool("send_email")

    @tool(effect="read", roles={EVERYONE})
    def send_email() -> str:
        """Send."""
        return ""

    for pair in ([remote, send_email], [send_email, remote]):
        with pytest.raises(DuplicateToolError, match="the application's own"):
            Toolset(pair)


def test_who_lists_another_tool_s_alias_does_not_get_it() -> None:
    server = Server()
    alias = server.tool("admin.tools/list").name

    names = Toolset([server.tool("admin.tools/list"), server.tool(alias)]).names

    assert names[0] == alias
    assert names[1] != alias


@pytest.mark.parametrize("name", ["", "a\nb", "a\u202eb", "x" * 257])
def test_a_tool_whose_name_cannot_be_shown_is_refused(name: str) -> None:
    with pytest.raises(ToolDefinitionError, match="source 'adm' names a tool"):
        Server().tool(name)


def call_blocking(name: str, _arguments: dict[str, Any], _context: Context[Any]) -> str:
    return name


@pytest.mark.parametrize(
    ("name", "call", "message"),
    [
        ("a__b", Server().call, "what a source of tools is called"),
        ("adm", call_blocking, "async function"),
        ("adm", Server().tool, r"\(name, arguments, context\)"),
        ("adm", None, r"\(name, arguments, context\)"),
    ],
)
def test_what_is_no_source_is_said_where_it_is_made(name: str, call: Any, message: str) -> None:
    with pytest.raises(ToolDefinitionError, match=message):
        ToolSource(name, call)


def test_a_remote_tool_runs_in_no_process_of_its_own() -> None:
    """Its code is the source's connection, which no other process has."""
    with pytest.raises(ToolDefinitionError, match="isolation"):
        Server().tool("look", isolation="process")


# ── what is declared ──────────────────────────────────────────────────────────────────


def test_what_comes_from_elsewhere_calls_out_and_is_not_trusted_unless_the_application_says_so() -> None:
    server = Server()

    assert (server.tool("look").spec.open_world, server.tool("look").spec.writable_output) == (True, True)
    known = server.tool("look", open_world=False, writable_output=False).spec
    assert (known.open_world, known.writable_output) == (False, False)


def test_a_source_is_not_asked_what_is_safe() -> None:
    with pytest.raises(ToolDefinitionError, match="nothing holds it back"):
        Toolset([Server().tool("send_email", effect="write")])


def test_another_name_and_a_toolset_s_prefix_keep_what_runs() -> None:
    made = Server().tool("admin.tools/list")

    (prefixed,) = Toolset([made.renamed("list_tools")]).prefix("crm__")

    assert prefixed.name == "crm__list_tools"
    assert prefixed.spec.remote == Remote("adm", "admin.tools/list")


def test_the_digest_of_a_declaration_is_over_the_exact_name_and_that_of_an_own_tool_is_what_it_was() -> None:
    spec = ToolSpec(name="look", description="Look.", effect=Effect.READ, input_schema={"type": "object"})
    specs = [spec, *(Server(source).tool("look").spec for source in ("a", "b"))]

    assert len({one.digest for one in specs}) == 3
    assert [one.identity for one in specs] == ["look", '["look","a","look"]', '["look","b","look"]']
    assert spec.digest == "4e3e2eb64262ed12bdff902653c7d8f0f60940bedebb133b4fafa2e99a7c45a3"


# ── records ───────────────────────────────────────────────────────────────────────────


async def test_records_and_explanations_say_what_runs() -> None:
    server = Server()
    look, wipe = server.tool("admin.tools/list"), server.tool("admin/wipe", **ASKING)
    agent = make_agent(look, wipe, model=ScriptedModel().calls(look.name).calls(wipe.name).says("done"))
    remote = "adm: 'admin.tools/list'"

    waiting = await agent.ask("go", principal=CLERK)
    assert isinstance(waiting, Waiting)
    await agent.approve(waiting.approvals[0].token, by=BOSS)
    entries = [record.entry async for record in agent.store.read(run_id=waiting.run_id)]
    explained = await agent.explain(look.name, {}, principal=CLERK)
    await agent.close()

    bodies = {entry.kind: json.loads(entry.body) for entry in entries if entry.tool == look.name}
    assert {kind: body["note"] for kind, body in bodies.items()} == {
        AuditKind.INTENT: f"runs {remote}",
        AuditKind.OUTCOME: f"runs {remote}",
    }
    asked = [json.loads(entry.body) for entry in entries if entry.kind is AuditKind.APPROVAL]
    assert [body["remote"] for body in asked] == ["adm: 'admin/wipe'"] * 2
    assert explained.remote == Remote("adm", "admin.tools/list")
    assert [name for name, _ in server.ran] == ["admin.tools/list", "admin/wipe"]


# ── when an alias comes to mean another tool ──────────────────────────────────────────


def codes_in(outcome: Answer) -> list[str]:
    results = [message.results for message in outcome.history if isinstance(message, ToolMessage)]
    return [result.code for several in results for result in several]


async def wait_for_boss(store: Store, server: Server, name: str = "send_email") -> Waiting:
    """A run that waits for a yes to this tool of the server."""
    made = server.tool(name, **ASKING)
    agent = make_agent(made, store=store, model=ScriptedModel().calls(made.name, text="hi"))
    waiting = await agent.ask("go", principal=CLERK)
    assert isinstance(waiting, Waiting)
    return waiting


async def test_a_yes_for_a_tool_of_one_source_does_not_count_for_another_s_that_gets_its_name() -> None:
    a, b, store = Server("a"), Server("b"), MemoryStore()
    waiting = await wait_for_boss(store, a)
    agent = make_agent(b.tool("send_email", **ASKING), store=store, model=ScriptedModel().says("done"))

    outcome = await agent.approve(waiting.approvals[0].token, by=BOSS)

    assert isinstance(outcome, Answer)
    assert codes_in(outcome) == [Reason.APPROVAL_VOID]
    assert (a.ran, b.ran) == ([], [])
    await agent.close()


async def test_a_yes_with_other_arguments_is_a_yes_to_what_runs_today() -> None:
    server, store = Server(), MemoryStore()
    waiting = await wait_for_boss(store, server, "admin/wipe")
    agent = make_agent(server.tool("admin/wipe", **ASKING), store=store, model=ScriptedModel().says("done"))

    await agent.approve(waiting.approvals[0].token, by=BOSS, arguments={"text": "less"})

    assert server.ran == [("admin/wipe", {"text": "less"})]
    await agent.close()


async def test_a_no_to_a_remote_tool_holds_for_the_same_call() -> None:
    """What a no rejects, the edited call and the model's own, and what a call is are digests over the exact name."""
    server, state = Server(), {"n": 1}

    async def preview(_arguments: Any, _resource: Any, _context: Context[Any]) -> Preview:
        return Preview("wipe", {"n": state["n"]})

    made = server.tool("admin/wipe", preview=preview, **ASKING)
    model = ScriptedModel().calls(made.name, text="hi").calls(made.name, text="hi").calls(made.name, text="less")
    agent = make_agent(made, model=model.says("done"))
    waiting = await agent.ask("go", principal=CLERK)
    assert isinstance(waiting, Waiting)
    state["n"] = 2
    edited = await agent.approve(waiting.approvals[0].token, by=BOSS, arguments={"text": "less"})
    assert isinstance(edited, Waiting)

    outcome = await agent.reject(edited.approvals[0].token, by=BOSS)

    assert isinstance(outcome, Answer)
    assert codes_in(outcome) == [Reason.REJECTED] * 3
    assert server.ran == []
    await agent.close()


async def test_what_one_source_s_tool_did_under_a_key_is_no_answer_for_another_s() -> None:
    a, b, store = Server("a"), Server("b"), MemoryStore()
    options: dict[str, Any] = {"effect": "write", "waiver": "it only sends to a test box"}
    for server in (a, a, b, b):
        agent = make_agent(server.tool("send_email", **options), store=store)
        result = await agent.call("send_email", {"text": "hi"}, principal=CLERK, key="one")
        assert isinstance(result, ToolResult)
        assert result.code == "ok"

    assert [len(server.ran) for server in (a, b)] == [1, 1]
    assert a.keys != b.keys, "the other side never takes one for the other"


async def test_a_rule_that_names_an_alias_permits_that_remote_tool_and_none_that_reads_like_it() -> None:
    server = Server()
    tools = [server.tool(name, roles=None) for name in NAMES]
    permit = Rule(id="lists", verdict=Verdict.PERMIT, tools=frozenset({tools[0].name}), roles=frozenset({"support"}))
    kept = Rule(
        id="others", verdict=Verdict.PERMIT, tools=frozenset(made.name for made in tools[1:]),
        roles=frozenset({"finance"}),
    )  # fmt: skip
    agent = make_agent(*tools, policy=Policy(rules=(permit, kept), roles=frozenset({"support", "finance"})))

    results = [await agent.call(made.name, {}, principal=CLERK) for made in tools]

    assert [getattr(result, "code", "") for result in results] == ["ok", *[Reason.UNKNOWN_TOOL] * 4]
    assert server.ran == [(NAMES[0], {})]
    await agent.close()


async def test_a_rule_that_names_a_remote_name_is_an_error_at_the_build() -> None:
    """Names match exactly, and the tool has one here: nobody is to think that a rule holds which does not."""
    made = Server().tool(NAMES[0])
    rule = Rule(id="lists", verdict=Verdict.FORBID, tools=frozenset({NAMES[0]}), roles=frozenset({"support"}))

    with pytest.raises(ConfigurationError, match=r"admin\.tools/list"):
        make_agent(made, policy=Policy(rules=(rule,), roles=frozenset({"support"})))
