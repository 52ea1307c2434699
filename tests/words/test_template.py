import json
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from placet.errors import ConfigurationError
from placet.words.escape import make_visible
from placet.words.template import ITEMS, TEXT_CHARACTERS, Template, check_template, choose, fill

ORDER = {
    "order_id": 8842,
    "customer": {"name": "Ana Souza"},
    "total": "412.90",
    "currency": "BRL",
    "paid_in": "RON",
    "shipped_at": "2026-11-14T14:30:00+00:00",
    "orders": [{"id": 1, "title": "Ion"}, {"id": 2}],
    "none": [],
    "zero": 0,
    "no": False,
}


def say(template: str, language: str = "en", **more: Any) -> str:
    return fill(template, {**ORDER, **more}, language=language)


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("order {order_id}…", "order 8842…"),
        ("{customer.name}", "Ana Souza"),
        ("{orders.count} orders", "2 orders"),
        ("{#orders}[{id}]{/orders}", "[1][2]"),
        ("{#orders:, }{id} {title}{/orders}", "1 Ion, 2 —"),
        ("{#orders}{id}{?title}: {title}{/title};{/orders}", "1: Ion;2;"),
        ("{#orders}{customer.name} {/orders}", "Ana Souza Ana Souza "),
        ("{?none}some{/none}{!none}none{/none}", "none"),
        ("{?zero}there{/zero}{?no}yes{/no}{?missing}yes{/missing}", "there"),
        ("{{{order_id}}}", "{8842}"),
        ("", ""),
    ],
)
def test_values_stand_in_their_places(template: str, text: str) -> None:
    assert say(template) == text


def test_a_dot_alone_is_all_that_there_is() -> None:
    assert json.loads(say("{.}")) == ORDER


def test_the_items_of_a_list_of_texts_are_reached_by_a_dot() -> None:
    assert say("{#tags:, }{.}{/tags}", tags=["new", "gift"]) == "new, gift"


@pytest.mark.parametrize(
    ("template", "english", "portuguese", "romanian"),
    [
        ("{total:money}", "R$412.90", "R$ 412,90", "412,90 BRL"),
        ("{total:money RON}", "RON 412.90", "RON 412,90", "412,90 lei"),
        ("{total:money paid_in}", "RON 412.90", "RON 412,90", "412,90 lei"),
        ("{shipped_at:date}", "14 Nov 2026", "14/11/2026", "14.11.2026"),
        ("{shipped_at:day}", "14 Nov", "14/11", "14.11"),
        ("{shipped_at:time}", "14:30 UTC", "14:30 UTC", "14:30 UTC"),
        ("{shipped_at:datetime}", "14 Nov 2026, 14:30 UTC", "14/11/2026 14:30 UTC", "14.11.2026, 14:30 UTC"),
        ("{zero:number}", "0", "0", "0"),
        ("{no}", "no", "não", "nu"),
    ],
)
def test_formats_follow_the_language(template: str, english: str, portuguese: str, romanian: str) -> None:
    assert [say(template, language) for language in ("en", "pt-BR", "ro")] == [english, portuguese, romanian]


def test_times_are_told_where_the_person_is() -> None:
    zone = timezone(timedelta(hours=-3))

    assert fill("{shipped_at:datetime}", ORDER, language="pt-BR", zone=zone) == "14/11/2026 11:30"


def test_the_currency_of_an_item_is_its_own_before_that_of_the_whole() -> None:
    items = [{"price": 10, "currency": "EUR"}, {"price": Decimal("7.5")}]

    assert say("{#items:; }{price:money}{/items}", items=items) == "€10.00; R$7.50"


def test_a_value_that_is_missing_is_a_dash() -> None:
    assert (
        say("{nope} {customer.nope} {order_id.x} {customer.name.count} {gone} {nope:money}", gone=None) == "— — — — — —"
    )


def test_a_value_is_never_read_as_a_template_nor_as_a_format() -> None:
    assert say("{note}", note="{order_id} {0.__class__} {{x}} %s") == "{order_id} {0.__class__} {{x}} %s"


def test_no_attribute_of_an_object_can_be_reached() -> None:
    assert say("{when.year} {when.tzinfo}", when=datetime(2026, 1, 1, tzinfo=UTC)) == "— —"


def test_values_are_escaped_and_stand_on_one_line() -> None:
    assert say("note: {note}.", note="a\r\n\nb\u202e\x1b[31m") == "note: a b⟨U+202E⟩⟨U+001B⟩[31m."


