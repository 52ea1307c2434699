import pytest

from shop.words import fold, money


@pytest.mark.parametrize(
    ("minor", "currency", "text"),
    [
        (41290, "BRL", "R$ 412,90"),
        (123456789, "BRL", "R$ 1.234.567,89"),
        (5, "RON", "0,05 lei"),
        (25999, "RON", "259,99 lei"),
        (-1050, "BRL", "R$ -10,50"),
    ],
)
def test_money_is_written_as_its_country_does(minor: int, currency: str, text: str) -> None:
    assert money(minor, currency) == text


@pytest.mark.parametrize(
    ("text", "folded"),
    [("São  Paulo ", "sao paulo"), ("ȘTEFAN Țîru", "stefan tiru"), ("Straße", "strasse"), ("%_", "%_")],
)
def test_folding_drops_case_accents_and_double_blanks(text: str, folded: str) -> None:
    assert fold(text) == folded
