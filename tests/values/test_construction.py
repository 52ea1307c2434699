"""Values that are made quickly are frozen dataclasses like any other."""

import copy
import inspect
import pickle
from dataclasses import MISSING, FrozenInstanceError, dataclass, field, fields, replace

import pytest

from placet.gate.request import GateRequest
from placet.ports import ModelAnswer, ModelRequest
from placet.runtime.attempt import Attempt, Ready
from placet.runtime.site import CallSite
from placet.values.audit import AuditEntry
from placet.values.call import ToolCall, ToolResult
from placet.values.construction import made_quickly
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


@pytest.mark.parametrize("cls", ALL)
def test_its_arguments_are_its_fields_with_their_defaults(cls: type) -> None:
    parameters = inspect.signature(cls).parameters

    assert list(parameters) == [one.name for one in fields(cls)]
    for one in fields(cls):
        parameter = parameters[one.name]
        assert parameter.kind is (parameter.KEYWORD_ONLY if one.kw_only else parameter.POSITIONAL_OR_KEYWORD)
        if one.default_factory is MISSING:
            assert parameter.default is (parameter.empty if one.default is MISSING else one.default)


def test_it_cannot_be_changed_once_it_is_made() -> None:
    with pytest.raises(FrozenInstanceError):
        Point(1).x = 3  # type: ignore[misc]  # what is tried
    with pytest.raises(FrozenInstanceError):
        del Point(1).x


def test_it_is_of_its_class_equal_hashable_copied_pickled_and_replaced() -> None:
    call = ToolCall("c1", "find", "{}")

    assert type(call) is ToolCall
    assert call == ToolCall("c1", "find", "{}")
    assert hash(call) == hash(ToolCall("c1", "find", "{}"))
    assert copy.copy(call) == call
    assert pickle.loads(pickle.dumps(call)) == call  # noqa: S301 - our own
    assert replace(call, name="seek") == ToolCall("c1", "seek", "{}")


def test_a_default_is_made_anew_for_each() -> None:
    first, second = Point(1), Point(1)
    first.tags.append("mine")

    assert (second.x, second.y, second.tags, second.name) == (1, 2, [], "p")
    assert Point(1, 5, ["a"], name="q") == Point(x=1, y=5, tags=["a"], name="q")


def test_a_missing_and_an_unknown_argument_are_refused() -> None:
    with pytest.raises(TypeError, match="x"):
        Point()  # type: ignore[call-arg]  # what is tried
    with pytest.raises(TypeError, match="z"):
        Point(1, z=2)  # type: ignore[call-arg]  # what is tried


def test_it_is_checked_once_it_is_frozen() -> None:
    @made_quickly
    @dataclass(frozen=True, slots=True)
    class Checked:
        x: int

        def __post_init__(self) -> None:
            with pytest.raises(FrozenInstanceError):
                self.x = 3  # type: ignore[misc]  # what is tried
            if self.x < 0:
                raise ValueError(self.x)

    assert Checked(1).x == 1
    with pytest.raises(ValueError, match="-1"):
        Checked(-1)


def test_only_a_frozen_dataclass_with_slots_is_taken() -> None:
    @dataclass(slots=True)
    class Open:
        x: int

    with pytest.raises(TypeError, match="Open is no frozen dataclass"):
        made_quickly(Open)
