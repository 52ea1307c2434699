"""A state that is kept comes back as it is, or says that it would not."""

from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

import pytest
from pydantic import BaseModel, PrivateAttr, computed_field, field_validator

from placet.errors import ConfigurationError
from placet.runtime.kept_state import KeptState


class Colour(Enum):
    RED = "red"


class Rich(BaseModel):
    at: datetime = datetime(2026, 11, 29, 12, tzinfo=UTC)
    price: Decimal = Decimal("0.10")
    colour: Colour = Colour.RED
    seen: set[int] = {3, 1}
    raw: bytes = b"abc"
    id: UUID = UUID(int=7)
    parts: tuple[int, str] = (1, "a")
    tree: "list[Rich]" = []
    more: dict[str, Any] = {"x": [1, None]}


class Doubling(BaseModel):
    text: str = "a"

    @field_validator("text")
    @classmethod
    def double(cls, text: str) -> str:
        return text * 2


class Private(BaseModel):
    kept: int = 1
    _hidden: int = PrivateAttr(default=1)

    @computed_field
    def twice(self) -> int:
        return self.kept * 2


def test_a_state_comes_back_as_it_was() -> None:
    kept = KeptState(Rich, Rich(tree=[Rich()]))
    before = kept.value

    kept.keep()

    assert kept.value == before
    assert kept.value is not before


def test_what_a_model_does_not_write_is_gone_at_once_rather_than_after_a_pause() -> None:
    kept = KeptState(Private, Private(kept=2))
    kept.value._hidden = 5

    assert kept.keep() == {"kept": 2}
    assert kept.value._hidden == 1


def test_a_state_that_would_change_by_being_kept_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="reads differently from how it is written"):
        KeptState(Doubling, Doubling()).keep()


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"kept": 1}, "the state is a dict, not a Private"),
        (Private.model_construct(kept=object()), "cannot be written as JSON"),
        (Private.model_construct(kept="many"), "cannot be written as JSON"),
    ],
)
def test_what_is_no_state_is_refused(value: Any, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        KeptState(Private, value).keep()


def test_what_was_kept_and_fits_no_more_is_refused_without_its_values() -> None:
    with pytest.raises(ConfigurationError, match=r"does not fit the state Private \(kept: Input") as caught:
        KeptState(Private, None).restore({"kept": "hunter2"})

    assert "hunter2" not in str(caught.value)


def test_a_copy_is_apart() -> None:
    kept = KeptState(Rich, Rich())
    twin = kept.copy()

    twin.value.more["x"].append(2)

    assert kept.value.more == {"x": [1, None]}
