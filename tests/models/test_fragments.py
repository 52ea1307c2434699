"""Fragments are put together by written laws; what cannot be known has a fault."""

from typing import Any

import pytest

from placet.models.fragments import AMBIGUOUS, CONTRADICTION, NOT_A_FUNCTION, CallFragments, PartialCall

TOOLS = frozenset({"ping", "pong", "get_rate", "ta", "tata"})


def part(
    name: str | None = None,
    arguments: object = None,
    *,
    index: int | None = None,
    id: str | None = None,  # noqa: A002
) -> dict[str, Any]:
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    entry: dict[str, Any] = {"function": function}
    if index is not None:
        entry["index"] = index
    if id is not None:
        entry["id"] = id
    return entry


def put_together(*chunks: list[object]) -> list[PartialCall]:
    fragments = CallFragments(TOOLS)
    for chunk in chunks:
        fragments.add(chunk)
    return fragments.calls


def said(calls: list[PartialCall]) -> list[tuple[str, str]]:
    assert all(call.fault is None for call in calls)
    return [(call.name, call.arguments) for call in calls]


def test_calls_without_index_and_id_come_one_after_the_other() -> None:
    calls = put_together([part("get_rate", '{"city": "Oslo"}')], [part("get_rate", '{"city": "Rome"}')])

    assert said(calls) == [("get_rate", '{"city": "Oslo"}'), ("get_rate", '{"city": "Rome"}')]


def test_calls_at_index_zero_without_ids_come_one_after_the_other() -> None:
    calls = put_together([part("get_rate", '{"city": "Oslo"}', index=0, id="")], [part("ping", "{}", index=0, id="")])

    assert said(calls) == [("get_rate", '{"city": "Oslo"}'), ("ping", "{}")]


def test_another_tool_is_another_call_even_without_arguments() -> None:
    assert said(put_together([part("ping", index=0)], [part("pong", index=0)])) == [("ping", ""), ("pong", "")]


def test_fragments_by_position_are_put_together_by_position() -> None:
    calls = put_together(
        [part("get_rate", ""), part("get_rate", "")],
        [part(None, '{"city":'), part(None, '{"city":')],
        [part(None, ' "Oslo"}'), part(None, ' "Rome"}')],
    )

    assert said(calls) == [("get_rate", '{"city": "Oslo"}'), ("get_rate", '{"city": "Rome"}')]


def test_two_equal_calls_in_one_chunk_are_two() -> None:
    assert len(put_together([part("ping", "{}"), part("ping", "{}")])) == 2


def test_two_equal_calls_under_two_ids_are_two() -> None:
    assert len(put_together([part("ping", "{}", index=0, id="a")], [part("ping", "{}", index=0, id="b")])) == 2


@pytest.mark.parametrize("where", [{}, {"index": 0}, {"index": 0, "id": "a"}, {"id": "a"}])
def test_a_whole_call_said_again_is_one(where: dict[str, Any]) -> None:
    whole = part("get_rate", '{"city": "Oslo"}', **where)

    assert said(put_together([whole], [whole])) == [("get_rate", '{"city": "Oslo"}')]


def test_another_id_at_the_same_index_is_another_call_even_before_arguments_come() -> None:
    calls = put_together(
        [part("ping", "", index=0, id="a")], [part("pong", "", index=0, id="b")], [part(None, "{}", index=0)]
    )

    assert said(calls) == [("ping", ""), ("pong", "{}")]


def test_another_call_under_the_same_id_is_another_call() -> None:
    calls = put_together(
        [part("get_rate", '{"city": "Oslo"}', index=0, id="call_0")],
        [part("get_rate", '{"city": "Rome"}', index=0, id="call_0")],
    )

    assert said(calls) == [("get_rate", '{"city": "Oslo"}'), ("get_rate", '{"city": "Rome"}')]


def test_the_same_id_at_another_index_is_another_call() -> None:
    calls = put_together([part("ping", "", index=0, id="c")], [part("pong", "", index=1, id="c")])

    assert said(calls) == [("ping", ""), ("pong", "")]


def test_an_id_may_come_later() -> None:
    (call,) = put_together([part("get_rate", "", index=0)], [part(None, "{}", index=0, id="c9")])

    assert (call.id, call.fault) == ("c9", None)


def test_an_index_may_be_a_text() -> None:
    calls = put_together(
        [{**part("ping", ""), "index": "0"}, {**part("pong", ""), "index": "1"}],
        [{**part(None, '{"b": 2}'), "index": "1"}, {**part(None, '{"a": 1}'), "index": "0"}],
    )

    assert said(calls) == [("ping", '{"a": 1}'), ("pong", '{"b": 2}')]


def test_what_follows_may_be_numbered_by_its_place() -> None:
    """Where each call begins at 0 and only its arguments say where it stands."""
    calls = put_together(
        [part("get_rate", "", index=0, id="a")], [part(None, '{"city": "Oslo"}', index=0)],
        [part("get_rate", "", index=0, id="b")], [part(None, '{"city":', index=1)], [part(None, ' "Rome"}', index=1)],
    )  # fmt: skip

    assert said(calls) == [("get_rate", '{"city": "Oslo"}'), ("get_rate", '{"city": "Rome"}')]


def test_an_id_may_stand_in_the_function() -> None:
    (call,) = put_together([{"index": 0, "function": {"id": "c1", "name": "ping", "arguments": "{}"}}])

    assert (call.id, call.extras) == ("c1", {})


