from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final
from uuid import uuid4

import psycopg
import pytest
from psycopg import AsyncConnection
from psycopg.sql import SQL, Identifier

from placet.database.answer import Rows, SqlRefusal
from placet.database.audit import audit_role, load_dotted, load_shadowed, speaks_english
from placet.database.finding import Finding, say
from placet.database.postgres_sandbox import PostgresSandbox
from placet.database.relation import Relation
from placet.errors import ConfigurationError
from tests.postgres_server import PostgresServer

RELATIONS: Final = (Relation("orders", "api"), Relation("customers", "api"))

SETUP: Final = """
REVOKE ALL ON DATABASE {database} FROM PUBLIC;
REVOKE ALL ON SCHEMA public FROM PUBLIC;
CREATE SCHEMA core; CREATE SCHEMA api;
CREATE TABLE core.orders (id int, total numeric);
CREATE TABLE core.customers (id int, tenant int, email text);
CREATE VIEW api.orders AS SELECT id, total FROM core.orders;
CREATE VIEW api.customers WITH (security_barrier) AS SELECT id FROM core.customers WHERE tenant = 1;
CREATE ROLE {role} LOGIN NOINHERIT;
ALTER ROLE {role} SET temp_file_limit = '64MB';
GRANT CONNECT ON DATABASE {database} TO {role};
GRANT USAGE ON SCHEMA api TO {role};
GRANT SELECT ON ALL TABLES IN SCHEMA api TO {role};
"""

Operator = AsyncConnection[tuple[Any, ...]]


class Database:
    """A database of its own, with a role that may read what is open and nothing else."""

    def __init__(self, server: PostgresServer, name: str, operator: Operator) -> None:
        self.server = server
        self.name = name
        self.operator = operator

    async def run(self, words: str) -> None:
        view = SQL("CREATE OR REPLACE VIEW api.orders AS")
        names = {"role": Identifier(self.name), "database": Identifier(self.name), "view": view}
        await self.operator.execute(SQL(words).format(**names))

    async def audit(self, functions: Sequence[str] = ()) -> list[Finding]:
        return await audit_role(self.operator, self.name, RELATIONS, functions)


@contextmanager
def make_database(server: PostgresServer) -> Iterator[str]:
    """Make a database and a role of one name, with `SETUP`, and yield the name."""
    name = f"audit_{uuid4().hex[:8]}"
    names = {"role": Identifier(name), "database": Identifier(name)}
    with psycopg.connect(server.dsn(), autocommit=True) as connection:
        connection.execute(SQL("CREATE DATABASE {}").format(Identifier(name)))
    with psycopg.connect(server.dsn(database=name), autocommit=True) as connection:
        connection.execute(SQL(SETUP).format(**names))
    yield name
    with psycopg.connect(server.dsn(), autocommit=True) as connection:
        connection.execute(SQL("DROP DATABASE {} WITH (FORCE)").format(Identifier(name)))
        connection.execute(SQL("DROP ROLE {}").format(Identifier(name)))


@pytest.fixture(scope="module")
def made(server: PostgresServer) -> Iterator[str]:
    with make_database(server) as name:
        yield name


@pytest.fixture
async def database(server: PostgresServer, made: str) -> AsyncIterator[Database]:
    """A database whose changes nobody else sees, and that are taken back."""
    async with await AsyncConnection.connect(server.dsn(database=made)) as operator:
        yield Database(server, made, operator)
        await operator.rollback()


@pytest.fixture
async def own_database(server: PostgresServer) -> AsyncIterator[Database]:
    """A database whose changes others see."""
    with make_database(server) as name:
        async with await AsyncConnection.connect(server.dsn(database=name), autocommit=True) as operator:
            yield Database(server, name, operator)


async def test_a_role_that_reads_what_is_open_has_no_findings(database: Database) -> None:
    assert await database.audit() == []


