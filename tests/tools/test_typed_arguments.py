"""Typed arguments: what is declared is what is taken, and what is written down is what runs."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from placet.errors import ToolDefinitionError
from placet.tools.arguments import Arguments
from placet.values.decision import Deny
from tests.tools.cases import Built, build


def refused(built: Built, arguments: Any) -> Deny:
    refusal = built.call(arguments)
    assert isinstance(refusal, Deny), refusal
    assert not built.received
    return refusal


def text_of(built: Built, arguments: Any) -> str:
    read = built.read(arguments)
    assert isinstance(read, Arguments), read
    again = built.tool.reader.read_json(read.json)
    assert isinstance(again, Arguments)
    assert again.text == read.text, "reading what was written gives the same"
    return read.text


# ── no coercion ───────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("int", '"5"'), ("int", "true"), ("int", "5.5"), ("int", "null"), ("int", '""'), ("int", "[5]"),
        ("float", '"5.5"'), ("float", "true"), ("float", '"Infinity"'),
        ("bool", '"true"'), ("bool", "1"), ("bool", '"on"'), ("bool", "0.0"),
        ("str", "5"), ("str", "null"), ("str", '["a"]'),
        ("Literal[1, 2]", "true"), ("Literal[1, 2]", '"1"'), ("Literal[True]", "1"), ("Literal['a']", '"A"'),
        ("list[int]", '["1"]'), ("list[int]", '"1,2"'), ("list[int]", '{"0": 1}'), ("dict[str, int]", '[["a", 1]]'),
        ("Decimal", '"NaN"'), ("Decimal", '"zz"'), ("Decimal", "true"),
        ("datetime", "1700000000"), ("datetime", '"1700000000"'), ("datetime", '"20310506"'),
        ("date", '"2031-05-06T10:00:00"'), ("timedelta", "90"),
        ("UUID", '"zz"'), ("UUID", "1"), ("bytes", '"not base64!"'), ("tuple[int, str]", '["a", 1]'),
        ("int | None", '"null"'), ("int | bool", '"1"'), ("set[int]", '["1"]'), ("None", "0"),
    ],
)  # fmt: skip
def test_another_type_is_refused_and_its_value_not_repeated(kind: str, value: str) -> None:
    refusal = refused(build(f"def f(x: {kind}) -> str"), f'{{"x": {value}}}')

    assert refusal.message.startswith("x")
    assert "zz" not in refusal.message
    assert "base64!" not in refusal.message


@pytest.mark.parametrize(
    ("kind", "value", "received"),
    [
        ("int", "5.0", 5), ("int", "-3", -3), ("int", "123456789012345678901234567890", 123456789012345678901234567890),
        ("float", "5", 5.0), ("list[int]", "[1.0, 2]", [1, 2]), ("dict[str, int]", '{"a": 2.0}', {"a": 2}),
        ("int | None", "2.0", 2), ("int | str", '"1"', "1"), ("int | float", "1.0", 1.0),
        ("tuple[int, ...]", "[1]", (1,)), ("Literal[1, 2]", "1", 1), ("frozenset[str]", '["a", "a"]', frozenset("a")),
        ("dict[int, str]", '{"1": "a"}', {1: "a"}),
    ],
)  # fmt: skip
def test_what_json_says_is_taken_as_it_is_meant(kind: str, value: str, received: object) -> None:
    got = build(f"def f(x: {kind}) -> str").call(f'{{"x": {value}}}')

    assert got == {"x": received}
    assert type(got["x"]) is type(received)


def test_a_boolean_is_no_member_of_an_enum_of_numbers() -> None:
    built = build("class E(__import__('enum').IntEnum):\n    ONE = 1\ndef f(e: E) -> str")

    refused(built, {"e": True})
    assert built.call({"e": 1}) == {"e": 1}


@pytest.mark.parametrize("amount", ["12.30", "0.1", "100", "1e-7"])
def test_a_decimal_may_come_as_a_number(amount: str) -> None:
    assert str(build("def f(x: Decimal) -> str").call(f'{{"x": {amount}}}')["x"]) in (amount, "12.3", "1E-7")


def test_a_number_that_would_lose_digits_is_refused_as_a_decimal() -> None:
    refusal = refused(build("def f(x: Decimal) -> str"), '{"x": 1234567890.12345678}')

    assert "digits" in refusal.message
    assert "text" in (refusal.hint or "")


# ── unknown names ─────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "declaration",
    [
        "class I(BaseModel):\n    amount: int = 0",
        "class I(BaseModel):\n    model_config = ConfigDict(extra='ignore')\n    amount: int = 0",
        "@pydantic_dataclass\nclass I:\n    amount: int = 0",
        "@std_dataclass\nclass I:\n    amount: int = 0",
        "class I(ExtTypedDict, total=False):\n    amount: int",
    ],
    ids=["model", "model that ignores", "pydantic dataclass", "dataclass", "TypedDict"],
)
@pytest.mark.parametrize("holder", ["I", "list[I]", "dict[str, I]", "I | None", "tuple[I, int]"])
def test_an_unknown_name_is_refused_at_any_depth(declaration: str, holder: str) -> None:
    imports = (
        "from dataclasses import dataclass as std_dataclass\n"
        "from pydantic.dataclasses import dataclass as pydantic_dataclass\n"
        "from typing_extensions import TypedDict as ExtTypedDict\n"
    )
    built = build(f"{imports}{declaration}\ndef f(x: {holder}) -> str")
    inner = {"amount": 1, "amuont": 2}
    sent = {"list[I]": [inner], "dict[str, I]": {"k": inner}, "tuple[I, int]": [inner, 1]}.get(holder, inner)

    refusal = refused(built, {"x": sent})

    assert "amuont: is unknown" in refusal.message
    assert refusal.hint == "did you mean 'amount'?"


def test_the_users_classes_are_not_changed() -> None:
    built = build("class I(BaseModel):\n    amount: int = 0\n    data: bytes = b''\ndef f(x: I) -> str")
    model = type(built.call({"x": {}})["x"])

    assert model.model_validate({"amount": "5", "other": 1, "data": "hi"}).data == b"hi"


def test_a_class_that_says_it_is_open_is_open() -> None:
    built = build("class I(BaseModel):\n    model_config = ConfigDict(extra='allow')\n    a: int\ndef f(x: I) -> str")

    assert built.call({"x": {"a": 1, "b": 2}})["x"].model_extra == {"b": 2}
    assert text_of(built, {"x": {"b": 2, "a": 1}}) == text_of(built, {"x": {"a": 1, "b": 2}})


def test_a_hint_names_the_nearest_argument() -> None:
    refusal = refused(build("def f(order_id: str, amount: int) -> str"), {"orderid": "x", "amount": 1})

    assert refusal.message == "order_id: is required; orderid: is unknown to this tool"
    assert refusal.hint == "did you mean 'order_id'?"


@pytest.mark.parametrize("name", ["x" * 5000, "\x1b[31mred", "a\nb\u202e"])
def test_an_unknown_name_is_repeated_short_and_safe(name: str) -> None:
    refusal = refused(build("def f(a: str) -> str"), {"a": "b", name: 1})

    assert len(refusal.message) < 200
    assert refusal.message.isprintable()


@pytest.mark.parametrize("source", ["Context", "Loaded[int]", "Injected[int]", "State[int]"])
def test_what_is_injected_is_unknown_to_the_model(source: str) -> None:
    imports = "from placet.tools.context import Context\nfrom placet.tools.parameters import Injected, Loaded, State\n"
    options = {"resource": lambda _arguments, _context: 1} if "Loaded" in source else {}
    built = build(f"{imports}def f(q: str, hidden: {source}) -> str", **options)

    assert list(dict(built.tool.spec.input_schema)["properties"]) == ["q"]  # type: ignore[arg-type]  # an object
    refusal = refused(built, {"q": "a", "hidden": 1})
    assert refusal.message == "hidden: is unknown to this tool"
    assert refusal.hint == "known here: q"


# ── what is said ──────────────────────────────────────────────────────────────────────


def test_a_complaint_names_path_expectation_and_kind() -> None:
    built = build("class I(BaseModel):\n    days: list[int]\ndef f(x: I) -> str")

    assert refused(built, {"x": {"days": [1, "zz"]}}).message == (
        "x.days.1: must be a whole number, without quotes; got text"
    )


@pytest.mark.parametrize(
    ("signature", "options"),
    [
        ("password: Annotated[str, AfterValidator(reject)]", {}),
        ("note: Annotated[str, AfterValidator(reject)]", {"redact": {"note"}}),
        ("s: Annotated[SecretStr, AfterValidator(reject)]", {}),
        ("password: Annotated[str, Field(pattern='^[0-9]+$')]", {}),
    ],
)
def test_what_a_validator_says_of_a_secret_is_not_repeated(signature: str, options: dict[str, Any]) -> None:
    reject = (
        "def reject(value):\n"
        "    raise ValueError('not ' + (value if isinstance(value, str) else value.get_secret_value()))\n"
    )
    built = build(f"{reject}def f({signature}) -> str", **options)

    refusal = refused(built, {signature.partition(":")[0]: "hunter2"})

    assert "hunter2" not in f"{refusal!r}"


def test_a_long_message_of_a_validator_is_cut() -> None:
    reject = "def reject(value):\n    raise ValueError(value)\n"
    built = build(f"{reject}def f(x: Annotated[str, AfterValidator(reject)]) -> str")

    assert len(refused(built, {"x": "y" * 5000}).message) < 300


def test_a_validator_that_breaks_refuses_and_its_text_is_for_the_audit_log() -> None:
    broken = "def broken(value):\n    raise KeyError('db password=hunter2')\n"
    built = build(f"{broken}def f(x: Annotated[str, AfterValidator(broken)]) -> str")

    refusal = refused(built, {"x": "a"})

    assert "hunter2" not in f"{refusal.message}{refusal.hint}"
    assert "hunter2" in (refusal.detail or "")


def test_many_complaints_are_counted_not_listed() -> None:
    refusal = refused(build("def f(x: list[int]) -> str"), {"x": ["a"] * 100})

    assert "and 95 more" in refusal.message


# ── what is written down ──────────────────────────────────────────────────────────────


def test_defaults_are_written_down_nested_ones_too() -> None:
    built = build(
        "class I(BaseModel):\n    unit: str = 'C'\n    tags: list[str] = Field(default_factory=list)\n"
        "def f(x: I, days: int = 3, at: Decimal = Decimal('1.50')) -> str"
    )

    assert text_of(built, {"x": {}}) == '{"x":{"unit":"C","tags":[]},"days":3,"at":"1.50"}'


def test_a_default_that_is_made_anew_is_made_once() -> None:
    built = build(
        "class I(BaseModel):\n    key: UUID = Field(default_factory=__import__('uuid').uuid4)\ndef f(x: I) -> str"
    )
    read = built.read({"x": {}})

    assert isinstance(read, Arguments)
    assert read.json == {"x": {"key": str(read.value.x.key)}}


def test_a_mutable_default_is_not_shared_between_calls() -> None:
    built = build("def f(tags: list[str] = []) -> str")
    built.call({})["tags"].append("left over")

    assert built.call({}) == {"tags": []}


@pytest.mark.parametrize("kind", ["SecretStr", "Secret[str]"])
def test_a_secret_that_is_a_default_is_written_with_its_value_too(kind: str) -> None:
    built = build(f"def f(x: {kind} = {kind}('s3cr3t')) -> str")

    assert json.loads(text_of(built, {})) == {"x": "s3cr3t"}
    assert built.call({})["x"].get_secret_value() == "s3cr3t"
    assert "s3cr3t" not in repr(built.tool.spec)


def test_a_secret_is_written_with_its_value_and_named() -> None:
    built = build(
        "class I(BaseModel):\n    pin: SecretStr = Field(alias='PIN')\n"
        "def f(x: I, key: SecretBytes, n: Secret[int]) -> str"
    )

    assert json.loads(text_of(built, {"x": {"PIN": "1234"}, "key": "+/8=", "n": 7})) == {
        "x": {"PIN": "1234"}, "key": "+/8=", "n": 7,
    }  # fmt: skip
    assert built.tool.spec.secret_fields == {"PIN", "key", "n"}
    assert built.tool.spec.redact == {"PIN", "key", "n"}


@pytest.mark.parametrize(
    "name",
    [
        "password",
        "api_key",
        "apiKey",
        "accessToken",
        "secret",
        "client_secret",
        "Authorization",
        "user_password",
        "x-api-key",
    ],
)
def test_a_name_that_says_secret_is_one(name: str) -> None:
    built = build(f"class I(BaseModel):\n    x: str = Field(alias={name!r})\ndef f(i: I) -> str")

    assert built.tool.spec.secret_fields == {name}


@pytest.mark.parametrize("name", ["max_tokens", "token_count", "iban", "secretary", "keyboard", "passenger"])
def test_a_name_that_only_sounds_like_one_is_none(name: str) -> None:
    assert not build(f"def f({name}: str) -> str").tool.spec.secret_fields


@pytest.mark.parametrize(
    ("source", "one", "other"),
    [
        ("def f(x: dict[str, int]) -> str", {"x": {"a": 1, "b": 2}}, {"x": {"b": 2, "a": 1}}),
        ("def f(x: Any) -> str", {"x": [{"a": 1, "b": 2}]}, {"x": [{"b": 2, "a": 1}]}),
        ("def f(x: set[str]) -> str", {"x": ["b", "a"]}, {"x": ["a", "b", "b"]}),
        ("def f(x: float, y: int) -> str", {"x": 1, "y": 2}, {"y": 2.0, "x": 1.0}),
        ("def f(x: str = 'a') -> str", {}, {"x": "a"}),
        ("def f(x: datetime) -> str", {"x": "2031-05-06T07:08:09Z"}, {"x": "2031-05-06T07:08:09+00:00"}),
    ],
)
def test_equal_arguments_are_written_alike(source: str, one: object, other: object) -> None:
    assert text_of(build(source), one) == text_of(build(source), other)


@pytest.mark.parametrize(
    ("source", "sent", "received"),
    [
        ("def f(x: Annotated[int, BeforeValidator(lambda v: v * 100)]) -> str", {"x": 5}, {"x": 500}),
        ("def f(x: Json[list[int]]) -> str", {"x": "[1]"}, {"x": [1]}),
        (
            "def f(x: Annotated[str, PlainSerializer(lambda v: len(v), return_type=int)]) -> str",
            {"x": "abc"},
            {"x": "abc"},
        ),
        (
            "class P:\n    pass\ndef f(x: Annotated[P, PlainValidator(lambda v: v + '!')]) -> str",
            {"x": "a"},
            {"x": "a!"},
        ),
    ],
)
def test_what_a_validator_makes_is_made_once_when_an_approved_call_is_read_again(
    source: str, sent: object, received: object
) -> None:
    built = build(source)
    read = built.read(sent)
    assert isinstance(read, Arguments)

    assert built.call(sent) == received
    assert built.call(read.text) == received


@pytest.mark.parametrize(
    "declaration",
    [
        "class I(BaseModel):\n    a: int\n    def model_post_init(self, _): self.a += 1",
        "@std_dataclass\nclass I:\n    a: int\n    def __post_init__(self): self.a += 1",
        "class I(BaseModel):\n  a: int\n  @model_validator(mode='before')\n  def f(cls, v): return {'a': v['a'] + 1}",
        "class I(BaseModel):\n    a: int\n    @field_validator('a')\n    def add(cls, v): return v + 1",
    ],
)
def test_what_an_object_does_to_itself_is_done_once(declaration: str) -> None:
    built = build(f"from dataclasses import dataclass as std_dataclass\n{declaration}\ndef f(x: I) -> str")

    assert text_of(built, {"x": {"a": 5}}) == '{"x":{"a":5}}'
    assert built.call({"x": {"a": 5}})["x"].a == 6


def test_what_a_dataclass_sets_itself_is_no_argument() -> None:
    built = build(
        "from dataclasses import dataclass, field\n@dataclass\nclass I:\n    a: int\n"
        "    b: int = field(init=False, default=3)\ndef f(x: I) -> str"
    )
    definitions: Any = built.tool.spec.input_schema["$defs"]

    assert definitions["I"]["properties"].keys() == {"a"}
    assert text_of(built, {"x": {"a": 5}}) == '{"x":{"a":5}}'
    assert isinstance(built.call({"x": {"a": 5, "b": 4}}), Deny)


@pytest.mark.parametrize(
    ("value", "kind"), [("2031-05-06", "date"), ("2031-05-06T07:08:09Z", "datetime"), ("2031-05-06 07:08", "datetime")]
)
def test_a_date_is_no_date_and_time(value: str, kind: str) -> None:
    received = build("def f(x: date | datetime) -> str").call({"x": value})

    assert type(received["x"]).__name__ == kind
    assert isinstance(build("def f(x: datetime) -> str").call({"x": "2031-05-06"}), Deny)


def test_what_excluded_and_computed_fields_say_is_what_will_run() -> None:
    built = build(
        "class I(BaseModel):\n    a: int = Field(alias='A')\n    hidden: int = Field(1, exclude=True)\n"
        "    @computed_field\n    def twice(self) -> int:\n        return 2 * self.a\ndef f(x: I) -> str"
    )

    assert text_of(built, {"x": {"A": 3}}) == '{"x":{"A":3,"hidden":1}}'


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=10,
)
WIDE = build("def f(a: Any, b: dict[str, Any] = {}, c: list[str] = [], d: set[str] = set()) -> str")


@settings(max_examples=200)
@given(a=VALUES, b=st.dictionaries(st.text(), VALUES, max_size=3), c=st.lists(st.text()), d=st.sets(st.text()))
def test_whatever_is_read_is_read_alike_again(a: object, b: object, c: object, d: set[str]) -> None:
    text = json.dumps({"a": a, "b": b, "c": c, "d": list(d)})
    read = WIDE.read(text)
    assert isinstance(read, Arguments), "what JSON can say whole is not refused"

    again = WIDE.read(read.text)

    assert isinstance(again, Arguments)
    assert again.text == read.text
    assert (read.value.a, read.value.b, read.value.c, read.value.d) == (a, b, c, d)


# ── what cannot be a tool ─────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("def f(x) -> str", "'x' of tool 'f' has no type"),
        ("def f(context) -> str", "context: Context"),
        ("def f(x: int = None) -> str", "default of 'x'"),
        ("def f(x: Annotated[int, Field(ge=5)] = 3) -> str", "default of 'x'"),
        ("class I(BaseModel):\n    y: int = None\ndef f(x: I) -> str", "default of 'y'"),
        ("def f(x: float = float('inf')) -> str", "default of 'x'"),
        ("def f(x: date = '2031-05-06') -> str", "default of 'x'"),
        ("def f(x: set[int] = [1]) -> str", "default of 'x'"),
        ("def f(x: Literal['a', 'b'] = 'c') -> str", "default of 'x'"),
        ("def f(*x: int) -> str", r"takes \*x"),
        ("def f(x: Callable[[int], int]) -> str", "cannot go over a wire"),
        ("class Shop:\n    pass\ndef f(x: Shop) -> str", r"Injected\[...\]"),
        ("def f(x: 'Nowhere') -> str", "signature of 'f' cannot be read"),
        (
            "class I(BaseModel):\n    def __init__(self, **a):\n        super().__init__(**a)\ndef f(x: I) -> str",
            "__init__ of its own",
        ),
        ("from placet.tools.parameters import Input\ndef f(x: Input[int]) -> str", "no object"),
        ("from placet.tools.parameters import Input\ndef f(x: Input[RootModel[int]]) -> str", "must be one object"),
        (
            "from placet.tools.parameters import Input\nclass I(BaseModel): pass\ndef f(x: Input[I], y: int) -> str",
            "beside",
        ),
    ],
)
def test_what_cannot_be_read_from_json_is_refused_when_it_is_defined(source: str, message: str) -> None:
    with pytest.raises(ToolDefinitionError, match=message):
        build(source)


@pytest.mark.parametrize(
    "name", ["schema", "json", "copy", "model_dump", "_private", "type", "class_", "self_", "args"]
)
def test_a_parameter_may_have_any_name(name: str) -> None:
    assert build(f"def f({name}: int, other: str = 'a') -> str").call({name: 1}) == {name: 1, "other": "a"}
