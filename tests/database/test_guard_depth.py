"""No query is too deep for whoever reads it: each tower grows by one way of nesting."""

import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

import pytest
from google.protobuf.message import DecodeError
from postgast import PgQueryError, parse
from postgast.walk import unwrap_node

from placet.database.facts import Measure
from placet.database.libpg import PostgastParser
from tests.database.test_guard import GUARD

STANDING: Final = (
    "'SELECT 1' + '+1' * n",
    "'SELECT ' + 'NOT ' * n + 'true'",
    "'SELECT ' + '@ ' * n + '1'",
    "'SELECT 1' + ' ISNULL' * n",
    "'SELECT 1' + ' IS NULL' * n",
    "'SELECT 1' + '::int' * n",
    "'SELECT 1' + ' UNION SELECT 1' * n",
    "'SELECT 1, 2' + ' UNION SELECT 1, 2' * n",
    "'SELECT ' + 'CASE ' * n + '1' + ' WHEN 1 THEN 1 END' * n",
    "'SELECT ' + 'CASE WHEN 1=1 THEN ' * n + '1' + ' END' * n",
    "'SELECT 1' + ' BETWEEN 1 AND 2 IS NULL' * n",
    "'SELECT * FROM a' + ' JOIN a ON true' * n",
    "'SELECT * FROM ' + 'a JOIN ' * n + 'a' + ' ON true' * n",
    "'SELECT * FROM a' + ' CROSS JOIN a' * n",
    "'SELECT 1' + ' COLLATE c' * n",
    "'SELECT 1' + ' AT TIME ZONE 1' * n",
    "'SELECT 1' + ' AT LOCAL' * n",
    "'SELECT 1' + ' OPERATOR(pg_catalog.+) 1' * n",
    "'SELECT a' + '[1]' * n",
    "'SELECT a' + '.b' * n",
    "'SELECT 1' + ' AND 1' * n",
    "'SELECT ' + '(' * n + '1' + ')' * n",
    "'SELECT ' + '(SELECT ' * n + '1' + ')' * n",
    "'SELECT ' + 'f(' * n + '1' + ')' * n",
    "'SELECT ARRAY' + '[' * n + '1' + ']' * n",
    "'SELECT ' + 'ROW(' * n + '1' + ')' * n",
    "';' * n",
)
FALLEN: Final = ("'SELECT ' + '(' * n", "'SELECT ' + '/*' * n", "'EXPLAIN ' * n + 'SELECT 1'")
"""No SQL, of whatever height."""
TOWERS: Final = (*STANDING, *FALLEN)
"""Texts that are as deep as they are long."""


def depth_of(node: Any) -> int:
    below = [unwrap_node(item) for field, value in node.ListFields() if field.message_type for item in
             (value if field.is_repeated else [value])]  # fmt: skip
    return 1 + max(map(depth_of, below), default=0)


def highest(tower: str) -> tuple[str, int]:
    """Return the highest of these towers that can be parsed, and how deep its tree is."""
    for n in range(40, 3, -1):
        sql = eval(tower, {"n": n})  # noqa: S307 - our own words
        try:
            return sql, depth_of(parse(sql))
        except (PgQueryError, DecodeError):
            continue
    raise AssertionError(f"none of {tower} can be parsed")


@pytest.mark.parametrize("tower", STANDING)
def test_the_tokens_never_promise_a_flatter_tree_than_there_is(tower: str) -> None:
    """A sub-select is three nodes and two tokens, and there is nothing steeper."""
    sql, depth = highest(tower)
    measure = PostgastParser().measure(sql)

    assert isinstance(measure, Measure)
    assert depth <= measure.nesting * 2 + 12


IN_A_SMALL_THREAD: Final = """
import sys, threading
from placet.database.guard import Guard
from placet.database.libpg import PostgastParser, _Reader
from tests.database.sandbox_cases import OPEN

guard = Guard(PostgastParser(), OPEN)

def climb():
    for tower in sys.argv[1:]:
        for n in (10, 40, 60, 100, 190, 210, 400, 660, 999, 1400, 1998, 5000):
            guard.check(eval(tower, {"n": n}))
    print("alive")

threading.stack_size(512 * 1024)
thread = threading.Thread(target=climb)
thread.start()
thread.join()
"""


def test_no_query_takes_the_process_down_with_it() -> None:
    root = Path(__file__).parent.parent.parent
    command = [sys.executable, "-c", IN_A_SMALL_THREAD, *TOWERS]
    ended = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)  # noqa: S603 - our own words

    assert (ended.returncode, ended.stdout) == (0, "alive\n"), ended.stderr


@pytest.mark.parametrize("tower", TOWERS)
def test_no_query_keeps_the_guard_busy(tower: str) -> None:
    for n in (64, 200, 2000):
        started = time.perf_counter()
        GUARD.check(eval(tower, {"n": n})[:10_000])  # noqa: S307 - our own words
        assert time.perf_counter() - started < 0.5