STRONG: Final = {
    "ALTER ROLE {role} SUPERUSER": "rolsuper",
    "ALTER ROLE {role} BYPASSRLS": "rolbypassrls",
    "ALTER ROLE {role} CREATEROLE": "rolcreaterole",
    "ALTER ROLE {role} CREATEDB": "rolcreatedb",
    "ALTER ROLE {role} REPLICATION": "rolreplication",
    "GRANT pg_read_server_files TO {role}": "member",
    "GRANT pg_monitor TO {role}": "member",
    "GRANT pg_write_all_data TO {role}": "member",
    "GRANT pg_read_all_data TO {role}": "member",
    "ALTER DEFAULT PRIVILEGES IN SCHEMA core GRANT SELECT ON TABLES TO {role}": "defaults",
    "ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO PUBLIC": "defaults",
    "ALTER DEFAULT PRIVILEGES IN SCHEMA api GRANT INSERT ON TABLES TO {role}": "defaults",
    "ALTER DEFAULT PRIVILEGES IN SCHEMA api GRANT EXECUTE ON FUNCTIONS TO {role}": "defaults",
    "ALTER TABLE core.orders OWNER TO {role}": "owner",
    "ALTER SCHEMA core OWNER TO {role}": "owner",
    "CREATE TYPE core.t AS ENUM ('a'); ALTER TYPE core.t OWNER TO {role}": "owner",
    "SELECT lo_create(4242); ALTER LARGE OBJECT 4242 OWNER TO {role}": "owner",
    "SELECT lo_create(4243); GRANT SELECT ON LARGE OBJECT 4243 TO PUBLIC": "large_objects",
    "GRANT INSERT ON api.orders TO {role}": "writes",
    "GRANT UPDATE (total) ON api.orders TO {role}": "writes",
    "GRANT TRUNCATE ON core.orders TO PUBLIC": "writes",
    "GRANT TRIGGER ON core.orders TO {role}": "writes",
    "CREATE SEQUENCE core.s; GRANT USAGE ON SEQUENCE core.s TO {role}": "sequences",
    "GRANT TEMP ON DATABASE {database} TO {role}": "creates",
    "GRANT CREATE ON DATABASE {database} TO PUBLIC": "creates",
    "GRANT CREATE ON SCHEMA api TO {role}": "creates",
    "GRANT USAGE ON SCHEMA core TO {role}; GRANT SELECT ON core.customers TO {role}": "reads",
    "GRANT USAGE ON SCHEMA core TO {role}; GRANT SELECT (email) ON core.customers TO PUBLIC": "reads",
    "GRANT SELECT ON pg_catalog.pg_authid TO {role}": "reads",
    "GRANT SELECT ON pg_catalog.pg_shadow TO PUBLIC": "reads",
    "GRANT EXECUTE ON FUNCTION pg_catalog.pg_read_file(text) TO {role}": "calls",
    "GRANT EXECUTE ON FUNCTION pg_catalog.pg_ls_dir(text) TO PUBLIC": "calls",
    "CREATE FUNCTION pg_catalog.lower(int) RETURNS int LANGUAGE sql AS 'SELECT 1'": "calls",
    "CREATE FUNCTION core.f(text, text) RETURNS bool LANGUAGE sql AS 'SELECT true';"
    "CREATE OPERATOR api.=== (FUNCTION = core.f, LEFTARG = text, RIGHTARG = text)": "calls",
    "CREATE TYPE core.t AS (a int); CREATE FUNCTION core.f(core.t) RETURNS int LANGUAGE sql AS 'SELECT 1';"
    "CREATE CAST (core.t AS int) WITH FUNCTION core.f(core.t) AS IMPLICIT": "calls",
    "CREATE FUNCTION api.f() RETURNS int LANGUAGE sql AS 'SELECT 1'": "calls",
    "CREATE EXTENSION lo SCHEMA api": "calls",
    "CREATE SCHEMA x; GRANT USAGE ON SCHEMA x TO PUBLIC; CREATE EXTENSION dblink SCHEMA x": "calls",
    "ALTER VIEW api.customers RESET (security_barrier)": "leaky_view",
    "{view} SELECT o.id, total FROM core.orders o JOIN core.customers c ON c.id = o.id AND c.tenant = 1": "leaky_view",
    "{view} SELECT id, total FROM (SELECT * FROM core.orders WHERE id > 5) o": "leaky_view",
    "CREATE VIEW core.s AS SELECT * FROM core.orders WHERE id > 5; {view} SELECT id, total FROM core.s": "leaky_view",
}


