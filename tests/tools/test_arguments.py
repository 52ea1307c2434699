"""Reading what a model sent: one object, whole, and nothing else."""

import json

import pytest

from placet.tools.arguments import END_TOKENS, MAX_DEPTH, Arguments
from placet.values.decision import Deny, Reason
from placet.values.limits import ARGUMENT_BYTES
from tests.tools.cases import build

SAY = "def say(text: str = 'nothing') -> str"
TAKE = "def take(value: Any = None) -> str"


@pytest.mark.parametrize("text", ["", " \n", "null", "{}", '""', '"{}"'])
def test_nothing_is_the_empty_object(text: str) -> None:
    assert build(SAY).call(text) == {"text": "nothing"}


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "1",
        "true",
        '"a"',
        "[{}]",
        '"[]"',
        '"\\"{}\\""',
        "{}{}",
        "{} {}",
        "{} and then",
        "{",
        '{"text": "a"',
        "NaN",
    ],
)
def test_what_is_not_exactly_one_object_is_refused(text: str) -> None:
    refusal = build(SAY).call(text)

    assert isinstance(refusal, Deny)
    assert refusal.reason is Reason.INVALID_ARGUMENTS
    assert refusal.hint


@pytest.mark.parametrize(
    "text",
    [
        '{"text": "a", "text": "a"}',
        '{"text": "a", "\\u0074ext": "b"}',
        '{"value": {"a": 1, "a": 2}}',
        '{"value": [{"a": 1, "a": 2}]}',
        json.dumps('{"text": "a", "text": "b"}'),
    ],
)
def test_a_repeated_key_is_refused_wherever_it_stands(text: str) -> None:
    refusal = build(TAKE).call(text)

    assert isinstance(refusal, Deny)
    assert "twice" in refusal.message


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "1" + "0" * 400 + ".0"])
@pytest.mark.parametrize("shape", ['{"value": %s}', '{"value": [%s]}', '{"value": {"a": [[%s]]}}'])
def test_a_number_that_is_none_is_refused_wherever_it_stands(shape: str, number: str) -> None:
    assert isinstance(build(TAKE).call(shape % number), Deny)


def test_a_number_that_is_large_and_finite_is_taken() -> None:
    assert build(TAKE).call('{"value": 1e300}') == {"value": 1e300}


@pytest.mark.parametrize("token", END_TOKENS)
def test_an_end_token_behind_a_whole_object_is_removed_and_noted(token: str) -> None:
    read = build(SAY).read(f'{{"text": "a"}}{token}\n')

    assert isinstance(read, Arguments)
    assert read.text == '{"text":"a"}'
    assert token in (read.note or "")


@pytest.mark.parametrize(
    "text", ['{"text": "a"<|eom_id|>', '{"text": "a"} x<|eom_id|>', "[]<|eom_id|>", "{}{}</s>", "null</s>"]
)
def test_an_end_token_mends_nothing_else(text: str) -> None:
    assert isinstance(build(SAY).call(text), Deny)


def test_an_end_token_inside_a_text_stays() -> None:
    assert build(SAY).call('{"text": "a<|eom_id|>"}') == {"text": "a<|eom_id|>"}


def test_more_bytes_than_are_taken_are_refused_unread() -> None:
    refusal = build(SAY).call(json.dumps({"text": "é" * (ARGUMENT_BYTES // 2)}, ensure_ascii=False))

    assert isinstance(refusal, Deny)
    assert str(ARGUMENT_BYTES) in refusal.message


@pytest.mark.parametrize(
    ("deep", "quoted", "said"),
    [
        (MAX_DEPTH + 1, False, "nested deeper"),
        (MAX_DEPTH + 1, True, "nested deeper"),
        (49_000, False, "nested deeper"),
        (49_000, True, "not valid JSON"),  # the parser of what stands in quotes goes no deeper than 200
    ],
)
def test_what_is_nested_too_deep_is_refused(deep: int, quoted: bool, said: str) -> None:
    text = '{"value": ' + "[" * (deep - 1) + "]" * (deep - 1) + "}"

    refusal = build(TAKE).call(json.dumps(text) if quoted else text)

    assert isinstance(refusal, Deny)
    assert said in refusal.message


def test_brackets_in_texts_are_no_depth() -> None:
    brackets = "[{" * 200

    assert build(SAY).call({"text": brackets}) == {"text": brackets}


@pytest.mark.parametrize("text", ['{"text": "\ud83d"}', '{"text": "\\ud83d"}', '{"text": "\\udf78\\ud83c"}'])
def test_half_a_character_is_refused(text: str) -> None:
    assert isinstance(build(SAY).call(text), Deny)


def test_a_whole_character_of_two_halves_is_one() -> None:
    assert build(SAY).call('{"text": "\\ud83c\\udf78"}') == {"text": "🍸"}


def test_one_level_of_quotes_is_unwrapped_and_noted() -> None:
    read = build(SAY).read('"{\\"text\\": \\"a\\"}"')

    assert isinstance(read, Arguments)
    assert (read.text, read.note) == ('{"text":"a"}', "one level of quotes was unwrapped")


def test_stored_arguments_are_read_by_the_same_laws() -> None:
    reader = build(SAY).tool.reader

    read = reader.read_json({"text": "ş"})

    assert isinstance(read, Arguments)
    assert read.json == {"text": "ş"}
    assert isinstance(reader.read_json({"text": "a", "x": 1}), Deny)


@pytest.mark.parametrize("value", [float("nan"), {1, 2}, object(), "\ud800"])
def test_stored_arguments_that_are_no_json_are_refused(value: object) -> None:
    assert isinstance(build(TAKE).tool.reader.read_json({"value": value}), Deny)  # type: ignore[dict-item]  # on purpose


def test_arguments_do_not_show_in_a_repr() -> None:
    read = build("def login(password: str) -> str").read({"password": "hunter2"})

    assert "hunter2" not in repr(read)
    assert isinstance(read, Arguments)
    assert "hunter2" not in repr(read.value)


def test_arguments_that_are_one_object_do_not_show_in_a_repr() -> None:
    imports = "from placet.tools.parameters import Input\nclass Login(BaseModel):\n    password: str\n"

    assert "hunter2" not in repr(build(f"{imports}def login(who: Input[Login]) -> str").read({"password": "hunter2"}))
