"""`placet sql setup`: the SQL that makes a plan true.

The extra `postgres`.
"""

from collections.abc import Iterator
from typing import LiteralString

from psycopg.sql import SQL, Composable, Identifier, Literal

from placet.database.plan import RelationPlan, SandboxPlan
from placet.database.policy import Policy
from placet.errors import ConfigurationError

_SETTINGS = {
    "default_transaction_read_only": "on",
    "statement_timeout": "{timeout}s",
    "lock_timeout": "500ms",
    "idle_in_transaction_session_timeout": "{idle}s",
    "work_mem": "16MB",
    "temp_file_limit": "64MB",
    "max_parallel_workers_per_gather": "0",
    "jit": "off",
    "lc_messages": "C",
}


def setup_sql(plan: SandboxPlan, *, again: bool = False) -> str:
    r"""Return the SQL that a superuser runs once, in the plan's database.

    Names are quoted; a `where` is the plan's own SQL and stands as it is. The password is left
    to `\password`, which keeps it out of files and logs.

    Args:
        plan: What is to be open.
        again: For a plan that has changed since: the roles are there and stay, the views are made anew.

    Raises:
        ConfigurationError: The plan names no database, or a relation no table, or a function no schema.
    """
    if not plan.database:
        raise ConfigurationError("the plan names no database; state `database`")
    return "\n".join(_lines(plan, again=again)) + "\n"


def _lines(plan: SandboxPlan, *, again: bool) -> Iterator[str]:
    role, owner, schema, database = (
        Identifier(name) for name in (plan.role, plan.owner, plan.api_schema, plan.database)
    )

    def say(words: LiteralString, **parts: Composable) -> str:
        named = {"role": role, "owner": owner, "schema": schema, "database": database, **parts}
        return SQL(words).format(**named).as_string(None)

    yield "BEGIN;"
    yield ""
    limit = Literal(plan.open_caps().connections * 2)
    if again:
        yield say("ALTER ROLE {role} CONNECTION LIMIT {limit};", limit=limit)
    else:
        yield "-- The login of the sandbox: it owns nothing, inherits nothing, and reads one schema of views."
        yield say("CREATE ROLE {owner} NOLOGIN;")
        yield say(
            "CREATE ROLE {role} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS NOINHERIT"
            " CONNECTION LIMIT {limit};",
            limit=limit,
        )
        yield say("-- \\password {role}")
    yield ""
    yield "-- Nothing for everybody: PostgreSQL grants CONNECT, TEMP, and EXECUTE on new functions to PUBLIC."
    yield "-- Logins of your own that work here by these rights alone lose them. Grant them first, each by its name:"
    yield say("--   GRANT CONNECT, TEMPORARY ON DATABASE {database} TO app; GRANT USAGE ON SCHEMA public TO app;")
    yield say("REVOKE ALL ON DATABASE {database} FROM PUBLIC;")
    yield say("GRANT CONNECT ON DATABASE {database} TO {role};")
    yield "REVOKE ALL ON SCHEMA public FROM PUBLIC;"
    yield say("ALTER DEFAULT PRIVILEGES FOR ROLE {owner} REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;")
    yield ""
    yield "-- What is open. A view that leaves rows out is a barrier, or errors would show them."
    yield say("CREATE SCHEMA IF NOT EXISTS {schema} AUTHORIZATION {owner};")
    views = (_view(plan, name, relation, again=again) for name, relation in plan.relations.items())
    yield from dict.fromkeys(line for view in views for line in view)
    yield say("GRANT USAGE ON SCHEMA {schema} TO {role};")
    for name in plan.relations:
        yield say("GRANT SELECT ON {view} TO {role};", view=Identifier(plan.api_schema, name))
    Policy(functions=frozenset(plan.functions))  # looks at their names
    for name in plan.functions:
        bare = Identifier(*name.split("."))
        yield say("GRANT USAGE ON SCHEMA {space} TO {role};", space=Identifier(name.partition(".")[0]))
        yield say("REVOKE EXECUTE ON FUNCTION {function} FROM PUBLIC;", function=bare)
        yield say("GRANT EXECUTE ON FUNCTION {function} TO {role};", function=bare)
    yield ""
    yield "-- Defaults of the session. All but temp_file_limit and lc_messages are set again in every transaction."
    yield say("ALTER ROLE {role} SET search_path = {schema};")
    timeout = plan.open_caps().timeout.total_seconds()
    for name, value in _SETTINGS.items():
        stated = value.format(timeout=f"{timeout:g}", idle=f"{timeout + 2:g}")
        yield say("ALTER ROLE {role} SET {name} = {value};", name=Identifier(name), value=Literal(stated))
    yield ""
    yield "COMMIT;"


def view_query(name: str, relation: RelationPlan) -> str:
    """Return the query that a relation of a plan is a view of.

    Raises:
        ConfigurationError: The plan does not say from which table, or which columns.
    """
    if not relation.source or not relation.columns:
        raise ConfigurationError(f"the relation {name!r} needs `from` and `columns`, or no view can be made of it")
    if relation.source.count(".") != 1:
        raise ConfigurationError(f"the relation {name!r} is from {relation.source!r}; write it as 'schema.table'")
    columns = SQL(", ").join(Identifier(column) for column in relation.columns)
    select = SQL("SELECT {} FROM {}").format(columns, Identifier(*relation.source.split("."))).as_string(None)
    return f"{select} WHERE {relation.where}" if relation.where else select


def _view(plan: SandboxPlan, name: str, relation: RelationPlan, *, again: bool) -> Iterator[str]:
    query = view_query(name, relation)
    view = Identifier(plan.api_schema, name).as_string(None)
    schema, _, table = (relation.source or "").partition(".")
    owner = Identifier(plan.owner).as_string(None)
    yield f"GRANT USAGE ON SCHEMA {Identifier(schema).as_string(None)} TO {owner};"
    yield f"GRANT SELECT ON {Identifier(schema, table).as_string(None)} TO {owner};"
    if again:
        yield f"DROP VIEW IF EXISTS {view};"
    barrier = " WITH (security_barrier)" if relation.where else ""
    yield f"CREATE VIEW {view}{barrier} AS {query};"
    yield f"ALTER VIEW {view} OWNER TO {owner};"
