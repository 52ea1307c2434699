"""From the URL of a store to the store."""

import importlib
from typing import Final

from placet.errors import ConfigurationError
from placet.ports import Store

POSTGRES: Final = ("postgresql://", "postgres://")
"""How the URL of a shared store begins."""


def open_store_from_url(url: str, *, key: bytes) -> Store:
    """Return the store of a URL, not yet opened.

    Args:
        url: `memory:` forgets; `sqlite:///placet.db` is one file (three slashes and a relative
            path, or four and an absolute one); `postgresql://…` is shared by several machines.
        key: The audit key, from outside the store.

    Raises:
        ConfigurationError: The URL names no store, or the extra that it needs is not installed.
    """
    if url == "memory:":
        from placet.stores.memory import MemoryStore  # noqa: PLC0415 - each store where it is asked for

        return MemoryStore(key=key)
    if url.startswith("sqlite:///"):
        from placet.stores.sqlite import SqliteStore  # noqa: PLC0415 - as above

        return SqliteStore(url.removeprefix("sqlite:///"), key=key)
    if url.startswith(POSTGRES):
        try:
            store: Store = importlib.import_module("placet.stores.postgres").PostgresStore(url, key=key)
        except ModuleNotFoundError as error:
            raise ConfigurationError(
                f"a PostgreSQL store needs the package {error.name!r}: pip install 'placet[postgres]'"
            ) from error
        return store
    raise no_store(url)


def no_store(url: str) -> ConfigurationError:
    """Return the complaint about what is not the URL of a store."""
    return ConfigurationError(
        f"not the URL of a store: {url!r}; write 'memory:', 'sqlite:///placet.db' or 'postgresql://…'"
    )
