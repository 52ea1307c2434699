"""Whether a live PostgreSQL database is as a plan says. The extra `postgres`."""

from collections.abc import AsyncIterator, Iterator, Mapping

from placet.database.audit import audit_role, load_views
from placet.database.describing import describe_relation
from placet.database.finding import Finding
from placet.database.plan import SandboxPlan
from placet.database.postgres_pool import Connection, connect
from placet.database.postgres_query import Settings
from placet.database.relation import KnownColumn
from placet.database.views import Name, View, leaves_rows_out
from placet.database.wire import Wire
from placet.errors import ConfigurationError

_MEND = "run what `placet sql setup` prints, or correct the plan"


async def check_postgres(dsn: str, plan: SandboxPlan, *, audit_dsn: str | None = None) -> list[Finding]:
    """Return what is not as it should be, the severe first.

    Args:
        dsn: The login of the sandbox.
        plan: What is open.
        audit_dsn: A login that may read the catalog, when the sandbox's own may not.

    Raises:
        ConfigurationError: There is no connection to be had, or the catalog cannot be read.
    """
    async with await connect(dsn) as connection:
        role = connection.info.user
        findings = [finding async for finding in _look_at_settings(connection, plan)]
        findings += [finding async for finding in _look_at_relations(connection, plan)]
    async with await connect(audit_dsn or dsn) as connection:
        findings += await audit_role(connection, role, plan.open_relations(), plan.functions)
        findings += _look_at_filters(plan, await load_views(connection))
    if "role" in plan.model_fields_set and role != plan.role:
        message = f"this is the login {role!r}, and the plan is for {plan.role!r}"
        findings.append(Finding("login", message, False, f"check with the login {plan.role!r}"))
    return sorted(findings, key=lambda finding: not finding.is_severe)


async def _look_at_settings(connection: Connection, plan: SandboxPlan) -> AsyncIterator[Finding]:
    try:
        await Settings((plan.api_schema,), plan.time_zone, plan.open_caps()).try_out(Wire(connection))
    except ConfigurationError as error:
        yield Finding("settings", str(error), True, "correct the plan")


async def _look_at_relations(connection: Connection, plan: SandboxPlan) -> AsyncIterator[Finding]:
    wire = Wire(connection)
    for relation in plan.open_relations():
        try:
            columns = await describe_relation(wire, relation)
        except ConfigurationError as error:
            yield Finding("missing", str(error), True, _MEND)
            continue
        if plan.relations[relation.name].source:  # the plan makes the view, so its columns are all there are
            for finding in _more_columns(relation.full_name, columns, relation.columns):
                yield finding


def _more_columns(name: str, columns: tuple[KnownColumn, ...], planned: Mapping[str, str]) -> Iterator[Finding]:
    more = [column.name for column in columns if column.name not in planned]
    if more:
        message = f"the view {name} shows {', '.join(more)}, which the plan does not list"
        yield Finding("more_columns", message, True, _MEND)


def _look_at_filters(plan: SandboxPlan, views: dict[Name, View]) -> Iterator[Finding]:
    for name, planned in plan.relations.items():
        view = (plan.api_schema, name)
        if planned.where and view in views and not leaves_rows_out(view, views):
            message = f"the view {'.'.join(view)} shows every row, and the plan says WHERE {planned.where}"
            yield Finding("no_filter", message, True, _MEND)
