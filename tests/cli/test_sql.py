"""`placet sql`, tried as somebody does who sets up a sandbox for the first time."""

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from uuid import uuid4

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from placet.database.answer import Rows
from placet.database.plan import load_plan
from placet.database.sandbox import make_sandbox
from tests.cli.conftest import Ended
from tests.postgres_server import PostgresServer

PLAN: Final = """
database: {name}
role: {name}
owner: {name}_owner
relations:
  orders:
    description: One row for each order.
    from: core.orders
    columns: {{id: the number on the invoice, total: in lei}}
  customers:
    from: core.customers
    where: tenant = 1
    columns: {{id: ""}}
functions: [shared.vat]
"""
TABLES: Final = """
CREATE SCHEMA core; CREATE SCHEMA shared;
CREATE TABLE core.orders (id int, total numeric, secret text);
CREATE TABLE core.customers (id int, tenant int);
INSERT INTO core.customers SELECT i, i % 2 FROM generate_series(1, 10) i;
CREATE FUNCTION shared.vat(n numeric) RETURNS numeric LANGUAGE sql AS 'SELECT n * 1.19';
"""


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    with PostgresServer() as started:
        yield started


class Shop:
    """A database of its own, a plan for it, and a person at the command line."""

    def __init__(self, server: PostgresServer, folder: Path) -> None:
        self.name = f"shop_{uuid4().hex[:8]}"
        self.folder = folder
        self.superuser = server.dsn(database=self.name)
        self.login = server.dsn(self.name, self.name)
        self.url = f"postgresql://{self.name}@/{self.name}?host={server.directory}"
        with psycopg.connect(server.dsn(), autocommit=True) as connection:
            connection.execute(SQL("CREATE DATABASE {}").format(Identifier(self.name)))
        self.run(TABLES)
        self.plan(PLAN.format(name=self.name))

    def plan(self, text: str) -> None:
        (self.folder / "plan.yaml").write_text(text, "utf-8")

    def run(self, words: str) -> None:
        with psycopg.connect(self.superuser, autocommit=True) as connection:
            connection.execute(words.encode())

    def placet(self, *words: str, **variables: str) -> Ended:
        return placet_sql(self.folder, *words, **variables)


def placet_sql(folder: Path, *words: str, **variables: str) -> Ended:
    command = [sys.executable, "-m", "placet", "sql", *words]
    ended = subprocess.run(  # noqa: S603 - our own command
        command, cwd=folder, env={"LANG": "en", **variables}, capture_output=True, encoding="utf-8", timeout=60,
        check=False,
    )  # fmt: skip
    return Ended(ended.returncode, ended.stdout, ended.stderr)


@pytest.fixture
def shop(server: PostgresServer, tmp_path: Path) -> Shop:
    return Shop(server, tmp_path)


async def test_what_setup_prints_makes_what_check_finds_right(shop: Shop) -> None:
    printed = shop.placet("setup", "plan.yaml")
    shop.run(printed.out)
    checked = shop.placet("check", "plan.yaml", shop.login)

    assert (printed.code, checked.code) == (0, 0), checked.out
    assert f"superuser in {shop.name}" in printed.err
    assert "and nothing else: orders, customers" in checked.out
    async with make_sandbox(shop.url, load_plan(shop.folder / "plan.yaml")) as opened:
        answer = await opened.query("SELECT count(*), max(shared.vat(100)) FROM customers")
    assert isinstance(answer, Rows)
    assert answer.rows == ((5, "119.00"),)


def test_setup_again_makes_the_views_of_a_plan_that_has_changed(shop: Shop) -> None:
    shop.run(shop.placet("setup", "plan.yaml").out)
    shop.plan(PLAN.format(name=shop.name).replace("total: in lei", "secret: ''").replace("tenant = 1", "tenant = 0"))
    changed = shop.placet("check", "plan.yaml", shop.login)
    again = shop.placet("setup", "plan.yaml", "--again")
    shop.run(again.out)
    checked = shop.placet("check", "plan.yaml", shop.login)

    assert (changed.code, again.code, checked.code) == (1, 0, 0), checked.out
    assert "setup --again" in changed.out
    assert f"superuser in {shop.name}, then look" in again.err
    assert "other_filter" not in checked.out


def test_setup_changes_all_or_nothing(shop: Shop) -> None:
    printed = shop.placet("setup", "plan.yaml").out
    shop.run("DROP TABLE core.customers")
    with pytest.raises(psycopg.errors.UndefinedTable):
        shop.run(printed)

    with psycopg.connect(shop.superuser) as connection:
        roles = connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [shop.name]).fetchall()
    assert roles == []


DRIFT: Final = {
    "CREATE OR REPLACE VIEW api.orders AS SELECT id, total, secret FROM core.orders": "more_columns",
    "CREATE OR REPLACE VIEW api.customers AS SELECT id FROM core.customers": "no_filter",
    "DROP VIEW api.customers; CREATE VIEW api.customers AS SELECT id FROM core.customers WHERE tenant = 1;"
    "GRANT SELECT ON api.customers TO PUBLIC": "leaky_view",
    "DROP VIEW api.orders": "missing",
    "REVOKE SELECT ON api.orders FROM PUBLIC, {}": "missing",
    "GRANT INSERT ON api.orders TO PUBLIC": "writes",
    "CREATE FUNCTION shared.wipe() RETURNS int LANGUAGE sql AS 'SELECT 1'": "calls",
    "ALTER ROLE {} BYPASSRLS": "rolbypassrls",
}


