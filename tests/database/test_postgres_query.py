from datetime import timedelta
from typing import Final

import pytest
from psycopg.postgres import types

from placet.database.answer import SqlRefusal
from placet.database.caps import Caps
from placet.database.postgres_query import Wrapped, most_collected, wrap
from placet.errors import ConfigurationError

CAPS: Final = Caps(rows=7, cell_characters=9, columns=3)


def wrapped(sql: str, *columns: tuple[str, str], caps: Caps = CAPS) -> Wrapped:
    found = wrap(sql, [(name, types[kind].oid) for name, kind in columns], caps)
    assert isinstance(found, Wrapped)
    return found


def test_rows_and_long_cells_are_cut_on_the_server() -> None:
    found = wrapped("SELECT a, b FROM t -- c", ("a", "int4"), ("b", "text"))

    assert found.text == b"SELECT c1, left(c2::text, 10) FROM (\nSELECT a, b FROM t -- c\n) AS _q(c1, c2) LIMIT 8"
    assert [(column.name, column.type) for column in found.columns] == [("a", "int4"), ("b", "text")]


def test_one_fetch_brings_no_more_than_can_be_held() -> None:
    wide = Caps(columns=100)
    columns = [(f"c{number}", "text") for number in range(100)]

    assert wrapped("SELECT 1", ("a", "text"), caps=wide).fetch == wide.rows + 1
    assert wrapped("SELECT 1", *columns, caps=wide).fetch * 100 * wide.cell_characters <= 2_000_000


def test_what_has_no_columns_or_too_many_is_refused() -> None:
    none = wrap("SET x = 1", [], CAPS)
    many = wrap("SELECT 1, 2, 3, 4", [("a", 23)] * 4, CAPS)

    assert isinstance(none, SqlRefusal)
    assert none.code == "no_columns"
    assert isinstance(many, SqlRefusal)
    assert many.code == "too_large"


@pytest.mark.parametrize(
    "stated",
    [{"rows": 0}, {"rows": 1001}, {"timeout": timedelta(seconds=16)}, {"timeout": timedelta(0)}, {"tokens": 5000},
     {"nesting": 500}, {"depth": 100}, {"query_characters": 20_000}, {"cost": -1.0}],
)  # fmt: skip
def test_a_cap_that_caps_nothing_is_refused(stated: dict[str, float]) -> None:
    with pytest.raises(ConfigurationError, match=next(iter(stated))):
        Caps(**stated)  # type: ignore[arg-type]  # of several types


def test_what_the_largest_aggregate_reads_is_what_is_collected() -> None:
    scan = {"Node Type": "Seq Scan", "Plan Rows": 1_000_000, "Plan Width": 68}
    few = {"Node Type": "Seq Scan", "Plan Rows": 10, "Plan Width": 8}
    grouped = {"Node Type": "Aggregate", "Plan Rows": 5, "Plan Width": 8, "Plans": [scan]}
    window = {"Node Type": "WindowAgg", "Plan Rows": 5, "Plan Width": 8, "Plans": [few]}

    assert most_collected({"Node Type": "Hash Join", "Plans": [scan, few]}) == 0
    assert most_collected(window) == 10 * 40
    assert (
        most_collected({"Node Type": "Limit", "Plans": [{"Node Type": "Append", "Plans": [window, grouped]}]}) == 10**8
    )