@pytest.mark.parametrize("words", STRONG)
async def test_what_is_too_strong_is_found(database: Database, words: str) -> None:
    await database.run(words)
    findings = await database.audit()

    assert STRONG[words] in [finding.code for finding in findings if finding.is_severe], findings


@pytest.mark.parametrize(
    "words",
    [
        "{view} SELECT o.id, o.total FROM core.orders o JOIN core.customers c ON c.id = o.id",
        "{view} SELECT id, total FROM core.orders UNION ALL SELECT id, 0 FROM core.customers",
        "CREATE VIEW core.s WITH (security_barrier) AS SELECT * FROM core.orders WHERE id > 5; {view} TABLE core.s",
        "{view} SELECT 1 AS id, 2::numeric AS total",
    ],
)
async def test_a_view_that_leaves_no_row_out_needs_no_barrier(database: Database, words: str) -> None:
    await database.run(words)

    assert await database.audit() == []


WEAK: Final = {
    "CREATE VIEW api.more AS SELECT 1; GRANT SELECT ON api.more TO {role}": "reads_more",
    "ALTER ROLE {role} RESET temp_file_limit": "temp_file_limit",
    "ALTER DEFAULT PRIVILEGES IN SCHEMA api GRANT SELECT ON TABLES TO {role}": "defaults",
    "ALTER TABLE core.orders ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON core.orders USING "
    "(id = current_setting('app.tenant')::int)": "policy_on_setting",
}


@pytest.mark.parametrize("words", WEAK)
async def test_what_only_the_guard_holds_is_a_warning(database: Database, words: str) -> None:
    await database.run(words)
    findings = await database.audit()

    assert [(finding.code, finding.is_severe) for finding in findings] == [(WEAK[words], False)]


async def test_a_granted_function_is_no_finding(database: Database) -> None:
    await database.run("CREATE FUNCTION api.vat(n numeric) RETURNS numeric LANGUAGE sql AS 'SELECT n'")

    assert await database.audit(["api.vat"]) == []
    assert [finding.code for finding in await database.audit()] == ["calls"]


async def test_a_role_that_is_too_strong_does_not_start(own_database: Database) -> None:
    await own_database.run("ALTER ROLE {role} SUPERUSER")
    dsn = own_database.server.dsn(own_database.name, own_database.name)

    with pytest.raises(ConfigurationError, match="superuser"):
        await PostgresSandbox(dsn, RELATIONS).open()
    async with PostgresSandbox(dsn, RELATIONS, insecure=True) as opened:
        assert [finding.code for finding in opened.findings] == ["rolsuper"]


@pytest.mark.parametrize("who", ["{role}", "PUBLIC"])
async def test_a_role_that_may_maintain_is_found_and_mended(database: Database, who: str) -> None:
    if database.operator.info.server_version < 170_000:
        pytest.skip("PostgreSQL 17 is the first that grants it")
    await database.run(f"GRANT MAINTAIN ON core.orders TO {who}")
    (finding,) = await database.audit()
    await database.operator.execute(finding.mend.encode())

    assert (finding.code, finding.is_severe) == ("maintains", True)
    assert await database.audit() == []


async def test_a_parameter_that_only_a_superuser_sets_is_found_and_mended(database: Database) -> None:
    for who in ("{role}", "PUBLIC"):
        await database.run(f"GRANT SET, ALTER SYSTEM ON PARAMETER temp_file_limit TO {who}")
        (finding,) = await database.audit()
        await database.operator.execute(finding.mend.encode())  # for all databases of the server, so it must end here

        assert (finding.code, finding.is_severe) == ("parameters", True)
    assert await database.audit() == []