@pytest.mark.parametrize("where", [{"index": 0}, {"index": 0, "id": "c"}, {"id": "c"}, {}])
def test_a_name_may_come_later(where: dict[str, Any]) -> None:
    calls = put_together([part(None, '{"city": "Oslo"}', **where)], [part("get_rate", **where)])

    assert said(calls) == [("get_rate", '{"city": "Oslo"}')]


@pytest.mark.parametrize(
    "chunks",
    [
        pytest.param(
            [[part("ping", "", index=0, id="a")], [part(None, '{"deep": true}', index=0, id="b")]],
            id="a new id in each chunk",
        ),
        pytest.param(
            [[part("ping", "", id="a")], [part(None, '{"deep": true}', id="b")]], id="a new id in each, and no index"
        ),
        pytest.param(
            [[part("ping", "", index=0, id="a")], [part(None, '{"deep": true}', index=1)]], id="an index that jumps"
        ),
        pytest.param(
            [[part("ping", '{"dee', index=0, id="a")], [part(None, 'p": true}', index=0, id="b")]],
            id="a new id within the arguments",
        ),
    ],
)
def test_a_call_whose_arguments_went_elsewhere_does_not_run_without_them(chunks: list[list[object]]) -> None:
    """Its name alone, with all arguments left to their defaults, is another call than the one that was meant."""
    fragments = CallFragments(TOOLS)
    for chunk in chunks:
        fragments.add(chunk)

    named = [call for call in fragments.close() if call.name]

    assert len(named) == 1
    assert named[0].fault


def test_a_call_that_may_have_got_the_arguments_of_a_lost_one_does_not_run() -> None:
    """Numbered by place, and the beginning of the second of three calls was lost."""
    fragments = CallFragments(TOOLS)
    for chunk in (
        [part("ping", "{}", index=0, id="a")], [part("pong", "", index=0, id="c")],
        [part(None, '{"of": "b"}', index=1)], [part(None, '{"of": "c"}', index=2)],
    ):  # fmt: skip
        fragments.add(chunk)

    assert [(call.name, bool(call.fault)) for call in fragments.close() if call.name] == [
        ("ping", False),
        ("pong", True),
    ]


def test_a_whole_call_beside_stray_arguments_is_whole() -> None:
    fragments = CallFragments(TOOLS)
    fragments.add([part("get_rate", '{"city": "Oslo"}', index=0, id="a"), part(None, "{}", index=1)])

    assert fragments.close()[0].fault is None


def test_an_object_is_arguments() -> None:
    (call,) = put_together([part("get_rate", {"city": "Oslo"}, index=0, id="c1")])

    assert (call.arguments, call.value) == ('{"city": "Oslo"}', True)


def test_an_object_said_again_is_the_same() -> None:
    calls = put_together([part("get_rate", {"a": 1}, index=0, id="c")], [part(None, {"a": 1}, index=0)])

    assert said(calls) == [("get_rate", '{"a": 1}')]


def test_what_vendors_put_beside_a_call_is_kept() -> None:
    signed = {**part("ping", "{}", id="c"), "extra_content": {"google": {"thought_signature": "s"}}}
    inner = {"id": "d", "function": {"name": "pong", "thought_signature": "t"}}

    first, second = put_together([signed], [inner])

    assert first.extras == {"extra_content": {"google": {"thought_signature": "s"}}}
    assert second.extras == {"function": {"thought_signature": "t"}}


@pytest.mark.parametrize(
    ("chunks", "fault"),
    [
        pytest.param(
            [[part("get_rate", '{"a":', index=0, id="c")], [part("ping", "1}", index=0)]],
            CONTRADICTION,
            id="the name changes within the arguments",
        ),
        pytest.param(
            [[part("get_rate", {"a": 1}, index=0, id="c")], [part(None, {"a": 2}, index=0)]],
            CONTRADICTION,
            id="one object, then another",
        ),
        pytest.param(
            [[part("get_rate", {"a": 1}, index=0, id="c")], [part(None, '{"b": 2}', index=0)]],
            CONTRADICTION,
            id="an object, then text",
        ),
        pytest.param(
            [[part("get_rate", '{"a":', index=0, id="c")], [part(None, {"a": 2}, index=0)]],
            CONTRADICTION,
            id="text, then an object",
        ),
        pytest.param(
            [[part("ta", "", index=0, id="c")], [part("ta", "{}", index=0)]],
            CONTRADICTION,
            id="the name said again is another tool's name",
        ),
        pytest.param(
            [[part("ping", "", index=0)], [part("ping", "{}", index=0, id="c")]],
            CONTRADICTION,
            id="an id comes late and the name again",
        ),
        pytest.param([["x"]], CONTRADICTION, id="no object"),
        pytest.param([[{"id": "c", "function": "x"}]], CONTRADICTION, id="a function that is none"),
        pytest.param(
            [[{"id": "c", "type": "custom", "custom": {"name": "ping", "input": "x"}}]],
            NOT_A_FUNCTION,
            id="a custom tool",
        ),
        pytest.param(
            [[part("get_rate", ""), part("get_rate", "")], [part(None, '{"city": "Oslo"}')]],
            AMBIGUOUS,
            id="two open calls and one piece",
        ),
    ],
)
def test_what_cannot_be_known_has_a_fault(chunks: list[list[object]], fault: str) -> None:
    calls = put_together(*chunks)

    assert {call.fault for call in calls} == {fault}


def test_glued_arguments_stay_glued() -> None:
    """They are no JSON, and the reader of arguments refuses them; see C026."""
    (call,) = put_together([part("ping", '{"a": 1}', index=0, id="c")], [part(None, '{"b": 2}', index=0)])

    assert call.arguments == '{"a": 1}{"b": 2}'
