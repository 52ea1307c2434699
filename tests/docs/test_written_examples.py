"""What the pages write in other languages than Python is read by what reads it: settings, policies, plans, commands."""

import re
import shlex
from collections.abc import Iterator
from inspect import signature
from itertools import groupby, takewhile
from pathlib import Path
from typing import Any

import psycopg
import pytest
import typer

from placet.agent.agent_file import parse_agent
from placet.cli.app import app
from placet.config import FILE_NAME, read_settings
from placet.database.named import NamedQueries
from placet.database.plan import read_plan
from placet.database.postgres_runner import PostgresRunner
from placet.database.query_file import read_queries
from placet.gate.policy_text import parse_policy
from placet.runtime.server_sent import encode_event
from placet.tools.tool import Options
from placet.values.event import CallStarted
from placet.wiring import Agent
from tests.docs.test_examples import PAGES, ROOT
from tests.postgres_server import PostgresServer

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
BLOCKS: list[tuple[Path, str, str]] = [
    (page, language, text)
    for page in (*PAGES, *sorted(ROOT.glob("examples/*/README.md")))
    for language, text in BLOCK.findall(page.read_text("utf-8"))
]
PLACET = typer.main.get_command(app)
TARGETS = {*re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)}


def written(page: str, language: str) -> str:
    """The one block of a page in a language."""
    (found,) = [text for path, its, text in BLOCKS if path.name == page and its == language]
    return found


def test_every_block_is_run_or_read_here_but_for_drawings() -> None:
    languages = {language for _, language, _ in BLOCKS}
    others = {(page.name, language) for page, language, _ in BLOCKS if language not in ("python", "console")}

    assert languages == {"python", "console", "toml", "yaml", "sql", "markdown", "text"}
    assert others == {
        ("cli.md", "toml"), ("policy.md", "toml"), ("data.md", "yaml"), ("data.md", "sql"), ("streaming.md", "text"),
        ("agent.md", "markdown"),
        ("models.md", "text"),  # tests/models/test_five_steps.py
        ("ARCHITECTURE.md", "text"), ("skills.md", "text"),  # drawings
    }  # fmt: skip


def test_the_settings_are_read(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text(written("cli.md", "toml"), "utf-8")

    settings = read_settings({}, tmp_path, {})

    assert (settings.app, settings.language) == ("shop.app:make_agent", "pt-BR")


def test_the_policy_is_read() -> None:
    text = written("policy.md", "toml")

    assert [rule.id for rule in parse_policy(text, product="support-chat").rules] == [
        "support reads orders",
        "no large refunds in the chat",
    ]
    assert len(parse_policy(text, product="back-office").rules) == 1


def test_the_agent_is_read() -> None:
    definition = parse_agent(written("agent.md", "markdown"), name="orders")

    assert (definition.tools, definition.budget.turns) == (("get_order_status",), 3)


def test_the_plan_is_read() -> None:
    assert read_plan(written("data.md", "yaml")).relations.keys() == {"orders", "customers"}


ORDERS = "CREATE TABLE orders (id int, customer_id int, status text, total numeric, note text, ordered_at timestamptz)"


async def test_the_queries_are_understood_by_postgres_too() -> None:
    with PostgresServer() as server:
        with psycopg.connect(server.dsn(), autocommit=True) as connection:
            connection.execute(ORDERS)
        reads, writes = PostgresRunner(server.dsn()), PostgresRunner(server.dsn(), writable=True)
        async with NamedQueries(read_queries(written("data.md", "sql")), reads=reads, writes=writes) as queries:
            assert queries.names == ("get_order", "list_orders", "cancel_order")


def test_an_event_goes_over_the_wire_as_it_is_written() -> None:
    event = CallStarted(
        run_id="run_…", key="run_…:1.0", tool="get_order_status", arguments='{"order_id":8842}',
        sentence="caut comanda 8842…", rule="role customer",
    )  # fmt: skip

    assert encode_event(2, event).decode() == written("streaming.md", "text")


def test_every_option_of_a_tool_stands_in_the_table_of_its_page() -> None:
    table = (ROOT / "docs" / "tools.md").read_text("utf-8").partition("| declared | means |")[2].partition("\n\n")[0]

    assert Options.__annotations__.keys() <= {*re.findall(r"`(\w+)(?:=[^`]*)?`", table)}


def test_all_that_an_agent_is_given_stands_in_the_table_of_its_page() -> None:
    table = (ROOT / "docs" / "agent.md").read_text("utf-8").partition("| argument | is |")[2].partition("\n\n")[0]

    given = [name for row in re.findall(r"^\| (`[^|]*) \|", table, re.MULTILINE) for name in re.findall(r"\w+", row)]
    assert sorted(given) == sorted(set(signature(Agent.__init__).parameters) - {"self"})


def commands(program: str) -> list[object]:
    """Every command of a program that a console shows, by its words."""
    lines = [
        (page, line)
        for page, language, text in BLOCKS
        if language == "console"
        for line in re.findall(r"^\$ (.*)", text, re.MULTILINE)
    ]
    split = [(page, shlex.split(command, comments=True)) for page, line in lines for command in line.split("&&")]
    return [
        pytest.param(words[1:], id=f"{page.parent.name}/{page.name} {' '.join(words)[:60]}")
        for page, words in split
        if words[:1] == [program]
    ]


def alternatives(words: list[str]) -> Iterator[list[str]]:
    """`runs list | resume RUN` are `runs list` and `runs resume RUN`; psql is another program."""
    group, *rest = words
    for is_bar, part in groupby(rest, "|".__eq__):
        said = [group, *takewhile(">".__ne__, part)]
        if not is_bar and "psql" not in said:
            yield said


@pytest.mark.parametrize("words", commands("placet"))
def test_a_command_is_one_that_placet_takes(words: list[str]) -> None:
    for said in alternatives(words):
        command: Any = PLACET
        while hasattr(command, "commands"):
            command = command.commands[said.pop(0)]
        _, left, _ = command.make_parser(typer.Context(command)).parse_args(said)
        assert left == []


@pytest.mark.parametrize("words", commands("make"))
def test_a_target_is_one_of_the_makefile(words: list[str]) -> None:
    assert {*words} <= TARGETS
