"""Done once: what was done under an idempotency key is not done again, but answered again."""

import json
import sqlite3
from collections.abc import Callable, Mapping
from typing import Any

from shop.errors import KeyReusedError


def once(
    connection: sqlite3.Connection,
    key: str | None,
    verb: str,
    arguments: Mapping[str, Any],
    at: str,
    work: Callable[[], dict[str, Any]],
) -> dict[str, Any]:
    """Return the result of `work`, or the recorded one when the key was used before.

    Args:
        connection: In a transaction: work and record commit together, or neither.
        key: The client's idempotency key. None: the work is simply done.
        verb: What is done.
        arguments: To what; JSON values.
        at: The time, as the tables hold it.
        work: Does it, and returns what came of it as JSON values.

    Raises:
        KeyReusedError: The key was used for another verb or other arguments.
    """
    if key is None:
        return work()
    wanted = (verb, json.dumps(arguments, sort_keys=True))
    row = connection.execute("SELECT verb, arguments, result FROM effects WHERE key = ?", (key,)).fetchone()
    if row is not None:
        if (row["verb"], row["arguments"]) != wanted:
            raise KeyReusedError(f"the key {key!r} was used for another {row['verb']}; choose a new one")
        recorded: dict[str, Any] = json.loads(row["result"])
        return recorded
    result = work()
    # The key is the primary key: two processes cannot both get here, as each holds the write lock.
    connection.execute("INSERT INTO effects VALUES (?, ?, ?, ?, ?)", (key, *wanted, json.dumps(result), at))
    return result
