"""What is kept out of records, and, where a tool says so, out of what the model reads: through every door."""

from typing import Any

import pytest
from typing_extensions import TypedDict

from placet.agent.definition import AgentDefinition
from placet.errors import ToolError
from placet.models.scripted import ScriptedModel
from placet.runtime.sinks import ListSink
from placet.tools.tool import Tool, tool
from placet.values.approval import Approval, Preview
from placet.values.audit import AuditKind
from placet.values.call import ToolResult
from placet.values.event import CallStarted, CallWaiting, RunEnded
from placet.values.outcome import Answer, Waiting
from placet.wiring import Agent
from tests.runtime.conftest import BOSS, CLERK, OTHER_CLERK, TOOLS, MakeAgent
from tests.runtime.doors import DOORS, ask_inner

IBAN, CARD, CPF, CNP = "RO49AAAA1B31007593840000", "4111 1111 1111 1111", "529.982.247-25", "1800101221144"


class Person(TypedDict, total=False):
    """Somebody."""

    name: str
    iban: str
    card: str
    mail: str
    phone: str
    cpf: str
    cnp: str
    note: str
    api_key: str


PEOPLE: list[Person] = [
    {"name": "Ana", "iban": IBAN, "card": CARD, "mail": "ana@example.com", "phone": "+40 721 234 567"},
    {"name": "Rui", "cpf": CPF, "cnp": CNP, "note": "likes tea", "api_key": "sk-abcdefghijklmnopqrstuvwx"},
]
PERSONAL = (IBAN, CARD, CPF, "ana@example.com", "721 234 567", "sk-abcdefghijklmnopqrstuvwx")


@tool(effect="read", roles={"support"}, redact={"note"})
async def find_people(about: str) -> list[Person]:
    """Find people."""
    return PEOPLE


@tool(effect="read", roles={"support"}, redact={"note"}, redact_for_model=True)
async def find_people_carefully(about: str) -> list[Person]:
    """Find people, and tell the model no more than the audit log."""
    if about == "nobody":
        raise ToolError(f"there is nobody with {IBAN}", hint="ask another way")
    return PEOPLE


@tool(effect="read", roles={"support"}, redact_for_model=True, max_result_bytes=400)
async def write_about_people(about: str) -> str:
    """Write about people."""
    return f"Ana has {IBAN}. " + "She writes much. " * 60 + f"And {CARD}."


MINE = (*TOOLS, find_people, find_people_carefully, write_about_people)


@pytest.fixture(params=sorted(DOORS))
def call(request: pytest.FixtureRequest, make_agent: MakeAgent) -> Any:
    async def through_the_door(name: str, about: str = "tea") -> ToolResult:
        def agent(*arguments: Any, **options: Any) -> Any:
            own = options.get("tools", ())
            return make_agent(*arguments, **{**options, "tools": own or MINE})

        return await DOORS[request.param](agent, name, {"about": about}, CLERK)

    return through_the_door


async def test_personal_data_and_secrets_reach_the_model_and_no_record(call: Any, heard: ListSink) -> None:
    result = await call("find_people", about=f"{IBAN} of {CPF}")

    written = "".join(entry.body for entry in heard.entries)
    assert IBAN in result.content
    assert "likes tea" in result.content
    assert "Ana" in written
    assert [secret for secret in (*PERSONAL, "likes tea") if secret in written] == []


async def test_a_tool_may_keep_them_from_the_model_too(call: Any) -> None:
    result = await call("find_people_carefully")

    assert "Ana" in result.content
    assert [secret for secret in (*PERSONAL, "likes tea") if secret in result.content] == []


async def test_what_such_a_tool_complains_of_is_redacted_too(call: Any) -> None:
    result = await call("find_people_carefully", about="nobody")

    assert (result.is_error, result.code) == (True, "tool_error")
    assert "there is nobody with" in result.content
    assert IBAN not in result.content


async def test_a_long_text_is_redacted_before_it_is_cut(call: Any) -> None:
    result = await call("write_about_people")

    assert len(result.content.encode()) <= 400
    assert "Ana has" in result.content
    assert IBAN not in result.content
    assert CARD not in result.content


async def test_what_a_model_quotes_of_a_redacted_field_is_kept_out_of_the_record_of_its_answer(
    make_agent: MakeAgent, heard: ListSink
) -> None:
    said = "Rui likes tea, so I wrote that down."
    agent = make_agent(ScriptedModel().calls("find_people", about="tea").says(said), tools=MINE)

    outcome = await agent.ask("Who?", principal=CLERK)

    assert isinstance(outcome, Answer)
    assert outcome.text == said
    (entry,) = [entry for entry in heard.entries if entry.kind is AuditKind.ANSWER]
    assert "so I wrote that down" in entry.body
    assert "likes tea" not in entry.body


