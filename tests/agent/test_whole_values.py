"""What stands in a person's words by accident is not theirs: each line is one accident, or what is given beside it."""

import time

import pytest

from placet.agent.whole_values import is_said, stands_anywhere, stands_whole, text_of
from placet.values.json import Json

THEIRS, ACCIDENT = True, False


def said(value: Json, words: str, name: str = "to") -> bool:
    return is_said(name, value)(text_of(words))


@pytest.mark.parametrize(
    ("value", "words", "expected"),
    [
        # ordinary words, and names
        ("password", "Check my account, and change the password", ACCIDENT),
        ("Password", "Check my account, and change the password", ACCIDENT),
        ("Please", "Please pay the bill", ACCIDENT),
        ("Then", "Pay it. Then tell me", ACCIDENT),
        ("Then", "Pay it\n- Then tell me", ACCIDENT),
        ("the bill", "Please pay the bill", ACCIDENT),
        ("pay the bill", "Please pay the bill", ACCIDENT),
        ("I", "May I pay?", ACCIDENT),
        ("June", "Pay in June", ACCIDENT),
        ("Ana", "Pay Ana", THEIRS),
        ("Ana", "Pay Ana's bill", THEIRS),
        ("ana", "pay ana", ACCIDENT),
        ("Check", "Security Check: Check the list", ACCIDENT),
        ("Check", "Ask for the Check, Check it", THEIRS),
        ("iPhone", "iPhone prices, please", THEIRS),
        ("bill", "PAY THE BILL NOW", ACCIDENT),
        ("password", "CHANGE PASSWORD", ACCIDENT),
        ("EUR", "Pay 50 EUR to Ana", THEIRS),
        # parts of names
        ("Ana", "Pay Ana Pop", ACCIDENT),
        ("Pop", "Pay Ana Pop", ACCIDENT),
        ("Ana Pop", "Pay Ana Pop", THEIRS),
        ("Elm Street", "I live at 1234 Elm Street, New York", ACCIDENT),
        ("1234 Elm", "I live at 1234 Elm Street, New York", ACCIDENT),
        ("1234 Elm Street", "I live at 1234 Elm Street, New York", THEIRS),
        ("New York", "I live at 1234 Elm Street, New York", THEIRS),
        ("Brien", "Tell O'Brien", ACCIDENT),
        ("O'Brien", "Tell O\u2019Brien", THEIRS),
        # quoted, marked, dictated
        ("password", "Change it to 'password'", THEIRS),
        ("password", 'Change it to "password".', THEIRS),
        ("see you", "Say \u201esee you\u201d to all", THEIRS),
        ("see", "Say 'see you' to all", ACCIDENT),
        ("see you at noon", "Tell Ana: see you at noon", THEIRS),
        ("see you", "Tell Ana: see you at noon", ACCIDENT),
        ("ana", "tell @ana", THEIRS),
        # parts of longer values
        ("bill", "Pay 'bill-2023.txt'", ACCIDENT),
        ("bill-2023", "Pay 'bill-2023.txt'", ACCIDENT),
        ("bill-2023.txt", "Pay 'bill-2023.txt'", THEIRS),
        ("2023.txt", "Pay 'bill-2023.txt'", ACCIDENT),
        ("ana", "Write to ana@shop.example", ACCIDENT),
        ("ana", "Write to ana+list@shop.example", ACCIDENT),
        ("shop.example", "Write to ana@shop.example", ACCIDENT),
        ("shop.example", "See https://shop.example/pay?id=7", ACCIDENT),
        ("https://shop.example/pay", "See https://shop.example/pay/7", ACCIDENT),
        ("https://shop.example/sell", "See https://shop.example/pay", ACCIDENT),
        ("users", r"Open C:\users\ana", ACCIDENT),
        ("follow", "Send the follow-up", ACCIDENT),
        ("follow-up", "Send the follow-up", ACCIDENT),
        ("Pop", "Tell Ana\u2013Pop", ACCIDENT),
        ("2022-06", "On 2022-06-13", ACCIDENT),
        ("2022-06-13", "On 2022-06-13", THEIRS),
        ("13/06", "On 13/06/2022", ACCIDENT),
        ("NWBK", "Pay GB29 NWBK 6016 1331 9268 19", ACCIDENT),
        ("GB29", "Pay GB29 NWBK 6016 1331 9268 19", ACCIDENT),
        ("GB29 NWBK 6016", "Pay GB29 NWBK 6016 1331 9268 19", ACCIDENT),
        ("gb29", "pay gb29 nwbk 6016 1331 9268 19", ACCIDENT),
        ("GB29NWBK60161331926819", "pay gb29 nwbk 6016 1331 9268 19", THEIRS),
        ("AB12", "Pay order AB12 for Ana", THEIRS),
        # look-alikes
        ("\u0430na@shop.example", "Write to ana@shop.example", ACCIDENT),
        ("\uff41na@shop.example", "Write to ana@shop.example", ACCIDENT),
        ("ana@shop.example", "Write to \uff41na@shop.example", THEIRS),
        ("ana@\u017fhop.example", "Write to ana@shop.example", ACCIDENT),
        ("ana@strasse.example", "Write to ana@stra\u00dfe.example", ACCIDENT),
        ("a\u200bna@shop.example", "Write to ana@shop.example", ACCIDENT),
        ("Jose\u0301", "Tell Jos\u00e9", THEIRS),
        ("\u0130stanbul", "Fly to \u0130stanbul", THEIRS),
    ],
)  # fmt: skip
def test_a_text_is_the_persons_only_where_it_looks_given(value: str, words: str, expected: bool) -> None:
    assert said(value, words) is expected