@pytest.mark.parametrize(
    ("language", "is_english"),
    [("C", True), ("en_US.utf8", True), ("POSIX", True), ("", True), ("English_Ireland.1252", True), ("C.UTF-8", True),
     ("de_DE.UTF-8", False), ("ro_RO", False), ("cs_CZ", False), ("enm", False)],
)  # fmt: skip
def test_a_server_that_speaks_another_language_is_known(language: str, is_english: bool) -> None:
    assert speaks_english(language) is is_english


async def test_a_role_is_not_found_too_strong_by_what_everybody_may_on_a_new_server(database: Database) -> None:
    await database.run("CREATE EXTENSION citext SCHEMA core; CREATE EXTENSION hstore SCHEMA core")

    assert await database.audit() == []


STARTING: Final = {code: words for words, code in STRONG.items() if code not in ("rolsuper", "owner")}


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(words, marks=() if STARTING.get(code) == words else pytest.mark.slow)
        for words, code in STRONG.items()
        if code in STARTING
    ],
)
async def test_whatever_is_too_strong_keeps_the_sandbox_from_starting(own_database: Database, words: str) -> None:
    dsn = own_database.server.dsn(own_database.name, own_database.name)
    async with PostgresSandbox(dsn, RELATIONS) as before:
        assert before.findings == []
    await own_database.run(words)

    with pytest.raises(ConfigurationError, match=rf"may do too much[^\0]*{STRONG[words]}"):
        await PostgresSandbox(dsn, RELATIONS).open()


MENDED: Final = (
    "ALTER ROLE {role} BYPASSRLS",
    "GRANT pg_monitor TO {role}",
    "GRANT INSERT ON api.orders TO PUBLIC; GRANT TRUNCATE ON core.orders TO {role}",
    "CREATE SEQUENCE core.s; GRANT USAGE ON SEQUENCE core.s TO {role}",
    "GRANT TRIGGER ON core.orders TO {role}; GRANT REFERENCES ON core.orders TO PUBLIC",
    "GRANT TEMP, CREATE ON DATABASE {database} TO {role}; GRANT CREATE ON SCHEMA api TO PUBLIC",
    "SELECT lo_create(4244); GRANT SELECT ON LARGE OBJECT 4244 TO PUBLIC",
    "GRANT SELECT ON pg_catalog.pg_authid TO {role}; GRANT EXECUTE ON FUNCTION pg_catalog.pg_read_file(text) TO {role}",
    "ALTER DEFAULT PRIVILEGES IN SCHEMA core GRANT SELECT ON TABLES TO {role}",
    "ALTER DEFAULT PRIVILEGES GRANT INSERT ON TABLES TO PUBLIC",
    'CREATE TABLE core."O""dd" (a int); GRANT USAGE ON SCHEMA core TO {role}; GRANT SELECT ON core."O""dd" TO PUBLIC',
    "CREATE VIEW api.more AS SELECT 1; GRANT SELECT ON api.more TO {role}",
    "CREATE FUNCTION api.f(int, text) RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "CREATE EXTENSION lo SCHEMA api",
    "ALTER VIEW api.customers RESET (security_barrier)",
    "ALTER ROLE {role} RESET temp_file_limit",
)


@pytest.mark.parametrize("words", MENDED)
async def test_a_finding_says_what_mends_it(database: Database, words: str) -> None:
    await database.run(words)
    findings = await database.audit()
    for finding in findings:
        await database.operator.execute(finding.mend.encode())

    assert findings
    assert await database.audit() == []


def test_findings_are_said_with_what_mends_them() -> None:
    assert say([Finding("calls", "it calls", True, "REVOKE;")]) == "refused  calls: it calls\n         REVOKE;"


async def test_a_role_that_is_not_there_is_an_error(database: Database) -> None:
    with pytest.raises(ConfigurationError, match="'nobody_here'"):
        await audit_role(database.operator, "nobody_here", RELATIONS)


