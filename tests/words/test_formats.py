from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal

import pytest

from placet.values.run import RunStatus
from placet.words.formats import show_date, show_datetime, show_day, show_money, show_number, show_time, show_value


@pytest.mark.parametrize(
    ("value", "currency", "english", "portuguese", "romanian"),
    [
        (1234567.5, "BRL", "R$1,234,567.50", "R$ 1.234.567,50", "1.234.567,50 BRL"),
        (-10, "RON", "-RON 10.00", "-RON 10,00", "-10,00 lei"),
        (Decimal("0.005"), "EUR", "€0.01", "€ 0,01", "0,01 EUR"),
        (0.1 + 0.2, "USD", "$0.30", "US$ 0,30", "0,30 USD"),
        ("1500", "jpy", "¥1,500", "¥ 1.500", "1.500 JPY"),
        (1, "KWD", "KWD 1.000", "KWD 1,000", "1,000 KWD"),
        (-0.001, "USD", "$0.00", "US$ 0,00", "0,00 USD"),
        (5, None, "5.00", "5,00", "5,00"),
        ("soon", "EUR", "soon", "soon", "soon"),
        (True, "EUR", "yes", "sim", "da"),
        (1, "E\u202eUR", "E⟨U+202E⟩UR 1.00", "E⟨U+202E⟩UR 1,00", "1,00 E⟨U+202E⟩UR"),
    ],
)
def test_an_amount_has_its_currencys_digits_and_sign(
    value: object, currency: object, english: str, portuguese: str, romanian: str
) -> None:
    assert [show_money(value, language, currency) for language in ("en", "pt-BR", "ro")] == [
        english,
        portuguese,
        romanian,
    ]


def test_a_number_is_grouped_and_keeps_its_digits() -> None:
    assert show_number(1234567.25, "en") == "1,234,567.25"
    assert show_number("1234567.250", "ro") == "1.234.567,250"
    assert show_number(8842, "pt-BR") == "8.842"


def test_without_a_format_a_whole_number_is_not_grouped() -> None:
    assert show_value(1234567, "pt-BR") == "1234567"


def test_a_number_that_nobody_reads_is_not_written_out() -> None:
    assert len(show_money("1e3000000", "en", "EUR")) < 600
    assert len(show_number(Decimal("1e-3000000"), "en")) < 600
    assert len(show_value(10**9000, "en")) <= 500


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "—"), ("", "—"), (True, "yes"), (4.5, "4.5"), (["a", 2, None], "a, 2, —"), ([], "—"),
        (RunStatus.DONE, "done"), ({"a": 1}, '{"a": 1}'), (date(2026, 11, 14), "14 Nov 2026"),
        (list(range(30)), ", ".join(map(str, range(20))) + "…"),
    ],
)  # fmt: skip
def test_a_value_without_a_format_reads_as_a_person_would_write_it(value: object, text: str) -> None:
    assert show_value(value, "en") == text


def test_fractions_have_the_languages_own_sign() -> None:
    assert show_value(4.5, "pt-BR") == "4,5"


@pytest.mark.parametrize(
    "value", ["2026-11-14T10:00:00Z", "2026-11-14", date(2026, 11, 14), datetime(2026, 11, 14, tzinfo=UTC)]
)
def test_a_day_is_read_from_texts_dates_and_times(value: object) -> None:
    assert show_date(value, "ro") == "14.11.2026"
    assert show_day(value, "pt-BR") == "14/11"


def test_what_is_no_time_is_shown_as_it_is() -> None:
    assert show_datetime("tomorrow\n", "en") == "tomorrow "
    assert show_date(20261114, "en") == "20261114"


def test_a_day_has_no_time_of_day() -> None:
    assert show_time("2026-11-14", "en") == "—"
    assert show_datetime("2026-11-14", "en") == "14 Nov 2026"
    assert show_time(time(9, 5), "en") == "09:05"


def test_a_time_of_another_zone_stays_local_to_it_unless_the_persons_is_known() -> None:
    at = datetime(2026, 11, 14, 23, 30, tzinfo=timezone(timedelta(hours=-3)))

    assert show_time(at, "en") == "23:30"
    assert show_datetime(at, "ro", timezone(timedelta(hours=2))) == "15.11.2026, 04:30"


def test_a_time_at_the_end_of_the_calendar_is_shown() -> None:
    assert show_date(datetime.max.replace(tzinfo=UTC), "pt-BR", timezone(timedelta(hours=5))) == "31/12/9999"
