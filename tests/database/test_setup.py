from pathlib import Path
from traceback import format_exception
from typing import Final
from uuid import uuid4

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from placet.database.answer import Rows, SqlRefusal
from placet.database.check import check
from placet.database.plan import SandboxPlan, load_plan, read_plan
from placet.database.postgres_runner import PostgresRunner
from placet.database.sandbox import make_sandbox
from placet.database.setup import setup_sql
from placet.errors import ConfigurationError
from placet.stores.postgres_connection import make_pool
from tests.database.sqlite_shop import make_shop
from tests.postgres_server import PostgresServer

PLAN: Final = """
database: {name}
role: {name}
owner: {name}_owner
schema: api
time_zone: Europe/Bucharest
relations:
  orders:
    description: One row for each order.
    from: core.orders
    columns: {{id: the number on the invoice, total: in lei, "odd ""name": odd}}
  customers:
    from: core.customers
    where: tenant = 1
    columns: {{id: ""}}
functions: [api.vat]
caps: {{timeout: 2, rows: 5}}
"""
TABLES: Final = """
CREATE SCHEMA core;
CREATE TABLE core.orders (id int, total numeric, "odd ""name" text, secret text);
CREATE TABLE core.customers (id int, tenant int);
INSERT INTO core.orders SELECT i, i * 1.5, 'o', 'hunter2' FROM generate_series(1, 10) i;
INSERT INTO core.customers SELECT i, i % 2 FROM generate_series(1, 10) i;
"""
DRIFT: Final = {
    "VIEW api.customers AS SELECT id FROM core.customers": "no_filter",
    "VIEW api.customers WITH (security_barrier) AS SELECT id, tenant FROM core.customers WHERE tenant = 1": (
        "more_columns"
    ),
    "VIEW api.customers WITH (security_barrier) AS SELECT id FROM core.orders WHERE id = 1": "other_table",
    "VIEW api.customers WITH (security_barrier) AS SELECT id FROM core.customers WHERE tenant = 0": "other_filter",
    "TABLE api.customers AS SELECT id FROM core.customers": "no_view",  # the last: what drops views drops no table
}
"""What is found when something else stands in the place of a view that the plan makes."""
VAT: Final = (
    "CREATE SCHEMA IF NOT EXISTS api; CREATE FUNCTION api.vat(n numeric) RETURNS numeric LANGUAGE sql AS 'SELECT n'"
)


async def test_the_setup_makes_what_the_check_finds_right(server: PostgresServer) -> None:
    name = f"Set up {uuid4().hex[:8]}"
    plan = read_plan(PLAN.format(name=name).replace('"odd ""name"', "'odd \"name'"))
    with psycopg.connect(server.dsn(), autocommit=True) as connection:
        connection.execute(SQL("CREATE DATABASE {}").format(Identifier(name)))
    database = f"dbname='{name}' host={server.directory}"
    try:
        with psycopg.connect(f"{database} user=postgres", autocommit=True) as connection:
            connection.execute(TABLES.encode())
            script = setup_sql(plan)
            head, _, tail = script.partition('GRANT USAGE ON SCHEMA "api"')
            connection.execute(head.encode())
            connection.execute(VAT.encode())
            connection.execute(f'GRANT USAGE ON SCHEMA "api"{tail}'.encode())
        dsn = f"{database} user='{name}'"

        assert await check(dsn, plan) == []
        elsewhere = plan.model_copy(update={"time_zone": "Europe/Bucuresti"})
        assert [(found.code, found.is_severe) for found in await check(dsn, elsewhere)] == [("settings", True)]
        nowhere = plan.model_copy(update={"database": "elsewhere"})
        assert [(found.code, found.is_severe) for found in await check(dsn, nowhere)] == [("database", False)]
        for made, code in DRIFT.items():
            with psycopg.connect(f"{database} user=postgres", autocommit=True) as connection:
                connection.execute(f"DROP VIEW api.customers; CREATE {made}".encode())
                connection.execute(SQL("GRANT SELECT ON api.customers TO {}").format(Identifier(name)))
            found = await check(dsn, plan)
            assert found[0].code == code
            if found[0].is_severe:
                with pytest.raises(ConfigurationError, match=code):
                    await make_sandbox(dsn, plan).open()
        with psycopg.connect(f"{database} user=postgres", autocommit=True) as connection:
            connection.execute(b"DROP TABLE api.customers")
            connection.execute(setup_sql(plan, again=True).encode())
        assert await check(dsn, plan) == []
        async with make_sandbox(
            f"postgresql:///{name}?host={server.directory}&user={name}".replace(" ", "%20"), plan
        ) as opened:
            answer = await opened.query('SELECT id, total, api.vat(total), "odd ""name" FROM orders ORDER BY id')
            hidden = await opened.query("SELECT secret FROM orders")
            tenants = await opened.query("SELECT count(*) FROM customers")
    finally:
        with psycopg.connect(server.dsn(), autocommit=True) as connection:
            connection.execute(SQL("DROP DATABASE {} WITH (FORCE)").format(Identifier(name)))
            connection.execute(SQL("DROP ROLE {}, {}").format(Identifier(name), Identifier(f"{name}_owner")))

    assert isinstance(answer, Rows)
    assert (answer.row_count, answer.truncated) == (5, True)
    assert isinstance(hidden, SqlRefusal)
    assert hidden.code == "unknown_column"
    assert isinstance(tenants, Rows)
    assert tenants.rows == ((5,),)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("relations: {orders: {}}\nread_only-true: 1", "read_only-true"),
        ("relations: {orders: {hiden: 1}}", "relations.orders.hiden"),
        ("relations: {orders: {}}\ncaps: {row: 3}", "'row'"),
        ("relations: {orders: {}}\ncaps: {rows: 0}", "'rows'"),
        ("relations: {orders: {}}\ncaps: {timeout: 60}", "'timeout'"),
        ("relations: {pg_class: {}}", "'pg_class'"),
        ("relations: {orders: {}}\nschema: pg_catalog", "'pg_catalog'"),
        ("relations: [", "YAML"),
        ("relations: {orders: {where: tenant = 1, where: 'true'}}", "'where'"),
        ("relations: {orders: {columns: {id: ''}}, orders: {}}", "'orders'"),
        ("", "the plan states nothing"),
        ("relatons: {orders: {}}", "at relatons: nothing is called so; is 'relations' meant"),
        ("relations: {orders: {column: {id: ''}}}", "is 'columns' meant"),
        ("relations: {orders: {columns: [id]}}", "at relations.orders.columns: write names"),
        ("relations: {}", "name at least one"),
    ],
)
def test_a_plan_that_states_something_unknown_is_refused(text: str, word: str) -> None:
    with pytest.raises(ConfigurationError, match=word):
        make_sandbox("postgresql:///x", read_plan(text))


