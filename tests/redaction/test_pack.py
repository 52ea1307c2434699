import time
import timeit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from placet.redaction.pack import (
    KINDS,
    Finder,
    find_card,
    find_cnp,
    find_cnpj,
    find_cpf,
    find_cui,
    find_email,
    find_iban,
    find_nif,
    find_personal,
    find_phone,
    hide_personal,
    may_hold_personal,
)

PROSE = (
    "The parcel was handed to the carrier on Friday, and the customer says that it has not arrived yet; please look "
    "into it and tell her what we know about order 8842. "
) * 65


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("RO49AAAA1B31007593840000", "[iban]"),
        ("to RO49 AAAA 1B31 0075 9384 0000 and more", "to [iban] and more"),
        ("pt50000201231234567890154, br1500000000000010932840814p2", "[iban], [iban]"),
        ("4111 1111 1111 1111", "[card]"),
        ("card:4111-1111-1111-1111.", "card:[card]."),
        ("378282246310005 exp 12/29", "[card] exp 12/29"),
        ("4111111111111111 12/29 123, 4111 1111 1111 1111 123", "[card] 12/29 123, [card] 123"),
        ("3782 822463 10005, 4111-1111-1111-1111-123", "[card], [card]-123"),
        ("Ana.Souza+x@ex-ample.co.uk.", "[email]."),
        ("<mailto:ana@shop.example>", "<mailto:[email]>"),
        ("joão@café.example, a@b.co", "[email], [email]"),
        ("+55 11 98765-4321", "[phone]"),
        ("order 8842 +40 722 123 456", "order 8842 [phone]"),
        ("tel +40722123456, (11) 98765-4321", "tel [phone], [phone]"),
        ("11 3456-7890 / 0722 123 456 / 0722123456", "[phone] / [phone] / [phone]"),
        ("021 312 34 56; 912 345 678", "[phone]; [phone]"),
        ("CPF 529.982.247-25 ou 52998224725", "CPF [cpf] ou [cpf]"),
        ("11.222.333/0001-81 11222333000181", "[cnpj] [cnpj]"),
        ("12.ABC.345/01DE-35, 12abc34501de35", "[cnpj], [cnpj]"),
        ("CNP 1800101221144", "CNP [cnp]"),
        ("RO14399840, CUI: 14399840, cod fiscal 14399840", "RO[cui], CUI: [cui], cod fiscal [cui]"),
        ("NIF 501442600, 501442600", "NIF [nif], 501442600"),
        ("CUI 14399840, 14399840", "CUI [cui], 14399840"),
        ("52998224725@x.example, ana@11222333000181.example", "[email], [email]"),
        ("PT501442600, NIF 501 442 600, contribuinte n.º 501442600", "PT[nif], NIF [nif], contribuinte n.º [nif]"),
    ],
)
def test_personal_data_are_replaced_by_their_kind(text: str, hidden: str) -> None:
    assert hide_personal(text) == hidden


@pytest.mark.parametrize(
    "text",
    [
        "order 8842, order #10457, pedido 123456789, comanda 9121",
        "tracking BR123456789BR, RR123456785RO, 1Z999AA10123456784, JD014600006281230701",
        "1763112345, 1763112345678, 1763112345678901",
        "20261114103000 and 2026-11-14T10:30:00.123456Z, 14/11/2026 10:30, 10:30:00",
        "550e8400-e29b-41d4-a716-446655440000 12345678-1234-4234-8234-123456789012",
        "550e8400-e29b-41d4-be12-446655440006, whose end would be a Belgian account",
        "20261114000011, a time with the check digits of a CNPJ",
        "ISBN 9780101010061, a book with the check digit of a CNP",
        "R$ 1.234.567,89 and $1,234,567.89, 412,90 lei, 1234567.89",
        "ISBN 978-85-359-1484-9, 9788535914849, EAN 5901234123457",
        "501442600 and 14399840, without a word on what they are",
        "RO49AAAA1B31007593840001, PT50000201231234567890155",
        "4111 1111 1111 1112, 1234 5678 9012 3456",
        "529.982.247-26, 52998224724, 11.222.333/0001-82, 1800101221145",
        "v1.2.3.4, 192.168.100.200, 10.0.0.1:8080, sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822c",
        "@handle, a@b, foo@, @, user at example.com",
        "run_01JC3Z7Q0T2V9, apr_7, c17, CEP 01310-100, 100 200 300 400",
        "",
    ],
)
def test_what_only_looks_like_personal_data_stays(text: str) -> None:
    assert hide_personal(text) == text


