"""The texts that objects of the host application hold."""

from dataclasses import dataclass, field
from typing import Any

import pytest
from pydantic import BaseModel, SecretStr

from placet.redaction.held import secrets_in, texts_in


@dataclass(slots=True)
class Login:
    url: str = "https://x.example"
    password: str = "opaque one"
    more: list[Any] = field(default_factory=lambda: [{"a": "opaque two"}])


class Token(BaseModel):
    value: str = "opaque one"


class Odd:
    """Breaks whatever it is asked."""

    @property
    def __dict__(self) -> Any:  # type: ignore[override]
        raise RuntimeError

    def get_secret_value(self) -> str:
        raise RuntimeError


def test_all_of_what_was_given_is_found_wherever_it_stands() -> None:
    assert texts_in([Login(), b"opaque three"]) == {"https://x.example", "opaque one", "opaque two", "opaque three"}


@pytest.mark.parametrize(
    "holds",
    [Login(), Token(), {"api_key": "opaque one"}, {"x": SecretStr("opaque one")}, [{"credentials": ("opaque one",)}]],
    ids=lambda holds: type(holds).__name__,
)
def test_what_has_the_name_or_the_type_of_a_secret_is_one(holds: Any) -> None:
    assert secrets_in([holds]) == {"opaque one"}


def test_what_has_neither_is_none() -> None:
    assert secrets_in([{"greeting": "good morning", "token_count": "very many"}]) == frozenset()


def test_a_text_that_is_quoted_is_found_as_it_is_quoted() -> None:
    assert texts_in(["opa'que\\one\n"]) >= {"opa'que\\one\n", "opa'que\\\\one\\n"}


def test_short_texts_circles_and_objects_that_cannot_be_looked_into_are_let_be() -> None:
    circle: dict[str, Any] = {"a": "short"}
    circle["circle"] = circle

    assert texts_in([circle, Odd(), None, 7, *range(1000)]) == frozenset()
