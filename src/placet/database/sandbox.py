"""SqlSandbox: a room without windows, over whichever database."""

from pathlib import Path
from typing import Final, Protocol, Self

from placet.database.answer import SqlAnswer
from placet.database.caps import Caps
from placet.database.plan import SandboxPlan
from placet.database.relation import OpenData
from placet.database.sqlite_sandbox import SqliteSandbox
from placet.errors import ConfigurationError

_POSTGRES: Final = ("postgresql://", "postgres://")
_SQLITE: Final = "sqlite:///"
NEEDS_EXTRA: Final = "PostgreSQL needs the extra: pip install 'placet[postgres]'"


class SqlSandbox(Protocol):
    """Answers a model's own queries, and nothing but queries. An asynchronous context manager."""

    @property
    def dialect(self) -> str:
        """Which SQL is spoken: `"sqlite"` or `"postgres"`."""
        ...

    @property
    def caps(self) -> Caps:
        """How much one query may cost."""
        ...

    @property
    def data(self) -> OpenData:
        """What is open, with its columns once the sandbox is."""
        ...

    @property
    def is_open(self) -> bool:
        """Whether it has been opened."""
        ...

    async def open(self) -> None:
        """Look at the database, and at what its login may do.

        Raises:
            ConfigurationError: Something is not there, or the login may do too much.
        """
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...

    async def query(self, sql: str) -> SqlAnswer:
        """Return the rows of one SELECT, or why there are none. Never later than the time and half a second."""
        ...

    async def __aenter__(self) -> Self:
        """Open it."""
        ...

    async def __aexit__(self, *_: object) -> None:
        """Close it."""
        ...


def is_postgres(url: str) -> bool:
    """Return whether this is whereto one connects, and not the path of a file."""
    return url.startswith(_POSTGRES) or ("=" in url and not sqlite_path(url).exists())


def sqlite_path(url: str) -> Path:
    """Return the path of a SQLite file, with `sqlite:///` before it or not.

    Raises:
        ConfigurationError: It is the address of another database, or none.
    """
    path = url.removeprefix(_SQLITE)
    scheme, found, _ = path.partition("://")
    if found or not path:
        raise ConfigurationError(
            f"{scheme or 'nothing'!r} is no kind of database that is known here; write "
            "postgresql://role@host/database, or the path of a SQLite file"
        )
    return Path(path)


def check_sqlite_plan(plan: SandboxPlan) -> None:
    """Refuse a plan that a SQLite file could not keep.

    Raises:
        ConfigurationError: It leaves out rows, or reads a relation by another name.
    """
    for name, planned in plan.relations.items():
        for word, value in (("where", planned.where), ("from", planned.source)):
            if value is not None:
                raise ConfigurationError(
                    f"the relation {name!r} states `{word}`, and a SQLite file has no views of a plan: "
                    f"make a view in the file, and open it as {name!r}"
                )


def make_sandbox(url: str, plan: SandboxPlan, *, audit_url: str | None = None, insecure: bool = False) -> SqlSandbox:
    """Return the sandbox for a database, not yet open.

    Args:
        url: `postgresql://role@host/database`, `host=… user=… dbname=…`, or the path of a SQLite file,
            with `sqlite:///` before it or not.
        plan: What is open, and how much may be asked.
        audit_url: A PostgreSQL login that may read the catalog, when the role itself may not.
        insecure: Start in spite of what the audit of a PostgreSQL role finds.

    Raises:
        ConfigurationError: There is no such file, nothing is open, or the extra is missing.
    """
    if not is_postgres(url):
        check_sqlite_plan(plan)
        return SqliteSandbox(sqlite_path(url), plan.open_relations(), functions=plan.functions, caps=plan.open_caps())
    try:
        from placet.database.postgres_sandbox import PostgresSandbox  # noqa: PLC0415 - needs the extra `postgres`
    except ImportError as error:
        raise ConfigurationError(NEEDS_EXTRA) from error
    return PostgresSandbox(
        url,
        plan.open_relations(),
        functions=plan.functions,
        time_zone=plan.time_zone,
        caps=plan.open_caps(),
        audit_dsn=audit_url,
        insecure=insecure,
        plan=plan,
    )
