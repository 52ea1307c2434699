"""`placet sql check`: whether a live database is as a plan says, and its login no stronger."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from placet.database.finding import Finding
from placet.database.plan import SandboxPlan
from placet.database.sandbox import NEEDS_EXTRA, check_sqlite_plan, is_postgres, sqlite_path
from placet.database.sqlite_sandbox import SqliteSandbox
from placet.errors import ConfigurationError


async def check(url: str, plan: SandboxPlan, *, audit_url: str | None = None) -> list[Finding]:
    """Return what is not as it should be, the severe first.

    Args:
        url: The login of the sandbox, or the path of a SQLite file.
        plan: What is open.
        audit_url: A PostgreSQL login that may read the catalog, when the sandbox's own may not.

    Raises:
        ConfigurationError: There is no connection or no file to be had, the catalog cannot be
            read, or the plan has no meaning for this kind of database.
    """
    if not is_postgres(url):
        return _check_sqlite(sqlite_path(url), plan)
    try:
        from placet.database.postgres_check import check_postgres  # noqa: PLC0415 - needs the extra `postgres`
    except ImportError as error:
        raise ConfigurationError(NEEDS_EXTRA) from error
    return await check_postgres(url, plan, audit_dsn=audit_url)


def _check_sqlite(path: Path, plan: SandboxPlan) -> list[Finding]:
    """Look at a file, which has no logins: what the plan lists is all that can be wrong."""
    check_sqlite_plan(plan)
    findings = dict.fromkeys((*_find_in_file(path, plan), *_find_functions(plan)))
    return sorted(findings, key=lambda finding: not finding.is_severe)


def _find_functions(plan: SandboxPlan) -> Iterator[Finding]:
    """Yield the functions that are granted and that SQLite does not have."""
    with closing(sqlite3.connect(":memory:")) as connection:
        known = {name for (name,) in connection.execute("SELECT name FROM pragma_function_list")}
    for name in plan.functions:
        if name.lower() not in known:
            message = f"SQLite has no function {name!r}, which the plan grants"
            yield Finding("missing_function", message, False, "correct the plan")


def _find_in_file(path: Path, plan: SandboxPlan) -> Iterator[Finding]:
    for relation in plan.open_relations():
        sandbox = SqliteSandbox(path, [relation], functions=plan.functions, caps=plan.open_caps())
        try:
            sandbox.open_here()
        except ConfigurationError as error:
            yield Finding("missing", str(error), True, "correct the plan, or the file")
            continue
        if not relation.columns:
            names = ", ".join(column.name for column in sandbox.data.columns_of(sandbox.data.relations[0]))
            message = f"every column of {relation.name!r} is open, those of tomorrow too; today: {names}"
            yield Finding("all_columns", message, False, f"list the columns of {relation.name!r} in the plan")