async def test_what_an_exception_quotes_of_a_redacted_argument_is_kept_out_of_the_records(
    make_agent: MakeAgent, heard: ListSink
) -> None:
    def load(arguments: Any, _context: Any) -> None:
        raise LookupError(f"no row for {arguments.passphrase}")

    @tool(
        effect="read",
        roles={"support"},
        redact={"passphrase"},
        resource=load,
        authorise=lambda *_: True,
        name="open_it",
    )
    async def open_it(passphrase: str) -> str:
        """Open it."""
        return "open"

    agent = make_agent(tools=[open_it])
    await agent.call("open_it", {"passphrase": "correct horse"}, principal=CLERK)

    written = "".join(entry.body for entry in heard.entries)
    assert "no row for" in written
    assert "correct horse" not in written


async def test_the_kinds_of_personal_data_can_be_chosen(make_agent: MakeAgent, heard: ListSink) -> None:
    agent = make_agent(tools=MINE, personal_data={"iban"})

    await agent.call("find_people", {"about": f"{IBAN} of ana@example.com"}, principal=CLERK)

    written = "".join(entry.body for entry in heard.entries)
    assert "ana@example.com" in written
    assert IBAN not in written


HOME, MOVED = "Rua das Flores nove", "Strada Lunga unsprezece"


def preview_move(arguments: Any, _resource: Any, _context: Any) -> Preview:
    return Preview(f"everything goes to {arguments.address}", {"open": True})


@tool(
    effect="write", roles={"support"}, redact={"address"}, preview=preview_move,
    approval=Approval.always(approvers={"finance"}),
)  # fmt: skip
async def move(address: str, order: int) -> str:
    """Send an order somewhere else."""
    return "moved"


def moving(make_agent: MakeAgent, where: str) -> Agent:
    """Return an agent whose call has to wait, or one that asks such an agent."""
    script = ScriptedModel().calls("move", address=HOME, order=4).says("ok")
    inner = make_agent(script, tools=[move], definition=AgentDefinition(name="inner"))
    if where == "outermost":
        return inner
    return make_agent(ScriptedModel().calls("ask_inner").says("ok"), tools=[ask_inner()], agents=[inner])


@pytest.mark.parametrize("where", ["outermost", "nested"])
@pytest.mark.parametrize("word", ["approve", "edit", "reject", "may not"])
async def test_no_record_of_a_question_or_its_answer_holds_what_is_redacted(
    make_agent: MakeAgent, heard: ListSink, where: str, word: str
) -> None:
    agent = moving(make_agent, where)
    waiting = await agent.ask("Move it", principal=CLERK)
    assert isinstance(waiting, Waiting)
    token = waiting.approvals[0].token
    match word:
        case "approve":
            await agent.approve(token, by=BOSS)
        case "edit":
            await agent.approve(token, by=BOSS, arguments={"address": MOVED, "order": 4})
        case "reject":
            await agent.reject(token, by=BOSS, reason="no")
        case _:
            await agent.approve(token, by=OTHER_CLERK)

    told = [entry for entry in heard.entries if entry.kind is AuditKind.APPROVAL]
    assert len(told) > 1
    assert all("everything goes to" in entry.body for entry in told)
    assert [entry for entry in heard.entries if HOME in entry.body or MOVED in entry.body] == []


async def test_a_tool_keeps_its_fields_out_of_the_record_of_a_call_by_whom_it_is_hidden_from(
    make_agent: MakeAgent, heard: ListSink
) -> None:
    @tool(effect="read", roles={"boss"}, redact={"remark"})
    async def review(remark: str) -> str:
        """Review somebody."""
        return "reviewed"

    agent = make_agent(ScriptedModel().calls("review", remark="likes tea").says("ok"), tools=[review])
    await agent.ask("Go", principal=CLERK)
    await agent.call("review", {"remark": "likes tea"}, principal=CLERK)

    refused = [entry for entry in heard.entries if entry.decision == "unknown_tool"]
    assert len(refused) == 2
    assert not [entry for entry in refused if "tea" in entry.body]


@pytest.mark.parametrize("where", ["outermost", "nested"])
async def test_who_waits_for_anothers_yes_is_told_no_redacted_argument_and_no_preview_that_quotes_one(
    make_agent: MakeAgent, where: str
) -> None:
    agent = moving(make_agent, where)
    told: list[Any] = []
    waiting = await agent.ask("Move it", principal=CLERK, emit=told.append)
    assert isinstance(waiting, Waiting)
    later = await agent.resume(waiting.run_id)
    assert isinstance(later, Waiting)

    asked = [event.approval for event in told if isinstance(event, CallWaiting)]
    shown = [*waiting.approvals, *later.approvals, *asked]
    assert [pending.arguments for pending in shown] == [{"address": "[redacted]", "order": 4}] * 3
    assert [pending.preview for pending in shown] == [Preview("everything goes to [redacted]", {"open": True})] * 3


