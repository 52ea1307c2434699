"""An agent is a Markdown file: what it says is read whole, or the file is refused."""

from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from placet.agent.agent_file import parse_agent
from placet.agent.definition import AgentDefinition
from placet.errors import AgentFileError, ConfigurationError
from placet.models.scripted import ScriptedModel
from placet.parts import load_agent
from placet.tools.tool import tool
from placet.values.limits import MODEL_TIMEOUT, Budget
from placet.values.principal import EVERYONE
from placet.wiring import Agent

WHOLE = """---
description: Answers questions about orders.
tools: [get_order_status, cancel_order]
model: openai:gpt-6-luna
limits: {turns: 3, calls: 5, seconds: 30, tokens: 10000, cost: 0.5}
timeout: 20s
language: pt
settings: {temperature: 0}
---

You help the customers of a small shop.

---
This line is of the prompt.
"""


def parse(front: str) -> AgentDefinition:
    return parse_agent(f"---\n{front}\n---\nYou help.\n", name="orders")


def test_everything_that_a_file_says_is_read() -> None:
    assert parse_agent(WHOLE, name="orders") == AgentDefinition(
        name="orders",
        prompt="You help the customers of a small shop.\n\n---\nThis line is of the prompt.",
        description="Answers questions about orders.",
        tools=("get_order_status", "cancel_order"),
        model="openai:gpt-6-luna",
        budget=Budget(turns=3, calls=5, seconds=30, tokens=10000, cost=Decimal("0.5")),
        model_timeout=timedelta(seconds=20),
        language="pt-BR",
        settings={"temperature": 0},
    )


def test_what_a_file_leaves_out_is_the_default() -> None:
    assert parse_agent("---\n---\n", name="orders") == AgentDefinition(name="orders")
    assert AgentDefinition(name="orders").model_timeout == MODEL_TIMEOUT


@pytest.mark.parametrize("start", ["\ufeff", ""])
@pytest.mark.parametrize("ending", ["\r\n", "\n"])
def test_a_file_of_any_editor_is_read(start: str, ending: str) -> None:
    text = start + "---\nname: sales\ntools: look, find\n---\nYou help.".replace("\n", ending)

    read = parse_agent(text, name="orders")

    assert (read.name, read.tools, read.prompt) == ("sales", ("look", "find"), "You help.")


@pytest.mark.parametrize(
    ("front", "complaint"),
    [
        ("tool: [look]", r"unknown keys \['tool'\]; known are"),
        ("roles: [support]", "unknown keys"),
        ("1: x", "unknown keys"),
        ("limits: {turn: 3}", r"'limits' has unknown keys \['turn'\]"),
        ("tools: [look]\ntools: [look, pay]", r"twice: \['tools'\]"),
        ("limits: {turns: 3, turns: 300}", r"twice: \['turns'\]"),
        ("tools: [look, look]", r"names \['look'\] twice"),
        ("tools:", "says nothing"),
        ("tools: {look: true}", "must be a list of names"),
        ("tools: [1]", "must be a list of names"),
        ("tools: ['']", "must be a list of names"),
        ("limits: {turns: 0}", "above zero"),
        ("limits: {turns: -1}", "above zero"),
        ("limits: {turns: many}", "'limits.turns' must be a number"),
        ("limits: {turns: true}", "'limits.turns' must be a number"),
        ("limits: {seconds: .nan}", "'limits.seconds' must be a number"),
        ("limits: {seconds: .inf}", "'limits.seconds' must be a number"),
        ("limits: 3", "'limits' must be keys with values"),
        ("limits:", "'limits' must be keys with values"),
        ("timeout: soon", "not a length of time"),
        ("timeout: 0", "not a length of time"),
        ("timeout: true", "not a length of time"),
        ("timeout:", "'timeout' must be seconds"),
        ("timeout: [5]", "'timeout' must be seconds"),
        ("timeout: .inf", "'timeout' must be seconds"),
        ("language: klingon", "'klingon' is none that placet speaks; it speaks en, pt-BR, ro"),
        ("language: no", "'language' must be a text"),
        ("model: 6", "'model' must be a text"),
        ("description: [x]", "'description' must be a text"),
        ("name: ../orders", "agent name '../orders'"),
        ("settings: [x]", "'settings' must be keys with values"),
        ("- tools", "must be keys with values"),
        ("[]", "must be keys with values"),
        ("false", "must be keys with values"),
        ("tools: [", "no YAML"),
        ("model: !!python/object/apply:os.system ['true']", "no YAML"),
    ],
)
def test_a_file_that_says_something_else_is_refused_by_its_name(front: str, complaint: str) -> None:
    with pytest.raises(AgentFileError, match=f"agent 'orders': .*{complaint}"):
        parse(front)


@pytest.mark.parametrize("text", ["", "You help.", "---\nname: orders\nYou help.", " ---\n---\n", "----\n----\n"])
def test_a_text_without_front_matter_is_no_agent(text: str) -> None:
    with pytest.raises(AgentFileError, match="agent 'orders': no front matter; begin the file with '---'"):
        parse_agent(text, name="orders")


@pytest.mark.parametrize("name", ["", "../x", "a b", "-a", "x" * 65, "a/b", "a\n"])
def test_a_name_that_is_none_is_refused_in_code_too(name: str) -> None:
    with pytest.raises(ConfigurationError, match="agent name"):
        AgentDefinition(name=name)


def test_a_budget_that_bounds_nothing_is_none() -> None:
    with pytest.raises(ConfigurationError, match="above zero"):
        Budget(seconds=float("nan"))


# ── loading ───────────────────────────────────────────────────────────────────────────


@tool(effect="read", roles={EVERYONE})
def look() -> str:
    """Look."""
    return "seen"


@tool(effect="read", roles={EVERYONE})
def find() -> str:
    """Find."""
    return "found"


def load(folder: Path, front: str, tools: Any = (look, find)) -> Agent:
    file = folder / "orders.agent.md"
    file.write_text(f"---\n{front}\n---\nYou help.\n", "utf-8")
    return Agent(file, tools=tools, model=ScriptedModel(), store="memory:")


def test_the_name_of_the_file_is_the_agent_s(tmp_path: Path) -> None:
    assert load(tmp_path, "").definition.name == "orders"


def test_an_agent_has_the_tools_that_its_file_names_and_no_others(tmp_path: Path) -> None:
    assert load(tmp_path, "tools: [find]").tools.names == ("find",)
    assert load(tmp_path, "tools: []").tools.names == ()
    assert load(tmp_path, "").tools.names == ("look", "find")


def test_a_tool_that_is_named_and_missing_is_refused_at_load(tmp_path: Path) -> None:
    with pytest.raises(AgentFileError, match=r"'orders' names tools that it was not given: \['fnd'\]; it has"):
        load(tmp_path, "tools: [look, fnd]")


def test_an_unknown_key_is_refused_at_load(tmp_path: Path) -> None:
    with pytest.raises(AgentFileError, match="unknown keys"):
        load(tmp_path, "tool: [look]")


def test_a_file_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    with pytest.raises(AgentFileError, match="cannot be read"):
        load_agent(tmp_path / "none.agent.md")
    (tmp_path / "bad.agent.md").write_bytes(b"---\n---\n\xff")
    with pytest.raises(AgentFileError, match="cannot be read"):
        load_agent(tmp_path / "bad.agent.md")
    with pytest.raises(AgentFileError, match=r"made in code is AgentDefinition\(name=…\)"):
        load_agent(tmp_path / "desk")
