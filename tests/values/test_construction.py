"""Our values are frozen dataclasses like any other, also those that are made quickly."""

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from dataclasses import MISSING, FrozenInstanceError, asdict, dataclass, field, fields, replace
from typing import Any, ClassVar

import pytest

from placet.gate.request import GateRequest
from placet.ports import ModelAnswer, ModelRequest
from placet.runtime.attempt import Attempt, Ready
from placet.runtime.site import CallSite
from placet.values.audit import AuditEntry
from placet.values.call import ToolCall, ToolResult
from placet.values.construction import dataclass as our_dataclass
from placet.values.construction import made_quickly, maker
from placet.values.effect import Claim, EffectRecord
from placet.values.run import PlannedCall, Usage

ALL = [
    ToolCall, ToolResult, AuditEntry, Usage, PlannedCall, EffectRecord, Claim, GateRequest, ModelRequest, ModelAnswer,
    CallSite, Attempt, Ready,
]  # fmt: skip


@made_quickly
@dataclass(frozen=True, slots=True)
class Point:
    x: int
    y: int = 2
    tags: list[str] = field(default_factory=list[str])
    name: str = field(default="p", kw_only=True)


def the_class(cls: Any) -> Any:
    """Return the class itself: the other way to make an instance."""
    return cls


WAYS = pytest.mark.parametrize("way", [the_class, maker])
"""A value is made by its class, or by a maker of it: nobody can tell which it was."""


@WAYS
@pytest.mark.parametrize("cls", ALL)
def test_its_arguments_are_its_fields_with_their_defaults(cls: type, way: Any) -> None:
    parameters = inspect.signature(way(cls)).parameters

    assert list(parameters) == [one.name for one in fields(cls)]
    for one in fields(cls):
        parameter = parameters[one.name]
        assert parameter.kind is (parameter.KEYWORD_ONLY if one.kw_only else parameter.POSITIONAL_OR_KEYWORD)
        if one.default_factory is MISSING:
            assert parameter.default is (parameter.empty if one.default is MISSING else one.default)


@WAYS
def test_it_cannot_be_changed_once_it_is_made(way: Any) -> None:
    point = way(Point)(1)

    with pytest.raises(FrozenInstanceError):
        point.x = 3
    with pytest.raises(FrozenInstanceError):
        del point.x


@WAYS
def test_it_is_of_its_class_equal_hashable_copied_pickled_and_replaced(way: Any) -> None:
    call = way(ToolCall)("c1", "find", "{}")

    assert type(call) is ToolCall
    assert call == ToolCall("c1", "find", "{}")
    assert hash(call) == hash(ToolCall("c1", "find", "{}"))
    assert copy.copy(call) == call
    assert pickle.loads(pickle.dumps(call)) == call  # noqa: S301 - our own
    assert replace(call, name="seek") == ToolCall("c1", "seek", "{}")


@WAYS
def test_a_default_is_made_anew_for_each(way: Any) -> None:
    new = way(Point)
    first, second = new(1), new(1)
    first.tags.append("mine")

    assert (second.x, second.y, second.tags, second.name) == (1, 2, [], "p")
    assert new(1, 5, ["a"], name="q") == Point(x=1, y=5, tags=["a"], name="q")


@WAYS
def test_a_missing_and_an_unknown_argument_are_refused(way: Any) -> None:
    new = way(Point)

    with pytest.raises(TypeError, match="x"):
        new()
    with pytest.raises(TypeError, match="z"):
        new(1, z=2)


@WAYS
def test_it_is_checked_once_it_is_frozen(way: Any) -> None:
    @made_quickly
    @dataclass(frozen=True, slots=True)
    class Checked:
        x: int

        def __post_init__(self) -> None:
            with pytest.raises(FrozenInstanceError):
                self.x = 3  # type: ignore[misc]  # what is tried
            if self.x < 0:
                raise ValueError(self.x)

    new = way(Checked)

    assert new(1).x == 1
    with pytest.raises(ValueError, match="-1"):
        new(-1)


def test_only_a_frozen_dataclass_with_slots_is_taken() -> None:
    @dataclass(slots=True)
    class Open:
        x: int

    with pytest.raises(TypeError, match="Open is no frozen dataclass"):
        made_quickly(Open)


def test_a_maker_makes_open_dataclasses_too_and_nothing_that_it_would_leave_half_made() -> None:
    @dataclass(slots=True)
    class Open:
        x: int
        tags: set[str] = field(default_factory=set[str])

    thing = maker(Open)(1)
    thing.x = 2

    assert (thing, thing.tags) == (Open(2), set())
    with pytest.raises(TypeError, match="Sample is no dataclass with slots, all of whose fields are arguments"):
        maker(make(our_dataclass))
    with pytest.raises(TypeError, match="Loose is no dataclass with slots"):
        maker(dataclass(type("Loose", (), {"__annotations__": {"x": int}})))


