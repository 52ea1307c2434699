"""The report of a run: a tree of what happened, made of what may be told."""

import json
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import pytest

from placet.agent.definition import AgentDefinition
from placet.models.scripted import ScriptedModel
from placet.runtime.report_html import render_report
from placet.runtime.sinks import ListSink
from placet.tools.context import Context
from placet.tools.output import ToolOutput
from placet.tools.tool import tool
from placet.values.approval import Approval
from placet.values.outcome import Waiting
from placet.values.principal import EVERYONE
from placet.values.run import Usage
from placet.wiring import Agent
from tests.runtime.conftest import BOSS, CLERK, TOOLS, MakeAgent

USAGE = Usage(input_tokens=7, output_tokens=2)


@tool(effect="write", roles={EVERYONE}, approval=Approval.always(approvers={"finance"}), redact={"card"})
async def charge(card: str, amount: int) -> str:
    """Charge a card."""
    return f"charged {amount}"


@tool(effect="read", roles={EVERYONE})
async def say_no() -> ToolOutput:
    """Say no."""
    return ToolOutput("no such product", is_error=True)


@tool(effect="read", roles={EVERYONE})
async def say(text: str) -> str:
    """Say something."""
    return text


@tool(effect="read", roles={EVERYONE}, timeout=30)
async def delegate(context: Context[Any]) -> str:
    """Delegate."""
    return str((await context.runtime.run("inner", "look at it")).text)


async def report(agent: Agent, run_id: str) -> dict[str, Any]:
    made = await agent.report(run_id)
    assert made is not None
    return json.loads(json.dumps(made))  # type: ignore[no-any-return]  # it is JSON


def nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node["children"]:
        yield from nodes(child)


def outline(node: dict[str, Any], depth: int = 0) -> list[str]:
    here = f"{'  ' * depth}{node['kind']} {node['name']}: {node['status']}"
    return [here, *[line for child in node["children"] for line in outline(child, depth + 1)]]


async def test_answers_and_calls_stand_in_their_order(make_agent: MakeAgent) -> None:
    model = ScriptedModel(usage=USAGE).calls_all([("look", {"name": "sky"}), ("payroll", {})]).says("blue")
    agent = make_agent(model)
    outcome = await agent.ask("What is blue?", principal=CLERK)

    made = await report(agent, outcome.run_id)

    assert outline(made["tree"]) == [
        "agent office: done",
        "  model : done",
        "  tool look: done",
        "  tool payroll: refused",
        "  model : done",
    ]
    assert (made["question"], made["answer"], made["principal"]) == ("What is blue?", "blue", "s1")
    assert made["tree"]["usage"] == {"input_tokens": 14, "output_tokens": 4}
    look = made["tree"]["children"][1]
    assert (look["decision"], look["rule"], look["arguments"]) == ("allow", "role support", {"name": "sky"})
    assert (look["result"], look["code"]) == ("sky is blue", "ok")
    assert look["ms"] >= 0


@pytest.mark.parametrize(
    ("name", "arguments", "status", "code"),
    [
        ("say_no", {}, "error", "tool_error"),
        ("break_down", {"how": "knowing"}, "error", "tool_error"),
        ("break_down", {"how": "x"}, "error", "internal_error"),
        ("look", {"nam": 1}, "refused", "invalid_arguments"),
        ("break_something", {"how": "x"}, "unknown", "internal_error"),
    ],
)
async def test_how_a_call_ended(
    name: str, arguments: dict[str, Any], status: str, code: str, make_agent: MakeAgent
) -> None:
    agent = make_agent(ScriptedModel().calls(name, arguments).says("ok"), tools=[*TOOLS, say_no])
    outcome = await agent.ask("Hi", principal=CLERK)

    call = (await report(agent, outcome.run_id))["tree"]["children"][1]

    assert (call["status"], call["code"]) == (status, code)


async def test_what_is_for_the_audit_log_alone_stands_in_no_report(make_agent: MakeAgent, heard: ListSink) -> None:
    agent = make_agent(ScriptedModel().calls("break_down", how="fatal"))
    outcome = await agent.ask("Hi", principal=CLERK)
    made = await report(agent, outcome.run_id)

    assert [entry for entry in heard.entries if "the vault is open" in entry.body]
    assert "vault" not in json.dumps(made)
    assert "vault" not in render_report(made)
    assert outline(made["tree"]) == ["agent office: stopped", "  model : done", "  tool break_down: error"]


async def test_a_call_that_waits_is_told_and_then_who_said_yes(make_agent: MakeAgent) -> None:
    agent = make_agent(ScriptedModel().calls("charge", card="4111-1111", amount=3).says("ok"), tools=[charge])
    waiting = await agent.ask("Hi", principal=CLERK)
    assert isinstance(waiting, Waiting)
    before = await report(agent, waiting.run_id)
    await agent.approve(waiting.approvals[0].token, by=BOSS)
    after = await report(agent, waiting.run_id)

    assert (before["status"], before["tree"]["children"][1]["status"]) == ("waiting", "waiting")
    call = after["tree"]["children"][1]
    assert (call["status"], call["result"]) == ("done", "charged 3")
    assert call["arguments"] == {"card": "[redacted]", "amount": 3}
    (approval,) = call["approvals"]
    assert (approval["id"], approval["decision"], approval["by"]) == (waiting.approvals[0].id, "approved", "f1")
    assert "4111-1111" not in json.dumps([before, after])
    assert waiting.approvals[0].token not in json.dumps([before, after])