async def test_nor_a_fact_that_quotes_one(make_agent: MakeAgent) -> None:
    async def preview_way(arguments: Any, _resource: object, _context: object) -> Preview:
        facts: dict[str, Any] = {"open": True, "route": ["north", arguments.address], "address": "any", "order": 4}
        return Preview("a way", facts)

    @tool(
        effect="write", roles={"support"}, redact={"address"}, preview=preview_way,
        approval=Approval.always(approvers={"finance"}),
    )  # fmt: skip
    async def send(address: str, order: int) -> str:
        """Send an order."""
        return "sent"

    agent = make_agent(ScriptedModel().calls("send", address=HOME, order=4).says("ok"), tools=[send])
    waiting = await agent.ask("Send it", principal=CLERK)

    assert isinstance(waiting, Waiting)
    facts: dict[str, Any] = {"open": True, "route": "[redacted]", "address": "[redacted]", "order": 4}
    assert waiting.approvals[0].preview == Preview("a way", facts)


async def test_who_watches_is_told_no_redacted_argument(make_agent: MakeAgent) -> None:
    @tool(effect="read", roles={"support"}, redact={"address"}, progress="looking at {address}, order {order}…")
    async def find_route(address: str, order: int) -> str:
        """Find the way."""
        return "left, then right"

    model = ScriptedModel().calls("find_route", address=HOME, order=4).says("ok")
    agent = make_agent(model, tools=[find_route])
    events = [event async for event in agent.stream("Where?", principal=CLERK)]

    (started,) = [event for event in events if isinstance(event, CallStarted)]
    assert started.sentence == "looking at [redacted], order 4…"
    assert [event for event in events if HOME in repr(event) and not isinstance(event, RunEnded)] == []


@pytest.mark.parametrize("hiding", ["inner", "outer"])
async def test_what_one_of_two_tools_of_a_name_keeps_out_is_kept_out_of_what_is_said_of_either(
    make_agent: MakeAgent, heard: ListSink, hiding: str
) -> None:
    def lend(*, hides: bool) -> Tool:
        async def lend(note: str) -> str:
            """Lend something."""
            return "lent"

        asked = Approval.always(approvers={"finance"})
        return tool(effect="write", roles={"support"}, approval=asked, redact={"note"} if hides else set())(lend)

    inner = make_agent(
        ScriptedModel().calls("lend", note="hunter2").says("ok"),
        tools=[lend(hides=hiding == "inner")],
        definition=AgentDefinition(name="inner"),
    )
    model = ScriptedModel().calls("ask_inner").says("ok")
    outer = make_agent(model, tools=[ask_inner(), lend(hides=hiding == "outer")], agents=[inner])
    first = await outer.ask("Please", principal=CLERK)
    assert isinstance(first, Waiting)
    waiting = await outer.resume(first.run_id)
    assert isinstance(waiting, Waiting)
    await outer.approve(waiting.approvals[0].id, by=BOSS)

    assert waiting.approvals[0].arguments == {"note": "[redacted]"}
    decided = [entry for entry in heard.entries if entry.decision == "approved"]
    assert len(decided) == 1
    assert "hunter2" not in decided[0].body


@pytest.mark.parametrize("said", ["[" * 40_000, '{"note":' * 10_000])
async def test_a_text_too_deep_to_read_ends_no_run(make_agent: MakeAgent, said: str) -> None:
    @tool(effect="read", roles={"support"}, redact={"note"})
    async def tell(note: str) -> str:
        """Tell something."""
        return said

    model = ScriptedModel().calls("tell", note="x").calls_raw("tell", '{"note":' + said).says("ok")

    outcome = await make_agent(model, tools=[tell]).ask("Please", principal=CLERK)

    assert isinstance(outcome, Answer)
    assert outcome.text == "ok"


async def test_what_stands_under_a_name_twice_is_kept_out_of_what_quotes_it(
    make_agent: MakeAgent, heard: ListSink
) -> None:
    @tool(effect="read", roles={"support"}, redact={"note"})
    async def tell(note: str) -> str:
        """Tell something."""
        return note

    model = ScriptedModel().calls_raw("tell", '{"note":"hunter2","note":"x"}').says("I have said hunter2")
    await make_agent(model, tools=[tell]).ask("Please", principal=CLERK)

    assert heard.entries
    assert not any("hunter2" in entry.body for entry in heard.entries)
