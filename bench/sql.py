"""What the layers of the SQL sandbox cost, beside the bare query in the same run.

```sh
python -m bench.sql            # SQLite, and PostgreSQL over a unix socket
python -m bench.sql sqlite     # SQLite alone
```

Bare is what one writes by hand: the driver's `execute` and `fetchall`, on a connection that is
open. SQLite is asked over one hop to a thread, as any asynchronous program must (`loop.run_in_executor`,
the quickest that the library has), beside `sandbox.query`, which is what `ask_data` awaits; and once more
in the thread that asks, where no hop hides anything (`same thread`).

No two queries have the same text, so nobody profits from a cache of statements. What tells them
apart is a number, as one question of a person and the next are told apart by a date: the sandbox looks
at the words of both once. Beside it stands what it costs when the words are new as well (`new words`:
the number is written in SQLite's hexadecimals, which the look takes for a word).

All are asked in turn, in a new order each round, and what is said is the median of the differences
between neighbours: on a machine that others use too, that is what stays when the load comes and goes.

Over all legitimate queries of the sandbox's cases, and all of these, stands what the layers add to the one
in the middle, to the one at 95 %, and to the one to which they add most: of each the best of thirty, as
the goals were measured.
"""

import asyncio
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Final

import psycopg

from placet.database.answer import Rows
from placet.database.guard import Guard
from placet.database.libpg import PostgastParser
from placet.database.postgres_sandbox import PostgresSandbox
from placet.database.relation import Relation
from placet.database.sqlite_sandbox import SqliteSandbox
from tests.database.sandbox_cases import (
    OPEN,
    POLICY,
    POSTGRES_CASES,
    RELATIONS,
    SQLITE_CASES,
    Case,
    schema_sql,
)
from tests.database.sqlite_shop import RELATIONS as SQLITE_RELATIONS
from tests.database.sqlite_shop import make_shop
from tests.postgres_server import PostgresServer

ROUNDS: Final = 600
WARM_UP: Final = 30
BEST_OF: Final = 30
GOAL_POSTGRES_US: Final = 2_000.0
GOAL_SQLITE_US: Final = 50.0
EXAMPLES: Final = Path(__file__).parent.parent / "examples"