async def test_a_rejection_is_told(make_agent: MakeAgent) -> None:
    agent = make_agent(ScriptedModel().calls("charge", card="c", amount=3).says("ok"), tools=[charge])
    waiting = await agent.ask("Hi", principal=CLERK)
    assert isinstance(waiting, Waiting)
    await agent.reject(waiting.approvals[0].token, by=BOSS, reason="too much")

    call = (await report(agent, waiting.run_id))["tree"]["children"][1]

    assert (call["status"], call["approvals"][0]["note"]) == ("refused", "too much")


async def test_a_nested_run_stands_under_the_call_that_started_it(make_agent: MakeAgent) -> None:
    inner = make_agent(
        ScriptedModel(usage=USAGE).calls("look", name="x").says("seen"), definition=AgentDefinition(name="inner")
    )
    agent = make_agent(ScriptedModel().calls("delegate").says("ok"), tools=[delegate], agents=[inner])
    outcome = await agent.ask("Hi", principal=CLERK)

    made = await report(agent, outcome.run_id)

    assert outline(made["tree"])[2:6] == [
        "  tool delegate: done",
        "    agent inner: done",
        "      model : done",
        "      tool look: done",
    ]
    assert made["tree"]["children"][1]["usage"] == {"input_tokens": 14, "output_tokens": 4}


async def test_a_run_that_was_stopped_says_why(make_agent: MakeAgent) -> None:
    agent = make_agent(ScriptedModel())
    outcome = await agent.ask("Hi", principal=CLERK)

    made = await report(agent, outcome.run_id)

    assert (made["status"], made["tree"]["stop"]) == ("stopped", "model")
    assert outline(made["tree"])[1:] == ["  model : error"]


async def test_a_program_s_call_has_a_report_of_its_own(make_agent: MakeAgent) -> None:
    agent = make_agent(ScriptedModel())
    await agent.call("note", {"text": "x"}, principal=CLERK, key="k")
    (stored,) = await agent.store.list_runs()

    assert outline((await report(agent, stored.id))["tree"]) == ["agent direct: done", "  tool note: done"]


async def test_of_a_run_that_nobody_knows_there_is_none(make_agent: MakeAgent) -> None:
    assert await make_agent(ScriptedModel()).report("run_nope") is None


async def test_no_digest_leaves(make_agent: MakeAgent) -> None:
    agent = make_agent(ScriptedModel().calls("charge", card="c", amount=3), tools=[charge])
    outcome = await agent.ask("Hi", principal=CLERK)

    assert "digest" not in json.dumps(await report(agent, outcome.run_id))


# ── the page ──────────────────────────────────────────────────────────────────────────


class Page(HTMLParser):
    """Reads what a browser would: elements, attributes and texts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in ("meta", "!doctype"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text += data


async def page_of(make_agent: MakeAgent, text: str, language: str = "en") -> tuple[str, Page]:
    model = ScriptedModel(usage=USAGE).calls("say", text=text).says(text)
    agent = make_agent(model, tools=[say])
    outcome = await agent.ask(text, principal=CLERK, language="pt-BR")
    page = render_report(await report(agent, outcome.run_id), language)
    read = Page(page)
    assert read.open == []
    return page, read


async def test_the_page_is_one_file_without_scripts_and_asks_nobody_for_anything(make_agent: MakeAgent) -> None:
    page, read = await page_of(make_agent, "hello")

    names = {name for name, _ in read.elements}
    assert not names & {"script", "link", "img", "iframe", "object", "a", "form"}
    assert not [a for _, attributes in read.elements for a in attributes if a.startswith("on") or a in ("src", "href")]
    assert "url(" not in page
    assert "@import" not in page
    assert "default-src 'none'" in page


@pytest.mark.parametrize(
    "text", ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "</pre></details>", "&lt;b&gt;", "'\"`"]
)  # fmt: skip
async def test_what_others_wrote_is_text(text: str, make_agent: MakeAgent) -> None:
    _, read = await page_of(make_agent, text)

    assert not {name for name, _ in read.elements} & {"script", "img"}
    assert read.text.count(text) >= 4


async def test_what_nobody_would_see_is_shown(make_agent: MakeAgent) -> None:
    page, read = await page_of(make_agent, "pay\u202e me\u200b\x07\n<b>")

    assert "⟨U+202E⟩" in read.text
    assert not [sign for sign in ("\u202e", "\u200b", "\x07") if sign in page]


async def test_the_page_says_its_language_and_that_of_what_was_said(make_agent: MakeAgent) -> None:
    _, read = await page_of(make_agent, "olá", "ro")

    assert ("html", {"lang": "ro"}) in read.elements
    assert ("span", {"lang": "pt-BR", "dir": "auto"}) in read.elements
    assert "Rularea lui office" in read.text


async def test_colour_never_stands_alone(make_agent: MakeAgent) -> None:
    agent = make_agent(ScriptedModel().calls("payroll").says("ok"))
    outcome = await agent.ask("Hi", principal=CLERK)

    text = Page(render_report(await report(agent, outcome.run_id))).text

    assert "✗ refused" in text
    assert "This action is not available to you. (unknown_tool) · refused by hidden by role" in text
