"""Rows that are taken together are taken as they would be one by one."""

import math
from typing import Final

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from pydantic_core import to_json

from placet.database.answer import Column
from placet.database.caps import Caps
from placet.database.shaping import Shaper

CAPS: Final = Caps(rows=6, cell_characters=5, answer_bytes=80)
CELLS: Final = st.one_of(
    st.integers(-5, 2**63), st.floats(), st.text(max_size=7), st.none(), st.binary(max_size=3), st.just("ș")
)  # fmt: skip


def shaped(rows: list[tuple[object, ...]], many: int) -> tuple[object, ...]:
    shaper = Shaper([Column("a")], CAPS)
    for start in range(0, len(rows), many):
        if not shaper.take_many(rows[start : start + many]):
            break
    found = shaper.finish(0.0)
    return found.rows, found.truncated, found.advice


def one_by_one(rows: list[tuple[object, ...]]) -> tuple[object, ...]:
    shaper = Shaper([Column("a")], CAPS)
    for row in rows:
        if not shaper.take(row):
            break
    found = shaper.finish(0.0)
    return found.rows, found.truncated, found.advice


@given(st.integers(1, 3).flatmap(lambda width: st.lists(st.tuples(*[CELLS] * width), max_size=9)), st.integers(1, 9))
def test_together_or_one_by_one_is_the_same(rows: list[tuple[object, ...]], many: int) -> None:
    event("rows" if rows else "none")

    assert shaped(rows, many) == one_by_one(rows)


COLUMN: Final = st.one_of(
    st.lists(st.floats(allow_nan=False) | st.none(), min_size=4, max_size=4),
    st.lists(st.text("aș", max_size=6), min_size=4, max_size=4),
    st.just(["șșșșș"] * 4),
    st.lists(st.integers() | st.just(math.nan), min_size=4, max_size=4),
    st.just([1, True, 2.5, 10**18]),
)


@given(st.lists(COLUMN, min_size=1, max_size=4))
def test_columns_of_one_kind_are_the_same(columns: list[list[object]]) -> None:
    rows = list(zip(*columns, strict=True))

    assert shaped(rows, 4) == one_by_one(rows)


@pytest.mark.parametrize(
    ("row", "shown"),
    [
        (("șșșșș", "șșșș"), 3),
        (('"""""',), 5),
        (("\x00\x01",), 4),
        ((1, 2, 3), 6),
        ((-(2**63), -1.7976931348623157e308), 1),
        (("\x00", ""), 5),
        ((None, True), 6),
    ],
)
def test_what_is_capped_are_the_bytes_of_the_json(row: tuple[object, ...], shown: int) -> None:
    rows = [row] * 6

    found, is_cut, _ = shaped(rows, 6)

    assert (found, is_cut) == (one_by_one(rows)[0], shown < 6)
    assert found == tuple(rows[:shown])
    assert len(to_json([*rows[:shown]])) <= CAPS.answer_bytes < len(to_json([*rows[: shown + 1]])) or shown == 6