async def test_a_catalog_that_may_not_be_read_is_an_error_and_another_login_helps(own_database: Database) -> None:
    await own_database.run("REVOKE SELECT ON pg_catalog.pg_proc FROM PUBLIC")
    dsn = own_database.server.dsn(own_database.name, own_database.name)

    with pytest.raises(ConfigurationError, match="may read the catalog"):
        await PostgresSandbox(dsn, RELATIONS).open()
    async with PostgresSandbox(dsn, RELATIONS, audit_dsn=own_database.server.dsn(database=own_database.name)) as opened:
        assert opened.findings == []


async def test_what_a_dot_calls_on_a_row_is_found_with_defaults_and_by_way_of_domains(database: Database) -> None:
    await database.run(
        "CREATE FUNCTION core.by_row(api.orders) RETURNS int LANGUAGE sql AS 'SELECT 1';"
        "CREATE FUNCTION core.by_default(api.orders, int DEFAULT 1) RETURNS int LANGUAGE sql AS 'SELECT 1';"
        "CREATE DOMAIN core.some AS api.orders; CREATE FUNCTION core.by_domain(core.some) RETURNS int LANGUAGE sql AS"
        " 'SELECT 1'; CREATE FUNCTION core.by_two(api.orders, int) RETURNS int LANGUAGE sql AS 'SELECT 1'"
    )
    found = await load_dotted(database.operator, database.name, ["api"])

    assert {"by_row", "by_default", "by_domain", "pg_typeof"} <= found
    assert "by_two" not in found


async def test_what_a_dot_calls_on_a_value_is_what_the_role_could_call_bare(database: Database) -> None:
    await database.run(
        "CREATE FUNCTION api.open(int, int DEFAULT 1) RETURNS int LANGUAGE sql AS 'SELECT 1';"
        "CREATE FUNCTION api.shut(int) RETURNS int LANGUAGE sql AS 'SELECT 1';"
        "REVOKE EXECUTE ON FUNCTION api.shut FROM PUBLIC;"
        "CREATE FUNCTION core.elsewhere(int) RETURNS int LANGUAGE sql AS 'SELECT 1'"
    )
    found = await load_dotted(database.operator, database.name, ["api"])

    assert {"open", "pg_sleep", "pg_terminate_backend", "ts_stat", "regclass", "_regclass", "abs"} <= found
    assert not {"shut", "elsewhere", "record", "bernoulli", "pg_notify", "pg_class"} & found


async def test_a_bare_name_that_stands_for_another_relation_is_found(database: Database) -> None:
    await database.run(
        "CREATE SCHEMA old; CREATE TABLE old.orders (a int); CREATE SCHEMA shut; CREATE TABLE shut.customers (a int);"
        "GRANT USAGE ON SCHEMA old TO PUBLIC"
    )

    async def shadowed(*path: str) -> frozenset[str]:
        return await load_shadowed(database.operator, database.name, RELATIONS, path)

    assert await shadowed("old", "shut", "api") == {"orders"}
    assert await shadowed("api", "old") == frozenset()
    assert await shadowed("api") == frozenset()


async def test_a_bare_name_reads_nothing_that_is_not_open(own_database: Database) -> None:
    await own_database.run(
        "CREATE SCHEMA aa; CREATE TABLE aa.orders AS SELECT 'hidden' AS secret; CREATE VIEW aa.x AS SELECT 1 AS n;"
        "GRANT USAGE ON SCHEMA aa TO {role}; GRANT SELECT ON ALL TABLES IN SCHEMA aa TO {role}"
    )
    dsn = own_database.server.dsn(own_database.name, own_database.name)
    async with PostgresSandbox(dsn, [Relation("x", "aa"), *RELATIONS]) as opened:
        bare = await opened.query("SELECT * FROM orders")
        full = await opened.query("SELECT * FROM api.orders")

        assert opened.data.names == ("x", "api.orders", "customers")
    assert isinstance(bare, SqlRefusal)
    assert bare.nearest == ("api.orders",)
    assert isinstance(full, Rows)
