"""Compared with python-stdnum, which others wrote and many use."""

from collections.abc import Callable

import pytest
import stdnum.br.cnpj
import stdnum.br.cpf
import stdnum.iban
import stdnum.luhn
import stdnum.pt.nif
import stdnum.ro.cnp
import stdnum.ro.cui
from hypothesis import given, settings
from hypothesis import strategies as st

from placet.redaction.checksums import (
    IBAN_LENGTHS,
    is_card,
    is_cnp,
    is_cnpj,
    is_cpf,
    is_cui,
    is_ean_book,
    is_iban,
    is_nif,
)

DIGITS = "0123456789"
LETTERS = DIGITS + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def texts(length: int, alphabet: str = DIGITS) -> st.SearchStrategy[str]:
    return st.text(alphabet=alphabet, min_size=length, max_size=length)


CNP = st.builds(
    "{}{:02}{:02}{:02}{:02}{}".format,
    st.integers(1, 9), st.integers(0, 99), st.integers(1, 12), st.integers(1, 31), st.integers(0, 99), texts(4),
)  # fmt: skip


@pytest.mark.parametrize(
    ("ours", "theirs", "numbers"),
    [
        pytest.param(is_cpf, stdnum.br.cpf.is_valid, texts(11), id="cpf"),
        pytest.param(is_cnpj, stdnum.br.cnpj.is_valid, texts(14), id="cnpj"),
        pytest.param(is_nif, stdnum.pt.nif.is_valid, texts(9), id="nif"),
        pytest.param(is_cui, stdnum.ro.cui.is_valid, st.integers(2, 10).flatmap(texts), id="cui"),
        pytest.param(is_cnp, stdnum.ro.cnp.is_valid, CNP, id="cnp"),
    ],
)
@settings(max_examples=300)
@given(data=st.data())
def test_any_number_is_judged_as_the_oracle_judges_it(
    ours: Callable[[str], bool], theirs: Callable[[str], bool], numbers: st.SearchStrategy[str], data: st.DataObject
) -> None:
    number = data.draw(numbers)
    last_two = [number[:-2] + f"{end:02}" for end in range(100)]  # one of these at least is right

    assert [one for one in last_two if ours(one)] == [one for one in last_two if theirs(one)]


@settings(max_examples=300)
@given(texts(12, LETTERS))
def test_a_company_number_with_letters_has_the_oracles_check_digits(base: str) -> None:
    digits = stdnum.br.cnpj.calc_check_digits(base)

    assert is_cnpj(base + digits) is (len(set(base + digits)) > 1)
    assert not is_cnpj(base + f"{(int(digits) + 1) % 100:02}")


@settings(max_examples=300)
@given(country=st.sampled_from(sorted(IBAN_LENGTHS)), data=st.data())
def test_an_account_has_the_oracles_check_digits(country: str, data: st.DataObject) -> None:
    account = data.draw(texts(IBAN_LENGTHS[country] - 4, LETTERS))
    number = stdnum.iban.calc_check_digits(f"{country}00{account}")
    wrong = f"{(int(number) + 1) % 100:02}"

    assert is_iban(f"{country}{number}{account}")
    assert is_iban(f"{country}{number}{account}".lower())
    assert not is_iban(f"{country}{wrong}{account}")
    assert not is_iban(f"{country}{number}{account}0")


@pytest.mark.parametrize(
    ("country", "length"), [("RO", 24), ("PT", 25), ("BR", 29), ("DE", 22), ("NO", 15), ("MT", 31)]
)
def test_an_account_is_as_long_as_its_country_has_them(country: str, length: int) -> None:
    assert IBAN_LENGTHS[country] == length


@pytest.mark.parametrize(
    "card",
    [
        "4111111111111111", "5555555555554444", "2223003122003222", "378282246310005", "30569309025904",
        "6011111111111117", "3530111333300000", "6200000000000005", "6062826786276634", "6362970000457013",
    ],
)  # fmt: skip
def test_the_networks_own_test_cards_are_cards(card: str) -> None:
    assert is_card(card)
    assert not is_card(card[:-1] + str((int(card[-1]) + 1) % 10))


@settings(max_examples=300)
@given(texts(12).map("4539".__add__))
def test_a_number_with_a_cards_prefix_is_one_if_the_oracle_says_so(number: str) -> None:
    assert is_card(number) is bool(stdnum.luhn.is_valid(number))


@pytest.mark.parametrize("number", ["1111111111111117", "4111111111111", "0000000000000000", "9999999999999995"])
def test_what_no_network_issues_is_no_card(number: str) -> None:
    assert not is_card(number)


def test_a_books_number_is_known() -> None:
    assert is_ean_book("9788535914849")
    assert not is_ean_book("9788535914848")
    assert not is_ean_book("5901234123457")