def test_the_templates_own_line_breaks_stay() -> None:
    assert say("one\n- {order_id}") == "one\n- 8842"


def test_values_lists_and_texts_are_cut() -> None:
    assert len(say("{note}", note="x" * 10_000)) == 500
    assert say("{#many}{.},{/many}", many=list(range(10**6))).endswith(f"{ITEMS - 1},…")
    assert len(say("{#many}{note}{/many}", many=list(range(50)), note="x" * 500)) == TEXT_CHARACTERS


class Broken:
    def __str__(self) -> str:
        raise RuntimeError("no text")


ODD = {
    "nan": float("nan"), "infinity": float("-inf"), "huge": 10**5000, "huge negative": -(10**5000), "huge float": 1e300,
    "huge decimal": Decimal("1e999999"), "text": "x", "surrogate": "\ud800", "bytes": b"x", "empty list": [],
    "empty object": {}, "object": object(), "broken": Broken(),
}  # fmt: skip


@pytest.mark.parametrize("value", [pytest.param(value, id=name) for name, value in ODD.items()])
@pytest.mark.parametrize("form", ["", ":money BRL", ":money", ":number", ":date", ":day", ":time", ":datetime"])
def test_no_value_makes_a_template_raise(value: object, form: str) -> None:
    assert isinstance(say(f"{{value{form}}}", value=value), str)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(value=JSON, language=st.sampled_from(["en", "pt-BR", "ro", "xx"]))
def test_no_json_makes_a_template_raise_or_show_what_cannot_be_seen(value: Any, language: str) -> None:
    template = "{v} {v:money} {v:date} {v.a.b} {v.count} {#v:|}{.} {a:number}{/v} {?v}x{/v}"

    text = fill(template, {"v": value}, language=language)

    assert make_visible(text) == (text, False)


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("{", "lone '{'"),
        ("a}", "lone '}'"),
        ("{}", "no place"),
        ("{0}", "no place"),
        ("{a b}", "no place"),
        ("{a!r}", "no place"),
        ("{a[0]}", "no place"),
        ("{order_id:>10}", "unknown format"),
        ("{order_id:money reais!}", "neither a currency"),
        ("{#orders}", "never closed"),
        ("{/orders}", "closes nothing"),
        ("{#orders}{?title}{/orders}{/title}", "closes nothing"),
        ("{?orders:, }{/orders}", "nothing after a colon"),
        ("{#a}{#a}{#a}{#a}{/a}{/a}{/a}{/a}", "deeper"),
    ],
)
def test_a_malformed_template_is_refused_when_it_is_built(template: str, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        check_template(template, {"a", "orders", "order_id", "orders.title"})


KNOWN = {"order_id", "customer.name", "orders", "orders.id", "orders.lines", "orders.lines.sku", "meta.*", "total"}


@pytest.mark.parametrize(
    "template",
    [
        "{order_id} {customer.name} {customer} {orders.count} {total:money}",
        "{#orders}{id} {order_id} {.} {lines.count}{#lines}{sku} {id} {customer.name}{/lines}{/orders}",
        "{meta.anything.at.all}",
        "{?customer}{customer.name}{/customer}",
    ],
)
def test_names_that_are_known_pass(template: str) -> None:
    check_template(template, KNOWN)


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("{ordr_id}", "did you mean 'order_id'"),
        ("{customer.nam}", "did you mean 'customer.name'"),
        ("{id}", "'id'"),
        ("{#orders}{sku}{/orders}", "'sku'"),
        ("{.}", "'.'"),
        ("{total:money currency_code}", "'currency_code'"),
        ("{total.count.count}", "'total.count.count'"),
    ],
)
def test_a_name_that_will_never_be_there_is_refused_when_it_is_built(template: str, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        check_template(template, KNOWN)


def test_the_same_text_is_read_once() -> None:
    assert Template.compile("{order_id}!") is Template.compile("{order_id}!")


@pytest.mark.parametrize(("language", "text"), [("en", "E"), ("pt-BR", "P"), ("pt-PT", "P"), ("ro", "E"), ("de", "E")])
def test_a_text_is_chosen_by_language_else_in_english(language: str, text: str) -> None:
    assert choose({"pt": "P", "en": "E"}, language) == text


def test_without_english_any_text_is_better_than_none() -> None:
    assert choose({"ro": "R"}, "en") == "R"
    assert choose({}, "en") == ""