def test_the_setup_says_whose_rights_it_takes() -> None:
    script = setup_sql(read_plan("database: shop\nrelations: {o: {from: c.o, columns: {id: ''}}}"))
    warned, _, done = script.partition("REVOKE ALL ON DATABASE")

    assert 'GRANT CONNECT, TEMPORARY ON DATABASE "shop" TO app; GRANT USAGE ON SCHEMA public TO app;' in warned
    assert "REVOKE ALL ON SCHEMA public FROM PUBLIC" in done


def test_a_plan_without_a_database_or_a_table_makes_no_setup() -> None:
    with pytest.raises(ConfigurationError, match="database"):
        setup_sql(read_plan("relations: {orders: {}}"))
    with pytest.raises(ConfigurationError, match="'orders'"):
        setup_sql(read_plan("database: d\nrelations: {orders: {columns: {id: ''}}}"))
    for table in ("orders", "shop.core.orders"):
        with pytest.raises(ConfigurationError, match=r"schema\.table"):
            setup_sql(read_plan(f"database: d\nrelations: {{orders: {{from: {table}, columns: {{id: ''}}}}}}"))
    with pytest.raises(ConfigurationError, match=r"'vat'.*schema\.name"):
        setup_sql(read_plan("database: d\nfunctions: [vat]\nrelations: {o: {from: c.o, columns: {id: ''}}}"))


async def test_a_plan_opens_a_sqlite_file_as_well(tmp_path_factory: pytest.TempPathFactory) -> None:
    directory = tmp_path_factory.mktemp("plan")
    shop = make_shop(directory / "shop.db", 10)
    plan = directory / "sandbox.yaml"
    plan.write_text(
        "relations: {counties: {description: Where.}, orders: {columns: {id: the number}}}\ncaps: {rows: 2}"
    )
    for url in (str(shop), f"sqlite:///{shop}"):
        async with make_sandbox(url, load_plan(plan)) as opened:
            answer = await opened.query("SELECT id FROM orders")
            hidden = await opened.query("SELECT total FROM orders")

            assert isinstance(answer, Rows)
            assert answer.row_count == 2
            assert isinstance(hidden, SqlRefusal)


async def test_of_a_sqlite_file_each_fault_is_found_once(tmp_path: Path) -> None:
    functions = read_plan("relations: {orders: {columns: {id: ''}}}\nfunctions: [Upper, vat]")
    assert [found.message for found in await check(str(make_shop(tmp_path / "shop.db", 10)), functions)] == [
        "SQLite has no function 'vat', which the plan grants"
    ]
    (tmp_path / "words.db").write_text("words " * 200)
    found = await check(str(tmp_path / "words.db"), read_plan("relations: {orders: {}, customers: {}}"))
    assert [finding.code for finding in found] == ["missing"]


@pytest.mark.parametrize("words", ["where: tenant = 1", "from: core.customers"])
def test_a_sqlite_file_does_not_open_a_relation_of_which_the_plan_leaves_rows_out(words: str) -> None:
    plan = read_plan(f"relations: {{customers: {{{words}}}}}")

    with pytest.raises(ConfigurationError, match=f"`{words.partition(':')[0]}`.*make a view"):
        make_sandbox("shop.db", plan)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql+psycopg://u:hunter2@h/d",
        "postgresql://u:hun%ter2@h/d",
        "user=u password='hunter2",
        "mysql://u:hunter2@h/d",
    ],
)
async def test_an_address_that_is_none_is_told_without_its_password(url: str) -> None:
    with pytest.raises(ConfigurationError, match="write postgresql://role@host/database") as refused:
        await check(url, read_plan("relations: {orders: {}}"))
    with pytest.raises(ConfigurationError, match="write postgresql://role@host/database") as failed:
        await PostgresRunner(url).open()
    with pytest.raises(ConfigurationError, match="cannot be read") as unread:
        make_pool(url, 1)
    told = "".join(line for error in (refused, failed, unread) for line in format_exception(error.value))

    assert "hunter2" not in told


def test_a_plan_is_a_value() -> None:
    plan = SandboxPlan.model_validate({"relations": {"orders": {}}})

    assert plan == SandboxPlan.model_validate({"relations": {"orders": {}}})
    with pytest.raises(ConfigurationError, match=r"nowhere\.yaml"):
        load_plan("nowhere.yaml")