@pytest.mark.parametrize(
    ("value", "words", "expected"),
    [
        (500, "Pay 500 now", THEIRS),
        (500, "Pay 500, then stop", THEIRS),
        (500, "Pay 500,00", THEIRS),
        (500, "Pay $500", THEIRS),
        (500, "Pay 500\u20ac", THEIRS),
        (-60, "Correct it by -60", THEIRS),
        (60, "Correct it by -60", ACCIDENT),
        (60, "Correct it by \u221260", ACCIDENT),
        (60, "Correct it by minus 60", ACCIDENT),
        (1, "Pay 1,000", ACCIDENT),
        (1000, "Pay 1,000", ACCIDENT),
        (1, "Pay 1.000", ACCIDENT),
        (1000, "Pay 1.000", ACCIDENT),
        (0.125, "Pay 0.125", THEIRS),
        (125, "Pay 0.125", ACCIDENT),
        (1234.567, "Pay 1234.567", THEIRS),
        (1000.5, "Pay 1,000.50", THEIRS),
        (1000.5, "Pay 1.000,50", THEIRS),
        (1000000, "Pay 1,000,000", THEIRS),
        (123.4, "Pay 1.2,3.4", ACCIDENT),
        (1, "Pay 1'900", ACCIDENT),
        (900, "Pay 1'900", ACCIDENT),
        (250, "Pay 1 250", ACCIDENT),
        (1, "Pay 1 250", ACCIDENT),
        (19, "Add 19.5%", ACCIDENT),
        (19.5, "Add 19.5%", ACCIDENT),
        (15, "Add 15 %", ACCIDENT),
        (3, "Pay 3 million", ACCIDENT),
        (3, "Pague 3 mil", ACCIDENT),
        (10, "Pay 10k", ACCIDENT),
        (10, "Pay 10\u00b2", ACCIDENT),
        (1, "Take \u00bd of it, or 1\u00bd", ACCIDENT),
        (4, "Take 4/5", ACCIDENT),
        (10, "Pay 10-20", ACCIDENT),
        (20, "Pay 10\u201320", ACCIDENT),
        (2, "Pay 2*60", ACCIDENT),
        (60, "Pay 2*60", ACCIDENT),
        (13, "See #13", ACCIDENT),
        (7, "At 10:07", ACCIDENT),
        (10, "At 10:07", ACCIDENT),
        (8080, "See mail.example:8080/bills", ACCIDENT),
        (77, "See mail.example/bills/77", ACCIDENT),
        (40, "Call +40 721 000 111", ACCIDENT),
        (721, "Call +40 721 000 111", ACCIDENT),
        (6016, "Pay GB29 NWBK 6016 1331 9268 19", ACCIDENT),
        (2, "The 2nd time", ACCIDENT),
    ],
)  # fmt: skip
def test_a_number_is_the_persons_only_where_it_stands_alone_and_can_be_read_in_one_way(
    value: float, words: str, expected: bool
) -> None:
    assert said(value, words, "amount") is expected


@pytest.mark.parametrize(("value", "expected"), [("1j1l-2k3j", THEIRS), ("1J1L-2K3J", ACCIDENT)])
def test_the_case_of_a_secret_is_a_difference(value: str, expected: bool) -> None:
    assert said(value, "Set my password to '1j1l-2k3j'", "password") is expected
    assert said(value, "Set my nickname to '1j1l-2k3j'", "nickname")


def test_what_is_no_text_and_no_number_is_said_by_nobody() -> None:
    text = text_of("true null none")

    for value in (True, False, None):
        assert not is_said("x", value)(text)
        assert not stands_anywhere(value)(text)
        assert not stands_whole(value)(text)


def test_a_stranger_s_text_holds_a_value_also_where_it_may_be_another() -> None:
    text = text_of("Pay 1,000 to general, 15 %")

    assert all(stands_anywhere(value)(text) for value in (1, 1000, 15, "general"))
    assert not any(stands_whole(value)(text) for value in (1, 1000, 15))
    assert stands_whole("general")(text)


@pytest.mark.parametrize("words", ["a ", "A ", "1 ", "AB12 ", "'", "1.", " \n", "A.", "file 1, "])
def test_the_time_that_it_takes_grows_with_the_length_of_the_text_and_no_faster(words: str) -> None:
    text, began = text_of("x" + words * 10_000), time.process_time()

    for value in ("a", "A A", "1", 1, "GB29NWBK60161331926819"):
        is_said("x_id", value)(text)
        stands_whole(value)(text)

    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    ("name", "words", "theirs", "others"),
    [
        ("to", "Pay ana@shop.example", ["ana@shop.example"], ["ana", "shop.example"]),
        ("to", "Tell Ana Pop", ["Ana Pop"], ["Ana"]),
        ("password", "change the password to 'tulip'", ["tulip"], ["password"]),
        ("file_id", "delete file 13 by June 14, 2026", [13, "13"], [14, 2026, "2026"]),
        ("amount", "pay 500", [500], []),
        ("amount", "pay 1,000, and 15 % more", [], [1, 1000, 15]),
    ],
)
def test_what_the_page_on_approvals_says_counts_as_said(
    name: str, words: str, theirs: list[Json], others: list[Json]
) -> None:
    assert all(said(value, words, name) for value in theirs)
    assert not any(said(value, words, name) for value in others)