Ask = Callable[[], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Question:
    """One query: `?` stands for a number that makes its text its own. Without it blanks at its end do.

    Attributes:
        name: What it is an example of.
        sql: Its text.
        rounds: How often it is asked in each way.
    """

    name: str
    sql: str
    rounds: int = ROUNDS

    def texts(self, spelling: str = "d") -> Iterator[str]:
        before, is_marked, after = self.sql.partition("?")
        for number in count():
            if is_marked:
                yield f"{before}{number:{spelling}}{after}"
            else:
                yield before + f"{number:b}".replace("0", " ").replace("1", "\t")


AGGREGATE: Final = Question(
    "aggregate", "SELECT status, count(*), avg(total) FROM orders WHERE id < 500 AND ? >= 0 GROUP BY status"
)
QUESTIONS: Final = (
    Question("short", "SELECT name FROM counties WHERE code = 'CJ' AND ? >= 0"),
    AGGREGATE,
    Question(
        "LIKE",
        "SELECT id, total, county_code FROM orders WHERE status LIKE 'ship%' AND id < 100 AND ? >= 0"
        " ORDER BY total DESC LIMIT 10",
    ),
    Question(
        "WITH",
        "WITH m AS (SELECT county_code AS code, sum(total) AS sold FROM orders WHERE id < 500 AND ? >= 0 GROUP BY 1)\n"
        "SELECT c.name, m.sold FROM m JOIN counties c ON c.code = m.code ORDER BY m.sold DESC",
    ),
    Question(
        "UNION",
        "SELECT 'paid' AS kind, count(*) AS n FROM orders WHERE status = 'paid' AND id < 200 AND ? >= 0\n"
        "UNION ALL SELECT 'shipped', count(*) FROM orders WHERE status = 'shipped' AND id < 200\n"
        "UNION ALL SELECT 'cancelled', count(*) FROM orders WHERE status = 'cancelled' AND id < 200\n"
        "UNION ALL SELECT 'large', (SELECT count(*) FROM orders WHERE total > 900 AND id < 200)",
    ),
    Question(
        "sub-queries",
        "SELECT c.name, (SELECT max(total) FROM orders o WHERE o.county_code = c.code AND o.id < 100) AS most,\n"
        "  (SELECT count(*) FROM orders o WHERE o.county_code = c.code AND o.id < 100) AS n FROM counties c\n"
        "WHERE EXISTS (SELECT 1 FROM orders o WHERE o.county_code = c.code AND trim(o.status) = 'paid') AND ? >= 0",
    ),
    Question(
        "report",
        """
    WITH m AS (
      SELECT substr(ordered_at, 1, 7) AS month, county_code, sum(total) AS revenue, count(*) AS n
      FROM orders WHERE status <> 'cancelled' AND total > 0 AND id < 400 AND ? >= 0 GROUP BY 1, 2
    ), g AS (
      SELECT month, county_code, revenue,
        revenue - lag(revenue) OVER (PARTITION BY county_code ORDER BY month) AS change FROM m
    ), r AS (SELECT g.*, rank() OVER (PARTITION BY month ORDER BY change DESC) AS place FROM g),
    t AS (SELECT month, sum(revenue) AS total FROM m GROUP BY month)
    SELECT r.month, c.name, r.revenue, r.change, r.place, round(100 * r.revenue / t.total, 2) AS share,
      CASE WHEN r.change > 100 THEN 'up' WHEN r.change < -100 THEN 'down' ELSE 'flat' END AS trend
    FROM r JOIN t USING (month) JOIN counties c ON c.code = r.county_code WHERE r.place <= 3 ORDER BY 1, 5
""",
    ),
    Question("200 rows", "SELECT id, status, county_code, ordered_at, total FROM orders WHERE ? >= 0 LIMIT 200"),
)
CLUJ: Final = Question(
    "Cluj",
    "SELECT round(avg(total) / 100.0, 2) AS average, count(*) AS orders FROM orders WHERE county = 'Cluj'"
    " AND strftime('%w', placed_at) = '2' AND placed_at >= date('now', '-6 months') AND ? >= 0",
    rounds=200,
)
"""The question of the shop's analyst, on the shop's own data."""


def show(name: str, bare: Sequence[float], sandboxed: Sequence[float], goal: float) -> None:
    middle, boxed = statistics.median(bare) * 1e6, statistics.median(sandboxed) * 1e6
    added = statistics.median(after - before for before, after in zip(bare, sandboxed, strict=True)) * 1e6
    print(
        f"{name:40} bare {middle:8.1f} µs   sandboxed {boxed:8.1f} µs   adds {added:7.1f} µs"
        f"   (best {(min(sandboxed) - min(bare)) * 1e6:7.1f})   goal {goal:.0f} µs: "
        f"{'kept' if added < goal else 'MISSED'}",
        flush=True,
    )


async def interleave(asks: Sequence[Ask], rounds: int = ROUNDS) -> list[list[float]]:
    """Return how long each took in each round, in seconds."""
    taken: list[list[float]] = [[] for _ in asks]
    pairs = list(zip(taken, asks, strict=True))
    for number in range(rounds + WARM_UP):
        turn = number % len(pairs)
        ordered = pairs[turn:] + pairs[:turn]
        for times, ask in ordered if number // len(pairs) % 2 else reversed(ordered):
            started = time.perf_counter()
            await ask()
            if number >= WARM_UP:
                times.append(time.perf_counter() - started)
    return taken


def legitimate(cases: Iterable[Case]) -> list[Question]:
    return [Question(case.id, case.sql.rstrip("; \n")) for case in cases if case.is_allowed]


async def show_all(name: str, pairs: Sequence[tuple[Ask, Ask]], goal: float) -> None:
    """Show what the layers add to the best of thirty of each query."""
    added = []
    for bare, sandboxed in pairs:
        taken = await interleave((bare, sandboxed), BEST_OF)
        added.append((min(taken[1]) - min(taken[0])) * 1e6)
    middle, late = statistics.median(added), statistics.quantiles(added, n=20, method="inclusive")[-1]
    print(
        f"{name}, {len(added)} legitimate queries: adds {middle:.1f} µs   p95 {late:.1f} µs   most {max(added):.1f} µs"
        f"   goal {goal:.0f} µs: {'kept' if middle < goal else 'MISSED'}",
        flush=True,
    )


class OnSqlite:
    """Both ways to ask one SQLite file, in the thread that asks and over a hop."""

    def __init__(self, connection: sqlite3.Connection, sandbox: SqliteSandbox, threads: ThreadPoolExecutor) -> None:
        self._connection = connection
        self._sandbox = sandbox
        self._threads = threads

    def here(self, texts: Iterator[str]) -> tuple[Ask, Ask]:
        async def bare() -> object:
            return self._ask(next(texts))

        async def sandboxed() -> object:
            return self._sandbox.query_here(next(texts))

        return bare, sandboxed

    def there(self, texts: Iterator[str]) -> tuple[Ask, Ask]:
        loop = asyncio.get_running_loop()

        async def bare() -> object:
            return await loop.run_in_executor(self._threads, self._ask, next(texts))

        return bare, lambda: self._sandbox.query(next(texts))

    def _ask(self, sql: str) -> object:
        return self._connection.execute(sql).fetchall()


@asynccontextmanager
async def open_sqlite(path: Path, relations: Sequence[Relation]) -> AsyncIterator[OnSqlite]:
    with ThreadPoolExecutor(1) as threads, closing(sqlite3.connect(path, check_same_thread=False)) as connection:
        async with SqliteSandbox(path, relations) as sandbox:
            yield OnSqlite(connection, sandbox, threads)


async def ask_sqlite(path: Path, relations: Sequence[Relation], questions: Sequence[Question]) -> None:
    async with open_sqlite(path, relations) as sqlite:
        for question in questions:
            texts = question.texts()
            here, there, (_, strange) = sqlite.here(texts), sqlite.there(texts), sqlite.there(question.texts("#x"))
            for ask in (here[1], there[1], strange):
                assert isinstance(answer := await ask(), Rows), answer
            taken = await interleave((*there, strange, *here), question.rounds)
            name = f"SQLite, {question.name} ({len(question.sql.strip())})"
            show(name, taken[0], taken[1], GOAL_SQLITE_US)
            show(f"{name}, new words", taken[0], taken[2], GOAL_SQLITE_US)
            show(f"{name}, same thread", taken[3], taken[4], GOAL_SQLITE_US)


async def ask_all_of_sqlite(path: Path) -> None:
    asked = [question.texts() for question in (*legitimate(SQLITE_CASES), *QUESTIONS)]
    async with open_sqlite(path, SQLITE_RELATIONS) as sqlite:
        await show_all("SQLite", [sqlite.there(texts) for texts in asked], GOAL_SQLITE_US)
        await show_all("SQLite, same thread", [sqlite.here(texts) for texts in asked], GOAL_SQLITE_US)


def measure_sqlite() -> None:
    with tempfile.TemporaryDirectory() as directory:
        shop = make_shop(Path(directory) / "shop.db", 2_000)
        asyncio.run(ask_sqlite(shop, SQLITE_RELATIONS, QUESTIONS))
        asyncio.run(ask_all_of_sqlite(shop))
        made = Path(directory) / "demo.db"
        command = [sys.executable, "-m", "shop.generate", str(made), "--orders-per-month", "1000", "--months", "24"]
        subprocess.run(command, env={"PYTHONPATH": str(EXAMPLES)}, check=True, capture_output=True)  # noqa: S603 - our own words
        orders = Relation("orders", columns=dict.fromkeys(("id", "county", "total", "placed_at"), ""))
        asyncio.run(ask_sqlite(made, [orders], [CLUJ]))


async def measure_postgres(server: PostgresServer) -> None:
    dsn = server.dsn("llm_ro")
    async with (
        await psycopg.AsyncConnection.connect(dsn, autocommit=True) as connection,
        PostgresSandbox(dsn, RELATIONS, functions={"shop.vat"}) as sandbox,
    ):

        def ways(texts: Iterator[str]) -> tuple[Ask, Ask]:
            async def bare() -> object:
                cursor = await connection.execute(next(texts).encode())
                return await cursor.fetchall()

            return bare, lambda: sandbox.query(next(texts))

        taken = await interleave(ways(AGGREGATE.texts()))
        show(f"PostgreSQL, {AGGREGATE.name} ({len(AGGREGATE.sql)})", taken[0], taken[1], GOAL_POSTGRES_US)
        pairs = [ways(question.texts()) for question in legitimate(POSTGRES_CASES)]
        await show_all("PostgreSQL", pairs, GOAL_POSTGRES_US)


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
    measure_sqlite()
    if sys.argv[1:] == ["sqlite"]:
        return
    measure_guard()
    with PostgresServer() as server:
        with psycopg.connect(server.dsn(), autocommit=True) as connection:
            connection.execute(schema_sql(20_000).encode())
        asyncio.run(measure_postgres(server))


if __name__ == "__main__":
    main()
