"""What a tool gives back: checked against what it declares, stripped, encoded, cut."""

import enum
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Annotated, Any, NamedTuple

import jiter
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, SecretStr
from typing_extensions import TypedDict

from placet.errors import ToolDefinitionError
from placet.tools.encode import MAX_ITEMS
from placet.tools.output import BAD_OUTPUT, NO_CONTENT, OutputShaper, Shaped, ToolOutput
from placet.tools.parameters import EMPTY


class Refund(BaseModel):
    order: str
    cents: int = 0


class RefundWithSecret(Refund):
    iban: str = "NO93 8601 1117 947"


@dataclass
class Point:
    x: int


@dataclass
class SecretPoint(Point):
    owner: str = "hunter2"


class Row(TypedDict):
    x: int


class Pair(NamedTuple):
    left: int
    right: str


class Colour(enum.Enum):
    RED = "red"


class Record:
    """A row of an ORM: attributes, and more of them than are declared."""

    order = "A-1"
    cents = 5
    iban = "NO93 8601 1117 947"


def shape(declared: Any, value: Any, max_bytes: int = 50_000) -> Shaped:
    return OutputShaper(declared, tool="t", max_bytes=max_bytes).shape(value)


# ── declared ──────────────────────────────────────────────────────────────────────────

REFUND = '{"order":"A-1","cents":5}'


@pytest.mark.parametrize(
    "value",
    [
        Refund(order="A-1", cents=5),
        RefundWithSecret(order="A-1", cents=5),
        {"order": "A-1", "cents": 5, "iban": "NO93 8601 1117 947"},
        Record(),
    ],
    ids=["itself", "a subclass", "a dict with more", "an object with more"],
)
@pytest.mark.parametrize("holder", ["alone", "in a list", "in a dict", "optional"])
def test_what_is_not_declared_is_stripped(value: Any, holder: str) -> None:
    match holder:
        case "in a list":
            assert shape(list[Refund], [value]).content == f"[{REFUND}]"
        case "in a dict":
            assert shape(dict[str, Refund], {"k": value}).content == f'{{"k":{REFUND}}}'
        case "optional":
            assert shape(Refund | None, value).content == REFUND
        case _:
            assert shape(Refund, value).content == REFUND


@pytest.mark.parametrize(
    ("declared", "value", "content"),
    [
        (Point, SecretPoint(1), '{"x":1}'),
        (Row, {"x": 1, "owner": "hunter2"}, '{"x":1}'),
        (Pair, Pair(1, "a"), '[1,"a"]'),
    ],
)
def test_every_way_to_declare_an_object_strips(declared: Any, value: Any, content: str) -> None:
    assert shape(declared, value).content == content


def changed() -> Refund:
    refund = Refund(order="A-1")
    refund.cents = "hunter2"  # type: ignore[assignment]  # on purpose
    return refund


@pytest.mark.parametrize(
    ("declared", "value"),
    [
        (Refund, {"cents": 5}),
        (Refund, {"order": "A-1", "cents": "hunter2"}),
        (Refund, Refund.model_construct(order="A-1", cents="hunter2")),
        (Refund, changed()),
        (Refund, None),
        (Refund, "hunter2"),
        (Point, Point("hunter2")),  # type: ignore[arg-type]  # on purpose
        (list[Refund], Refund(order="A-1")),
        (int, "hunter2"),
        (str, 5),
        (str, None),
        (None, "hunter2"),
        (Colour, "hunter2"),
    ],
)
def test_the_wrong_shape_is_an_error_that_repeats_nothing(declared: Any, value: Any) -> None:
    shaped = shape(declared, value)

    assert (shaped.is_error, shaped.code) == (True, BAD_OUTPUT)
    assert "not of the declared form" in shaped.content
    assert "the tool ran" in shaped.content
    assert shaped.detail
    assert "hunter2" not in f"{shaped!r}"


def test_the_schema_says_what_comes_back() -> None:
    schema: Any = OutputShaper(Refund, tool="t").schema

    assert schema["properties"].keys() == {"order", "cents"}
    assert schema["additionalProperties"] is False
    assert OutputShaper(str, tool="t").schema is None
    assert OutputShaper(tool="t").schema is None


def test_a_class_that_says_it_is_open_is_open() -> None:
    class Open(BaseModel):
        model_config = ConfigDict(extra="allow")

    assert shape(Open, {"more": 1}).content == '{"more":1}'


