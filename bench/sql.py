"""What the layers of the SQL sandbox cost, beside the bare query in the same run.

```sh
python -m bench.sql            # SQLite, and PostgreSQL over a unix socket
```

Bare is what one writes by hand: the driver's `execute` and `fetchall`, on a connection that is
open; for SQLite in a thread, as in any asynchronous program, and without one. No two queries
have the same text, so nobody profits from a cache of statements. Both are asked in turn, now the one
first and now the other, and what is said is the median of the differences between neighbours: on
a machine that others use too, that is what stays when the load comes and goes.
"""

import asyncio
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

import psycopg

from placet.database.guard import Guard
from placet.database.libpg import PostgastParser
from placet.database.postgres_sandbox import PostgresSandbox
from placet.database.sqlite_sandbox import SqliteSandbox
from tests.database.sandbox_cases import OPEN, POLICY, POSTGRES_CASES, RELATIONS, schema_sql
from tests.database.sqlite_shop import RELATIONS as SQLITE_RELATIONS
from tests.database.sqlite_shop import make_shop
from tests.postgres_server import PostgresServer

ROUNDS = 1_000
WARM_UP = 50
GOALS_MS = {"PostgreSQL": 2.0, "SQLite": 0.05, "SQLite, in a thread": 0.05}


def texts(where: str) -> Iterator[str]:
    for number in count():
        yield f"SELECT status, count(*), avg(total) FROM orders WHERE {where} < 500 GROUP BY status -- {number}"  # noqa: S608 - our own words


def show(name: str, bare: list[float], sandboxed: list[float]) -> None:
    middle, boxed = statistics.median(bare) * 1000, statistics.median(sandboxed) * 1000
    added = statistics.median(after - before for before, after in zip(bare, sandboxed, strict=True)) * 1000
    goal = GOALS_MS[name]
    print(
        f"{name:22} bare {middle:7.3f} ms   sandboxed {boxed:7.3f} ms   adds {added:7.3f} ms"
        f"   (best {min(sandboxed) * 1000 - min(bare) * 1000:.3f})   goal {goal} ms: "
        f"{'kept' if added < goal else 'MISSED'}"
    )


async def interleave(bare: Callable[[], Awaitable[object]], boxed: Callable[[], Awaitable[object]]) -> tuple[
    list[float], list[float]
]:  # fmt: skip
    taken: tuple[list[float], list[float]] = ([], [])
    pairs = list(zip(taken, (bare, boxed), strict=True))
    for number in range(ROUNDS + WARM_UP):
        for times, work in pairs if number % 2 else reversed(pairs):
            started = time.perf_counter()
            await work()
            if number >= WARM_UP:
                times.append(time.perf_counter() - started)
    return taken


async def measure_sqlite() -> None:
    with tempfile.TemporaryDirectory() as directory, ThreadPoolExecutor(1) as threads:
        shop = make_shop(Path(directory) / "shop.db", 50_000)
        connection = sqlite3.connect(shop, check_same_thread=False)
        loop = asyncio.get_running_loop()
        sql = texts("id")

        def ask() -> object:
            return connection.execute(next(sql)).fetchall()

        async with SqliteSandbox(shop, SQLITE_RELATIONS) as sandbox:

            async def bare_here() -> object:
                return ask()

            async def boxed_here() -> object:
                return sandbox.query_here(next(sql))

            show("SQLite", *await interleave(bare_here, boxed_here))
            in_thread = await interleave(lambda: loop.run_in_executor(threads, ask), lambda: sandbox.query(next(sql)))
            show("SQLite, in a thread", *in_thread)
        connection.close()


async def measure_postgres(server: PostgresServer) -> None:
    dsn = server.dsn("llm_ro")
    sql = texts("id")
    async with (
        await psycopg.AsyncConnection.connect(dsn, autocommit=True) as connection,
        PostgresSandbox(dsn, RELATIONS, functions={"shop.vat"}) as sandbox,
    ):

        async def bare() -> object:
            cursor = await connection.execute(next(sql).encode())
            return await cursor.fetchall()

        show("PostgreSQL", *await interleave(bare, lambda: sandbox.query(next(sql))))


def measure_guard() -> None:
    guard = Guard(PostgastParser(), OPEN, POLICY)
    best = []
    for sql in (case.sql for case in POSTGRES_CASES if case.is_allowed):
        taken = []
        for _ in range(30):
            started = time.perf_counter()
            guard.check(sql)
            taken.append(time.perf_counter() - started)
        best.append(min(taken) * 1e6)
    worst = statistics.quantiles(best, n=20)[-1]
    print(f"guard alone, over {len(best)} queries: median {statistics.median(best):.0f} µs, p95 {worst:.0f} µs")


def main() -> None:
    measure_guard()
    asyncio.run(measure_sqlite())
    with PostgresServer() as server:
        with psycopg.connect(server.dsn(), autocommit=True) as connection:
            connection.execute(schema_sql(20_000).encode())
        asyncio.run(measure_postgres(server))


if __name__ == "__main__":
    main()