Decorator = Callable[..., Any]


def make(decorator: Decorator, **options: Any) -> Any:
    """One class of each kind of field, made by one of the two decorators."""

    @decorator(frozen=True, slots=True, **options)
    class Sample:
        x: int
        y: Any = 2
        hidden: str = field(default="h", repr=False)
        apart: str = field(default="a", compare=False)
        unhashed: list[int] = field(default_factory=list[int], hash=False)
        name: str = field(default="p", kw_only=True)
        sum: int = field(init=False)
        fixed: int = field(init=False, default=4)
        made: list[int] = field(init=False, default_factory=list[int], hash=False)

        def __post_init__(self) -> None:
            if self.x < 0:
                raise ValueError(self.x)
            object.__setattr__(self, "sum", self.x + self.fixed)

    return Sample


def make_small(decorator: Decorator, **options: Any) -> Any:
    """One of one field."""

    @decorator(frozen=True, slots=True, **options)
    class Small:
        x: Any

    return Small


def make_empty(decorator: Decorator, **options: Any) -> Any:
    """One of none."""

    @decorator(frozen=True, slots=True, **options)
    class Empty:
        pass

    return Empty


def outcome(what: Callable[..., Any], *given: Any, **named: Any) -> str:
    """What something gives, or what it raises."""
    try:
        return repr(what(*given, **named))
    except Exception as error:  # noqa: BLE001 - whatever it is, it is compared
        return repr(error)


def about(cls: Any, **named: Any) -> list[Any]:
    """Whatever can be seen of a class and of its instances."""
    one, other = cls(**named), cls(**named)
    return [
        str(inspect.signature(cls)), cls.__slots__, cls.__match_args__, str(cls.__dataclass_params__),
        cls.__init__.__annotations__, cls.__init__.__qualname__, [str(known) for known in fields(cls)],
        repr(one), one == other, one != other, one == 3, outcome(lambda: hash(one) == hash(other)),
        asdict(one), repr(copy.copy(one)), repr(copy.deepcopy(one)), outcome(replace, one, x=5), one.__getstate__(),
        hasattr(one, "__dict__"), hasattr(one, "__weakref__"),
        [(outcome(setattr, one, name, 1), outcome(delattr, one, name)) for name in cls.__slots__],
        outcome(cls), outcome(cls, -1), outcome(cls, x=-1), outcome(cls, 1, 2, 3, 4, 5, 6, 7), outcome(cls, 1, z=3),
    ]  # fmt: skip


@pytest.mark.parametrize("options", [{}, {"eq": False}, {"kw_only": True}], ids=str)
@pytest.mark.parametrize("write", [make, make_small, make_empty])
def test_a_value_is_what_the_standard_library_would_have_made_of_it(write: Any, options: dict[str, Any]) -> None:
    ours, standard = write(our_dataclass, **options), write(dataclasses.dataclass, **options)
    named = {} if write is make_empty else {"x": 1}

    assert about(ours, **named) == about(standard, **named)


def test_values_are_compared_field_by_field() -> None:
    ours, nan = make(our_dataclass), float("nan")

    assert ours(1, apart="b") == ours(1)
    assert ours(1, hidden="i") != ours(1)
    assert ours(1, unhashed=[1]) != ours(1)
    assert hash(ours(1, unhashed=[1])) == hash(ours(1))
    assert make_small(our_dataclass)(1) != make_small(our_dataclass)(1)  # of another class
    small = make_small(our_dataclass)
    assert small(nan) == small(nan)  # the same object, as in a tuple


def test_a_value_that_holds_itself_is_shown() -> None:
    holder = list[Any]()
    holder.append(make_small(our_dataclass)(holder))

    assert repr(holder).endswith("Small(x=[...])]")


def test_a_subclass_keeps_the_fields_as_they_are() -> None:
    base = make(our_dataclass)
    more = type("More", (base,), {})(1)
    more.note = "mine"

    assert (type(more).__name__, more.x, more.note) == ("More", 1, "mine")
    with pytest.raises(FrozenInstanceError):
        more.x = 2
    with pytest.raises(FrozenInstanceError):
        del more.x
    with pytest.raises(TypeError, match="non-frozen"):
        dataclass(type("More", (base,), {}))


def test_what_is_not_made_here_is_made_by_the_standard_library_or_refused() -> None:
    @our_dataclass(frozen=True, slots=True)
    class Own:
        x: int

        def __repr__(self) -> str:
            return "own"

    @our_dataclass(slots=True)
    class Open:
        x: int

    thing = Open(1)
    thing.x = 2

    assert (repr(Own(1)), Own(1) == Own(1), thing.x) == ("own", True, 2)
    with pytest.raises(TypeError, match="ClassVar"):

        @our_dataclass(frozen=True, slots=True)
        class Shared:
            x: int
            y: ClassVar[int] = 3