@pytest.mark.parametrize(
    ("finder", "text", "found"),
    [
        (find_iban, "x RO49 AAAA 1B31 0075 9384 0000.", ["RO49 AAAA 1B31 0075 9384 0000"]),
        (find_card, "4111111111111111 4111111111111112", ["4111111111111111"]),
        (find_email, "a@b.co c@d.co", ["a@b.co", "c@d.co"]),
        (find_phone, "call +351 912 345 678!", ["+351 912 345 678"]),
        (find_cpf, "52998224725", ["52998224725"]),
        (find_cnpj, "11222333000181", ["11222333000181"]),
        (find_cnp, "1800101221144", ["1800101221144"]),
        (find_cui, "RO14399840", ["14399840"]),
        (find_nif, "PT501442600", ["501442600"]),
    ],
)  # fmt: skip
def test_a_finder_says_where(finder: Finder, text: str, found: list[str]) -> None:
    assert [text[start:end] for start, end in finder(text)] == found


def test_only_the_kinds_that_are_asked_for_are_found() -> None:
    text = "ana@shop.example 52998224725"

    assert hide_personal(text, frozenset({"cpf"})) == "ana@shop.example [cpf]"
    assert [found.kind for found in find_personal(text)] == ["email", "cpf"]


PIECES = [
    "+10000000", "[", "]", "11 98765-4321", "912 345 678", "12ABC34501DE35", "PT501442600", "1Z",
    "RO49AAAA1B31007593840000", "a@b.co", "52998224725", "+40722123456", "4111 1111 1111 1111", " ", "1", "-", "@",
    "cui ", "RO14399840", "nif", "501442600", "1800101221144", ".", "\ud800", "11.222.333/0001-81",
]  # fmt: skip
MIXED = st.lists(st.text() | st.sampled_from(PIECES)).map("".join)


@given(MIXED)
@example("RO49AAAA1B31007593840000" + 6 * "+10000000")
@example("52998224725" + 6 * "-52998224725")
def test_hiding_twice_is_hiding_once_and_raises_nothing(text: str) -> None:
    hidden = hide_personal(text)

    assert hide_personal(hidden) == hidden


@given(MIXED)
def test_the_first_glance_misses_nothing_that_a_finder_finds(text: str) -> None:
    assert may_hold_personal(text) or not any(finder(text) for finder, _ in KINDS.values())


def test_plain_prose_costs_a_tenth_of_what_the_finders_cost() -> None:
    def run_all_finders() -> None:
        for finder, _ in KINDS.values():
            finder(PROSE)

    glance = min(timeit.repeat(lambda: find_personal(PROSE), number=20, repeat=3))
    finders = min(timeit.repeat(run_all_finders, number=20, repeat=3))

    assert glance < finders / 10


@pytest.mark.parametrize(
    "piece", ["1", "1 ", "1-", "+1 ", "(11) ", "RO49 ", "a@", "@b.c", "a@b.", "nif", "cui ", "a.", "07", "A1"]
)
def test_no_text_makes_the_finders_slow(piece: str) -> None:
    text = (piece * 50_000)[:50_000]
    started = time.perf_counter()
    hide_personal(text)

    assert time.perf_counter() - started < 5  # a fraction of a second where it is linear, minutes where it is not
