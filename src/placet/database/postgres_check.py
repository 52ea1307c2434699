"""Whether a live PostgreSQL database is as a plan says. The extra `postgres`."""

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping

from placet.database.audit import audit_role, load_views
from placet.database.describing import describe_relation
from placet.database.finding import Finding
from placet.database.plan import RelationPlan, SandboxPlan
from placet.database.postgres_pool import Connection, connect
from placet.database.postgres_query import Settings
from placet.database.relation import KnownColumn
from placet.database.setup import view_query
from placet.database.views import Name, View, leaves_rows_out, read_view, reads_the_same
from placet.database.wire import Wire
from placet.errors import ConfigurationError

_MEND = "run what `placet sql setup --again` prints, or correct the plan"


async def check_postgres(dsn: str, plan: SandboxPlan, *, audit_dsn: str | None = None) -> list[Finding]:
    """Return what is not as it should be, the severe first.

    Args:
        dsn: The login of the sandbox.
        plan: What is open.
        audit_dsn: A login that may read the catalog, when the sandbox's own may not.

    Raises:
        ConfigurationError: There is no connection to be had, or the catalog cannot be read.
    """
    columns: dict[str, tuple[KnownColumn, ...]] = {}
    async with await connect(dsn) as connection:
        role, database = connection.info.user, connection.info.dbname
        findings = [finding async for finding in _look_at_settings(connection, plan)]
        findings += [finding async for finding in _look_at_relations(connection, plan, columns)]
    async with await connect(audit_dsn or dsn) as connection:
        findings += await audit_role(connection, role, plan.open_relations(), plan.functions)
        findings += look_at_views(plan, columns, await load_views(connection))
    for what, found, planned in (("login", role, plan.role), ("database", database, plan.database)):
        if ("role" if what == "login" else what) in plan.model_fields_set and found != planned:
            message = f"this is the {what} {found!r}, and the plan is for {planned!r}"
            findings.append(Finding(what, message, False, f"check with the {what} {planned!r}"))
    return sorted(findings, key=lambda finding: not finding.is_severe)


def look_at_views(
    plan: SandboxPlan, columns: Mapping[str, tuple[KnownColumn, ...]], views: Mapping[Name, View]
) -> Iterator[Finding]:
    """Yield where a view that the plan makes is another one by now: its columns, its table, its rows.

    Args:
        plan: What is open.
        columns: Of the relations, by their full names; those that are missing may be left out.
        views: All of the database.
    """
    for relation in plan.open_relations():
        planned, name = plan.relations[relation.name], (plan.api_schema, relation.name)
        if not planned.source:
            continue
        yield from _more_columns(relation.full_name, columns.get(relation.full_name, ()), relation.columns)
        if name in views:
            yield from _look_at_query(relation.full_name, name, planned, views)
        elif relation.full_name in columns:
            message = f"{relation.full_name} is no view, and the plan says that it is one of {planned.source}"
            yield Finding("no_view", message, True, f"drop it; {_MEND}")


async def _look_at_settings(connection: Connection, plan: SandboxPlan) -> AsyncIterator[Finding]:
    try:
        await Settings((plan.api_schema,), plan.time_zone, plan.open_caps()).try_out(Wire(connection))
    except ConfigurationError as error:
        yield Finding("settings", str(error), True, "correct the plan")


async def _look_at_relations(
    connection: Connection, plan: SandboxPlan, columns: dict[str, tuple[KnownColumn, ...]]
) -> AsyncIterator[Finding]:
    wire = Wire(connection)
    for relation in plan.open_relations():
        try:
            columns[relation.full_name] = await describe_relation(wire, relation)
        except ConfigurationError as error:
            yield Finding("missing", str(error), True, _MEND)


def _more_columns(name: str, columns: tuple[KnownColumn, ...], planned: Mapping[str, str]) -> Iterator[Finding]:
    more = [column.name for column in columns if column.name not in planned]
    if more:
        message = f"the view {name} shows {', '.join(more)}, which the plan does not list"
        yield Finding("more_columns", message, True, _MEND)


def _look_at_query(shown: str, name: Name, planned: RelationPlan, views: Mapping[Name, View]) -> Iterator[Finding]:
    live, meant = views[name], read_view(view_query(name[1], planned), has_barrier=bool(planned.where))
    if planned.where and not leaves_rows_out(name, views):
        message = f"the view {shown} shows every row, and the plan says WHERE {planned.where}"
        yield Finding("no_filter", message, True, _MEND)
    elif live.condition != meant.condition:  # a value may be written in two ways, so it is said, and no more
        message = (
            f"the view {shown} chooses its rows by {_list(live.condition)}, and the plan by {_list(meant.condition)}"
        )
        yield Finding("other_filter", message, False, f"look whether they are the same rows; {_MEND}")
    is_read = live.reads or not live.filters  # what the parser cannot read is said to filter, and to read nothing
    if is_read and meant.reads and not reads_the_same(live, meant):
        tables = ", ".join(sorted(".".join(filter(None, read)) for read in live.reads))
        message = f"the view {shown} shows rows of {tables or 'no table'}, and the plan says {planned.source}"
        yield Finding("other_table", message, True, _MEND)


def _list(words: Iterable[str]) -> str:
    return ", ".join(sorted(words)) or "nothing"
