"""How parameters are declared."""

import functools
from typing import Annotated, Any

import pytest
from pydantic import Field

from placet.errors import ToolDefinitionError
from placet.tools.context import Context
from placet.tools.parameters import EMPTY, Injected, Input, Loaded, Source, State, read_mark, read_signature


@pytest.mark.parametrize(
    ("hint", "source", "inner"),
    [
        (int, Source.ARGUMENT, int),
        (Annotated[int, Field(ge=1)], Source.ARGUMENT, None),
        (Input[int], Source.INPUT, int),
        (Loaded[int], Source.LOADED, int),
        (State[int], Source.STATE, int),
        (Injected[int], Source.INJECTED, int),
        (Context, Source.CONTEXT, Context),
        (Context[int], Source.CONTEXT, Context[int]),
        (Annotated[Context[int], "note"], Source.CONTEXT, Context[int]),
    ],
)
def test_a_mark_says_where_a_value_comes_from(hint: Any, source: Source, inner: Any) -> None:
    assert read_mark(hint) == (source, hint if inner is None else inner)


def test_other_notes_beside_a_mark_are_kept() -> None:
    source, inner = read_mark(Annotated[Input[int], "note"])

    assert (source, inner) == (Source.INPUT, Annotated[int, "note"])


def test_a_signature_is_read_once_and_whole() -> None:
    async def look(city: str, /, days: int = 1, *, context: Context[Any]) -> list[str]:
        """Look."""
        return [city * days, context.language]

    signature = read_signature(look)

    assert (signature.name, signature.doc, signature.returns) == ("look", "Look.", list[str])
    assert [(each.name, each.source, each.default, each.keyword_only) for each in signature.parameters] == [
        ("city", Source.ARGUMENT, EMPTY, False),
        ("days", Source.ARGUMENT, 1, False),
        ("context", Source.CONTEXT, EMPTY, True),
    ]


def test_a_bound_method_has_no_self() -> None:
    class Shop:
        def look(self, city: str) -> str:
            return city

    assert [each.name for each in read_signature(Shop().look).parameters] == ["city"]


def test_partials_of_partials_hide_what_they_bind() -> None:
    def look(token: str, city: str, days: int) -> str:
        return token + city * days

    partial = functools.partial(functools.partial(look, "s3cr3t"), days=2)

    assert [each.name for each in read_signature(partial).parameters] == ["city"]
    assert "s3cr3t" not in repr(read_signature(partial))


def test_what_has_no_signature_is_refused() -> None:
    with pytest.raises(ToolDefinitionError, match="cannot be read"):
        read_signature(max)
