"""The store's own database as a place of effects: a table in it, for tools that write in the store's transaction."""

import sqlite3
from contextlib import closing

import psycopg

from placet.values.tool import Survival
from tests.crash.office import Place, open_store

_MAKE = "CREATE TABLE crash_effect (who TEXT, tool TEXT, key TEXT)"
_SELECT = "SELECT tool, key FROM crash_effect WHERE who = "


async def make(place: Place) -> None:
    """Make the databases of a place: the store, the table in it, and the world outside."""
    place.world.make()
    store = open_store(place)
    await store.open()
    await store.close()
    if place.way != Survival.TRANSACTION:
        return
    if place.is_sqlite:
        with closing(sqlite3.connect(place.store, isolation_level=None)) as connection:
            connection.execute(_MAKE)
        return
    with psycopg.connect(place.store, autocommit=True) as connected:
        connected.execute("DROP TABLE IF EXISTS crash_effect")
        connected.execute(_MAKE)


def effects(place: Place, who: str) -> list[tuple[str, str]]:
    """Return tool and key of each effect, wherever the tools of the place have theirs."""
    if place.way != Survival.TRANSACTION:
        return place.world.effects(who)
    if place.is_sqlite:
        with closing(sqlite3.connect(place.store, isolation_level=None, timeout=30)) as connection:
            return list(connection.execute(_SELECT + "?", (who,)))
    with psycopg.connect(place.store, autocommit=True) as connected:
        return list(connected.execute(_SELECT + "%s", (who,)))
