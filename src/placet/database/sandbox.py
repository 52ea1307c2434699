"""SqlSandbox: a room without windows, over whichever database."""

from pathlib import Path
from typing import Protocol, Self

from placet.database.answer import SqlAnswer
from placet.database.caps import Caps
from placet.database.plan import SandboxPlan
from placet.database.relation import OpenData
from placet.database.sqlite_sandbox import SqliteSandbox
from placet.errors import ConfigurationError


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


def make_sandbox(url: str, plan: SandboxPlan, *, audit_url: str | None = None, insecure: bool = False) -> SqlSandbox:
    """Return the sandbox for a database, not yet open.

    Args:
        url: `postgresql://role@host/database`, or the path of a SQLite file, `sqlite:///` before it or not.
        plan: What is open, and how much may be asked.
        audit_url: A PostgreSQL login that may read the catalog, when the role itself may not.
        insecure: Start in spite of what the audit of a PostgreSQL role finds.

    Raises:
        ConfigurationError: There is no such file, nothing is open, or the extra is missing.
    """
    if not url.startswith(("postgresql://", "postgres://")):
        path = Path(url.removeprefix("sqlite://").removeprefix("/") if url.startswith("sqlite:///") else url)
        return SqliteSandbox(path, plan.open_relations(), functions=plan.functions, caps=plan.open_caps())
    try:
        from placet.database.postgres_sandbox import PostgresSandbox  # noqa: PLC0415 - needs the extra `postgres`
    except ImportError as error:
        raise ConfigurationError("PostgreSQL needs the extra: pip install 'placet[postgres]'") from error
    return PostgresSandbox(
        url,
        plan.open_relations(),
        functions=plan.functions,
        time_zone=plan.time_zone,
        caps=plan.open_caps(),
        audit_dsn=audit_url,
        insecure=insecure,
    )
