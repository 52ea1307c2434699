"""Naming: an alias depends on the exact name alone, every provider takes it, and no two names share one."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from placet.errors import ToolDefinitionError
from placet.tools.naming import alias_of
from placet.values.tool import TOOL_NAME, Remote

PROVIDERS = re.compile(r"[a-zA-Z0-9_-]{1,64}")

SEEN = st.text(st.characters(exclude_categories=["C", "Z"]) | st.just(" "), min_size=1, max_size=256)
ALIKE = st.text(st.sampled_from("aA-_./: \u0430é0f"), min_size=1, max_size=80)
"""Names of few letters, many of which would collapse onto one if what is not taken were only replaced."""
SOURCES = st.from_regex(r"[a-c](_?[a-c]){0,3}", fullmatch=True)


def alias(name: str, source: str = "adm", *, prefix: bool = False) -> str:
    return alias_of(Remote(source, name), prefix=prefix)


@pytest.mark.parametrize("name", ["send_email", "a", "_x", "get-rate", "Get_Rate", "x" * 64, "a__b", "functions_get"])
def test_a_name_that_every_provider_takes_is_its_own_alias(name: str) -> None:
    assert alias(name) == name


@pytest.mark.parametrize(
    ("name", "plain", "prefixed"),
    [
        ("admin.tools/list", "admin_tools_list_#", "adm__admin_tools_list_#"),
        ("2fa", "_2fa_#", "adm__2fa"),  # with the source before it every provider takes it
        ("-x", "_-x_#", "adm__-x"),
        ("x" * 65, "x" * 42 + "_#", "adm__" + "x" * 37 + "_#"),
        ("查询天气", "tool_#", "adm__tool_#"),
        ("\u0430dmin", "dmin_#", "adm__dmin_#"),
        ("send_email ", "send_email_#", "adm__send_email_#"),
        (" ", "tool_#", "adm__tool_#"),
        ("functions.get_rate", "functions_get_rate_#", "adm__functions_get_rate_#"),
        ("get_rate()", "get_rate_#", "adm__get_rate_#"),
    ],
)
def test_any_other_is_what_can_be_read_of_it_and_digits_of_its_own(name: str, plain: str, prefixed: str) -> None:
    """`#` stands for the digits."""
    digits = re.compile(r"_[0-9a-f]{20}\Z")

    assert digits.sub("_#", alias(name)) == plain
    assert digits.sub("_#", alias(name, prefix=True)) == prefixed


def test_an_alias_stays_what_it_is_from_release_to_release() -> None:
    """Policies, approvals and the ledger hold it."""
    assert alias("admin.tools/list") == "admin_tools_list_148795b5318fbc58ed7e"
    assert alias("admin.tools/list", prefix=True) == "adm__admin_tools_list_148795b5318fbc58ed7e"


@given(SEEN | ALIKE, st.booleans())
def test_every_provider_takes_every_alias(name: str, prefix: bool) -> None:
    made = alias(name, prefix=prefix)

    assert PROVIDERS.fullmatch(made)
    assert TOOL_NAME.fullmatch(made)
    assert made == alias(name, prefix=prefix)


@given(ALIKE, ALIKE, st.booleans())
def test_two_names_never_share_an_alias(one: str, other: str, prefix: bool) -> None:
    assert (alias(one, prefix=prefix) == alias(other, prefix=prefix)) is (one == other)


@given(ALIKE, st.booleans())
def test_a_name_that_is_another_s_alias_does_not_get_it(name: str, prefix: bool) -> None:
    made = alias(name, prefix=prefix)

    stolen = made.removeprefix("adm__")

    assert (alias(stolen, prefix=prefix) == made) is (stolen == name)


@given(SOURCES, st.text("a_", min_size=1, max_size=4), SOURCES, st.text("a_", min_size=1, max_size=4))
def test_with_the_source_before_them_two_tools_of_any_two_sources_never_share_an_alias(
    source: str, name: str, other_source: str, other: str
) -> None:
    same = (source, name) == (other_source, other)

    assert (alias(name, source, prefix=True) == alias(other, other_source, prefix=True)) is same


@pytest.mark.parametrize(
    "name",
    ["", "x" * 257, "a\nb", "a\tb", "\x1b[31mred", "a\u202eb", "a\u200bb", "\ud83d", "a\u00a0b", "\x00", "a\u2028b"],
)
def test_a_name_that_is_empty_endless_or_cannot_be_seen_is_refused(name: str) -> None:
    with pytest.raises(ToolDefinitionError, match="1 to 256 characters that can be seen") as raised:
        Remote("adm", name)

    assert str(raised.value).isascii()
    assert str(raised.value).isprintable()


@pytest.mark.parametrize("source", ["", "a__b", "a_", "_a", "1a", "a b", "a.b", "x" * 25, "\u0430dm", "a\n", "a/b"])
def test_a_source_is_called_by_a_plain_word(source: str) -> None:
    with pytest.raises(ToolDefinitionError, match="what a source of tools is called"):
        Remote(source, "look")


@pytest.mark.parametrize("source", ["a", "adm", "crm-2", "a_b_c", "A1", "x" * 24])
def test_such_a_source_is_taken(source: str) -> None:
    assert PROVIDERS.fullmatch(alias("look/up" * 30, source, prefix=True))


def test_names_that_look_alike_are_told_apart_where_they_are_shown() -> None:
    assert str(Remote("adm", "admin")) == "adm: 'admin'"
    assert str(Remote("adm", "\u0430dmin")) == "adm: '\\u0430dmin'"
    assert alias("\u0430dmin") != alias("admin") == "admin"