@pytest.mark.parametrize(
    "words", [pytest.param(words, marks=pytest.mark.slow if number else ()) for number, words in enumerate(DRIFT)]
)
def test_what_is_no_more_as_planned_is_named_and_ends_with_one(shop: Shop, words: str) -> None:
    shop.run(shop.placet("setup", "plan.yaml").out)
    shop.run(words.replace("{}", f'"{shop.name}"'))
    checked = shop.placet("check", "plan.yaml", shop.url, "--json")

    assert checked.code == 1
    assert checked.data["ok"] is False
    assert DRIFT[words] in [finding["code"] for finding in checked.data["findings"] if finding["severe"]]


def test_a_warning_is_said_and_ends_with_nought(shop: Shop) -> None:
    shop.run(shop.placet("setup", "plan.yaml").out)
    shop.run(f'ALTER ROLE "{shop.name}" RESET temp_file_limit')
    checked = shop.placet("check", "plan.yaml", PLACET_SQL=shop.login, LANG="ro_RO.UTF-8")

    assert checked.code == 0
    assert "! temp_file_limit:" in checked.out
    assert f'ALTER ROLE "{shop.name}" SET temp_file_limit' in checked.out
    assert "Contul poate citi" in checked.out


def test_a_login_that_is_too_strong_or_another_one_is_named(shop: Shop) -> None:
    shop.run(shop.placet("setup", "plan.yaml").out)
    checked = shop.placet("check", "plan.yaml", shop.superuser)

    assert checked.code == 1
    assert "✗ rolsuper: the role 'postgres' is superuser" in checked.out
    assert f"! login: this is the login 'postgres', and the plan is for '{shop.name}'" in checked.out


def test_a_catalog_that_the_login_may_not_read_is_read_as_another(shop: Shop) -> None:
    shop.run(shop.placet("setup", "plan.yaml").out)
    shop.run("REVOKE SELECT ON pg_catalog.pg_proc FROM PUBLIC")
    alone = shop.placet("check", "plan.yaml", shop.login)
    helped = shop.placet("check", "plan.yaml", shop.login, "--audit-as", shop.superuser)

    assert (alone.code, helped.code) == (2, 0)
    assert "may read the catalog" in alone.err


def test_a_password_is_in_no_message(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text("database: x\nrelations: {orders: {}}")
    ended = placet_sql(tmp_path, "check", "plan.yaml", "host=/nowhere user=llm_ro password=hunter2")

    assert ended.code == 2
    assert "user=llm_ro host=/nowhere" in ended.err
    assert "hunter2" not in ended.err


@pytest.mark.parametrize(
    ("plan", "word"),
    [
        ("relations: {orders: {where: a = 1}}", "names no database"),
        ("database: d\nrelations: {orders: {}}", "'orders' needs `from`"),
        ("database: d\nrelation: {}", "relations"),
        ("database: [", "YAML"),
    ],
)
def test_a_plan_that_cannot_be_made_is_refused_in_one_line(tmp_path: Path, plan: str, word: str) -> None:
    (tmp_path / "plan.yaml").write_text(plan)
    ended = placet_sql(tmp_path, "setup", "plan.yaml")

    assert (ended.code, ended.out) == (2, "")
    assert word in ended.err
    assert "Traceback" not in ended.err


def test_a_sqlite_file_has_nothing_to_set_up_and_is_checked(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "shop.db") as database:
        database.execute("CREATE TABLE orders (id int, total int, secret text)")
    database.close()
    (tmp_path / "plan.yaml").write_text("relations: {orders: {columns: {id: ''}}}")
    setup = placet_sql(tmp_path, "setup", "plan.yaml", "--lang", "pt")
    right = placet_sql(tmp_path, "check", "plan.yaml", "shop.db")
    (tmp_path / "plan.yaml").write_text("relations: {orders: {}}")
    wide = placet_sql(tmp_path, "check", "plan.yaml", "sqlite:///shop.db")
    (tmp_path / "plan.yaml").write_text("relations: {orders: {columns: {totl: ''}}, payroll: {}}")
    wrong = placet_sql(tmp_path, "check", "plan.yaml", "shop.db", "--json")

    assert (setup.code, setup.out) == (0, "")
    assert "O SQLite não tem logins" in setup.err
    assert (right.code, right.out) == (0, "  The file holds what the plan opens: orders\n")
    assert wide.code == 0
    assert "! all_columns: every column of 'orders' is open" in wide.out
    assert "secret" in wide.out
    assert wrong.code == 1
    assert [finding["code"] for finding in wrong.data["findings"]] == ["missing", "missing"]


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text("relations: {orders: {}}")
    ended = placet_sql(tmp_path, "check", "plan.yaml", "nothing.db")

    assert ended.code == 2
    assert "'nothing.db'" in ended.err