def test_a_name_for_the_wire_is_used_in_schema_and_content() -> None:
    class Renamed(BaseModel):
        inner: int = Field(serialization_alias="outer")

    assert OutputShaper(Renamed, tool="t").schema["properties"].keys() == {"outer"}  # type: ignore[index,union-attr]  # an object
    assert shape(Renamed, Renamed(inner=1)).content == '{"outer":1}'


def test_a_secret_is_never_told() -> None:
    class Account(BaseModel):
        key: SecretStr

    for declared in (Account, EMPTY, dict[str, Any]):
        value = (
            {"a": Account(key=SecretStr("hunter2"))}
            if declared == dict[str, Any]
            else Account(key=SecretStr("hunter2"))
        )
        assert "hunter2" not in shape(declared, value).content


@pytest.mark.parametrize("stream", [Iterator[int], Iterable[int], AsyncIterator[int]])
def test_a_stream_is_declared_as_a_list(stream: Any) -> None:
    assert OutputShaper(stream, tool="t").schema == {"type": "array", "items": {"type": "integer"}}
    assert shape(stream, iter([1, 2])).content == "[1,2]"


def test_a_type_without_json_form_is_refused_when_the_tool_is_defined() -> None:
    with pytest.raises(ToolDefinitionError, match="output of tool 't'"):
        OutputShaper(Record, tool="t")


@pytest.mark.parametrize(
    ("declared", "value", "content"),
    [
        (set[str], {"b", "a", "c"}, '["a","b","c"]'),
        (bytes, b"\xfb\xff", "+/8="),
        (Decimal, Decimal("1.10"), "1.10"),
        (datetime, datetime(2031, 5, 6, tzinfo=UTC), "2031-05-06T00:00:00Z"),
        (timedelta, timedelta(seconds=90), "PT1M30S"),
        (Colour, Colour.RED, "red"),
        (list[float], [1.0, float("nan"), float("inf")], "[1.0,null,null]"),
        (
            dict[str, Any],
            {"s": {3, 1}, "g": iter([1]), "n": float("nan"), "b": b"hi"},
            '{"s":[1,3],"g":[1],"n":null,"b":"aGk="}',
        ),
        (Annotated[int, Field(ge=0)], 5, "5"),
        (bool, True, "true"),
        (None, None, NO_CONTENT),
    ],
)
def test_declared_values_are_told_by_the_same_rules(declared: Any, value: Any, content: str) -> None:
    shaped = shape(declared, value)

    assert (shaped.content, shaped.is_error) == (content, False)


def test_a_class_cannot_make_the_result_something_else_than_json() -> None:
    class Loud(BaseModel):
        model_config = ConfigDict(ser_json_inf_nan="constants")
        x: float

    assert shape(Loud, Loud(x=float("nan"))).content == '{"x":null}'


# ── anything ──────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("nothing", [None, "", " \n", [], (), set(), b"", iter(()), ToolOutput(None), ToolOutput("")])
def test_nothing_is_told_as_no_content(nothing: Any) -> None:
    assert shape(EMPTY, nothing).content == NO_CONTENT


@pytest.mark.parametrize("zero", [0, False, 0.0])
def test_a_value_that_is_false_is_told(zero: Any) -> None:
    assert shape(EMPTY, zero).content in ("0", "false", "0.0")


def test_a_text_is_told_as_it_is() -> None:
    assert shape(str, '{"a": 1}\n"quoted"').content == '{"a": 1}\n"quoted"'


@pytest.mark.parametrize("declared", [str, EMPTY])
def test_what_breaks_databases_and_terminals_is_replaced(declared: Any) -> None:
    assert shape(declared, "a\x00b\x1b[31m\ud800\x85\tc\n").content == "a\ufffdb\ufffd[31m\ufffd\ufffd\tc\n"


@pytest.mark.parametrize("declared", [dict[str, str], dict[str, Any], EMPTY, Any])
@pytest.mark.parametrize("unsafe", ["\x00", "\ud800", "\x1b"])
def test_what_breaks_databases_is_replaced_inside_too(declared: Any, unsafe: str) -> None:
    shaped = shape(declared, {f"k{unsafe}": f"v{unsafe}"})

    assert shaped.content == '{"k\ufffd":"v\ufffd"}'
    assert shaped.json == {"k\ufffd": "v\ufffd"}


