"""Text made safe and cut; values made JSON."""

import enum
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from ipaddress import ip_address
from pathlib import PurePosixPath
from typing import Any, NamedTuple
from uuid import UUID

import pytest
from pydantic import AnyUrl, BaseModel, SecretStr

from placet.tools.encode import NotSerialisableError, encode, gather
from placet.tools.text import cut, make_safe


class Pair(NamedTuple):
    left: int


class Colour(enum.Enum):
    RED = "red"


@dataclass
class Point:
    x: int


class Order(BaseModel):
    number: str


class Number(float):
    """As numpy's: a float by birth."""


@pytest.mark.parametrize(
    ("value", "json"),
    [
        (date(2031, 5, 6), "2031-05-06"), (time(7, 8), "07:08:00"), (timedelta(minutes=90), "PT1H30M"),
        (Decimal("1.10"), "1.10"), (Decimal("NaN"), None), (float("-inf"), None), (Number(1.5), 1.5), (True, True),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"), (PurePosixPath("/a"), "/a"),
        (ip_address("10.0.0.1"), "10.0.0.1"), (AnyUrl("http://x.example"), "http://x.example/"),
        (bytearray(b"hi"), "aGk="), (deque([1]), [1]), (range(2), [0, 1]), (Pair(1), {"left": 1}),
        ({3, 1, 2}, [1, 2, 3]), ({"b", "a"}, ["a", "b"]), ({"a", 1, None}, [1, None, "a"]), (frozenset(), []),
        ({None: 1, True: 2, 1.5: 3, (1, "a"): 4}, {"null": 1, "true": 2, "1.5": 3, "1,a": 4}),
        (SecretStr("hunter2"), "**********"), ({"a": [{"b": (1, 2)}]}, {"a": [{"b": [1, 2]}]}),
    ],
)  # fmt: skip
def test_each_kind_of_value_has_its_form(value: Any, json: Any) -> None:
    assert encode(value) == (json, False)


def test_sets_of_anything_have_one_order() -> None:
    one = encode({frozenset({1, 2}), frozenset({3}), "a", 2})
    assert one == encode({2, "a", frozenset({3}), frozenset({2, 1})})


def test_an_enum_is_its_value_and_a_model_its_fields() -> None:
    assert encode([Colour.RED, Point(1), Order(number="A-1")])[0] == ["red", {"x": 1}, {"number": "A-1"}]


def test_what_is_left_out_is_said() -> None:
    assert encode(list(range(10)), max_items=5) == ([0, 1, 2, 3], True)
    assert encode({str(n): n for n in range(10)}, max_items=5)[1]
    assert encode(list(range(4)), max_items=5) == ([0, 1, 2, 3], False)


@pytest.mark.parametrize("value", [object(), [object()], {"a": print}, {object(): 1}, type])
def test_what_has_no_form_is_said(value: Any) -> None:
    with pytest.raises(NotSerialisableError):
        encode(value)


def test_gathering_tells_whether_there_is_more() -> None:
    def endless() -> Iterator[int]:
        while True:
            yield 1

    assert (gather(endless(), 3), gather(endless(), 3).more) == ([1, 1, 1], True)
    assert (gather([1, 2, 3], 3), gather([1, 2, 3], 3).more) == ([1, 2, 3], False)


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("plain", "plain"), ("ş 🍸\n\t\r", "ş 🍸\n\t\r"), ("\x00", "\ufffd"),
        ("a\ud83c\udf78b", "a🍸b"), ("\udf78\ud83c", "\ufffd\ufffd"),
        ("\x1b[2J", "\ufffd[2J"), ("\x7f\x9b", "\ufffd\ufffd"),
    ],
)  # fmt: skip
def test_text_is_made_safe(text: str, safe: str) -> None:
    assert make_safe(text) == safe


@pytest.mark.parametrize("character", ["a", "é", "🍸", "\x00", "\ud800"])
@pytest.mark.parametrize("length", [99, 100, 101, 400, 10_000])
def test_a_cut_text_stays_within_its_cap(character: str, length: int) -> None:
    text, cut_from = cut(character * length, 100)

    assert len(text.encode()) <= 100
    assert (cut_from is None) == (len(make_safe(character * length).encode()) <= 100)


def test_a_cap_smaller_than_the_note_still_holds() -> None:
    text, cut_from = cut("a" * 100, 10)

    assert len(text) <= 10
    assert cut_from == 100