@pytest.mark.parametrize("value", [object(), lambda: 1, ValueError("x"), {1: "a", "1": "b"}, {object(): 1}])
@pytest.mark.parametrize("declared", [EMPTY, Any, Refund, list[Any]])
def test_no_value_breaks_the_run(declared: Any, value: Any) -> None:
    shaped = shape(declared, value)

    assert (shaped.is_error, shaped.code) == (True, BAD_OUTPUT)


@pytest.mark.parametrize("declared", [EMPTY, Any, Refund, list[Any]])
@pytest.mark.parametrize("trap", ["__class__", "__bool__", "__len__", "__iter__", "__eq__", "__hash__", "__str__"])
def test_no_object_breaks_the_run_when_it_is_looked_at(declared: Any, trap: str) -> None:
    def explode(*_: Any) -> Any:
        msg = "do not look"
        raise RuntimeError(msg)

    evil = type("Evil", (), {trap: property(explode) if trap == "__class__" else explode})()

    assert shape(declared, evil).code == BAD_OUTPUT
    assert shape(declared, [evil]).code == BAD_OUTPUT


def test_a_cycle_and_a_pit_are_errors() -> None:
    cycle: list[Any] = []
    cycle.append({"self": cycle})
    pit: Any = []
    for _ in range(50_000):
        pit = [pit]

    assert "cycle" in shape(EMPTY, cycle).content
    assert "nested too deep" in shape(EMPTY, pit).content


def test_a_number_of_any_size_is_told_within_the_cap() -> None:
    assert shape(EMPTY, [10**5_000]).content.startswith("[1000")


def test_the_same_object_twice_is_no_cycle() -> None:
    shared = {"a": 1}

    assert shape(EMPTY, [shared, shared]).content == '[{"a":1},{"a":1}]'


@pytest.mark.parametrize("declared", [EMPTY, Iterator[int], list[int], Any])
def test_a_generator_without_end_ends(declared: Any) -> None:
    shaped = shape(declared, iter(int, 1))

    assert not shaped.is_error
    assert "more than" in shaped.content
    assert len(shaped.content.encode()) <= 50_000
    assert isinstance(shaped.json, list)
    assert len(shaped.json) <= MAX_ITEMS


# ── ToolOutput ────────────────────────────────────────────────────────────────────────


def test_tool_output_says_it_all_itself() -> None:
    shaped = shape(EMPTY, ToolOutput("not found", is_error=True, data={"secret": 1}))

    assert (shaped.content, shaped.is_error, shaped.code) == ("not found", True, "tool_error")
    assert shaped.data == {"secret": 1}
    assert shaped.json is None


@pytest.mark.parametrize("declared", [Refund, Refund | ToolOutput])
def test_tool_output_does_not_lead_around_what_is_declared(declared: Any) -> None:
    assert shape(declared, ToolOutput(RefundWithSecret(order="A-1", cents=5))).content == REFUND
    assert shape(declared, ToolOutput({"nothing": 1})).code == BAD_OUTPUT


def test_an_error_need_not_have_the_declared_form() -> None:
    assert shape(Refund, ToolOutput({"why": "closed"}, is_error=True)).content == '{"why":"closed"}'


# ── cut ───────────────────────────────────────────────────────────────────────────────


@settings(max_examples=200)
@given(text=st.text(min_size=1), times=st.integers(1, 400), cap=st.integers(100, 2_000))
def test_no_result_is_longer_than_its_cap_nor_is_a_character_cut_in_two(text: str, times: int, cap: int) -> None:
    shaped = shape(str, text * times, max_bytes=cap)

    assert 0 < len(shaped.content.encode()) <= cap
    if shaped.cut_from is None:
        assert len((text * times).encode()) <= cap or "\ufffd" in shaped.content
    else:
        assert f"{shaped.cut_from} bytes" in shaped.content


def test_the_structured_value_is_whole_though_the_content_is_cut() -> None:
    shaped = shape(list[int], list(range(1_000)), max_bytes=200)

    assert shaped.cut_from
    assert shaped.json == list(range(1_000))


@settings(max_examples=200)
@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats()
        | st.text()
        | st.binary()
        | st.decimals()
        | st.datetimes(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner) | st.tuples(inner, inner),
        max_leaves=20,
    )
)
def test_whatever_comes_back_is_told_as_safe_text(value: Any) -> None:
    shaped = shape(EMPTY, value)

    assert shaped.content.strip()
    assert "\x00" not in shaped.content
    shaped.content.encode()
    if shaped.written is not None:
        jiter.from_json(shaped.written, allow_inf_nan=False)
