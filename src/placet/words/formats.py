"""How a value looks to a person: amounts, numbers, dates and times in three languages.

Nothing here raises, whatever the data is: what cannot be formatted is shown as it is, escaped,
and what is not there is shown as a dash.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time, tzinfo
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation
from enum import Enum
from typing import Final, cast

from placet.values.json import Json
from placet.words.escape import escape_json, make_visible

DASH: Final = "—"
"""What stands for a value that is not there."""

VALUE_CHARACTERS: Final = 500
"""How much of one value is shown."""
_ITEMS_IN_LINE: Final = 20
"""How many items of a list are shown when the list itself is the value."""

_BREAKS: Final = re.compile(r"\s*[\r\n]+\s*")
_YES_NO: Final = {"en": ("no", "yes"), "pt-BR": ("não", "sim"), "ro": ("nu", "da")}
_SWAPPED: Final = str.maketrans(",.", ".,")
_EXACT: Final = Context(prec=80, rounding=ROUND_HALF_UP)
_LARGEST_EXPONENT: Final = 30
"""Numbers past this are shown as they are: nobody reads them, and writing them out costs."""

_DIGITS_OF_CURRENCY: Final = {
    **dict.fromkeys(("CLP", "ISK", "JPY", "KRW", "PYG", "UGX", "VND", "XAF", "XOF", "XPF"), 0),
    **dict.fromkeys(("BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"), 3),
}
"""Where it is not two (ISO 4217)."""
_SIGNS: Final = {
    "en": {"BRL": "R$", "EUR": "€", "GBP": "£", "JPY": "¥", "USD": "$"},
    "pt-BR": {"BRL": "R$ ", "EUR": "€ ", "GBP": "£ ", "JPY": "¥ ", "USD": "US$ "},
    "ro": {"RON": " lei"},
}
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def show_text(text: str) -> str:
    """Return a text escaped, on one line, and cut to `VALUE_CHARACTERS`."""
    if len(text) <= VALUE_CHARACTERS:
        if text.isascii() and text.isprintable():
            return text
    else:
        text = text[: VALUE_CHARACTERS - 1] + "…"
    return make_visible(_BREAKS.sub(" ", text))[0]


def show_value(  # noqa: C901, PLR0911 - a table: one line for each type
    value: object, language: str, zone: tzinfo | None = None
) -> str:
    """Return any value as a person reads it, without a format asked for.

    Whole numbers stay ungrouped: most are numbers of orders, not amounts.
    """
    match value:
        case None:
            return DASH
        case str():
            return show_text(str(value.value) if isinstance(value, Enum) else value) or DASH
        case bool():
            return _YES_NO.get(language, _YES_NO["en"])[value]
        case int():
            return _whole(value)
        case float() | Decimal():
            return show_text(str(value) if language == "en" else str(value).replace(".", ","))
        case datetime():
            return show_datetime(value, language, zone)
        case date():
            return show_date(value, language, zone)
        case Mapping():
            return show_text(escape_json(cast("Json", value)).text)
        case Sequence():
            items = cast("Sequence[object]", value)
            shown = [show_value(item, language, zone) for item in items[:_ITEMS_IN_LINE]]
            return ", ".join(shown) + ("…" if len(items) > _ITEMS_IN_LINE else "") or DASH
        case Enum():
            return show_value(value.value, language, zone)
        case _:
            return show_text(str(value))


def show_money(value: object, language: str, currency: object) -> str:
    """Return an amount with its currency, rounded half up to the currency's digits.

    Args:
        value: A number, or a text that is one (`"412.90"`).
        language: Of the person.
        currency: ISO 4217 code. None shows the bare number.
    """
    amount = _decimal(value)
    if amount is None:
        return show_value(value, language)
    code = currency.strip().upper() if isinstance(currency, str) else ""
    digits = _DIGITS_OF_CURRENCY.get(code, 2)
    rounded = amount.quantize(Decimal(1).scaleb(-digits), context=_EXACT)
    number = _local(f"{abs(rounded):,.{digits}f}", language)
    minus = "-" if rounded < 0 else ""
    if not code:
        return minus + number
    signs = _SIGNS.get(language, _SIGNS["en"])
    shown_code = show_text(code)
    if language == "ro":
        return minus + number + signs.get(code, f" {shown_code}")
    return minus + signs.get(code, f"{shown_code} ") + number


def show_number(value: object, language: str) -> str:
    """Return a number grouped by thousands, with all its digits after the point."""
    amount = _decimal(value)
    return show_value(value, language) if amount is None else _local(f"{amount:,f}", language)


def show_date(value: object, language: str, zone: tzinfo | None = None) -> str:
    """Return the day with its year: `14 Nov 2026`, `14/11/2026`, `14.11.2026`."""
    at = _moment(value, zone)
    if at is None:
        return show_value(value, language)
    if language == "en":
        return f"{at.day} {_MONTHS[at.month - 1]} {at.year:04}"
    return (
        f"{at.day:02}/{at.month:02}/{at.year:04}" if language == "pt-BR" else f"{at.day:02}.{at.month:02}.{at.year:04}"
    )


def show_day(value: object, language: str, zone: tzinfo | None = None) -> str:
    """Return the day without its year: `14 Nov`, `14/11`, `14.11`."""
    at = _moment(value, zone)
    if at is None:
        return show_value(value, language)
    if language == "en":
        return f"{at.day} {_MONTHS[at.month - 1]}"
    return f"{at.day:02}/{at.month:02}" if language == "pt-BR" else f"{at.day:02}.{at.month:02}"


def show_time(value: object, language: str, zone: tzinfo | None = None) -> str:
    """Return the time of day, `14:30`; with ` UTC` where it is one and no zone was given."""
    if isinstance(value, time):
        return f"{value:%H:%M}"
    at = _moment(value, zone)
    if at is None:
        return show_value(value, language)
    if not isinstance(at, datetime):
        return DASH
    utc = " UTC" if zone is None and at.tzinfo is not None and not at.utcoffset() else ""
    return f"{at:%H:%M}{utc}"


def show_datetime(value: object, language: str, zone: tzinfo | None = None) -> str:
    """Return day and time: `14 Nov 2026, 14:30`, `14/11/2026 14:30`, `14.11.2026, 14:30`."""
    at = _moment(value, zone)
    if at is None:
        return show_value(value, language)
    day = show_date(at, language)
    if not isinstance(at, datetime):
        return day
    return f"{day}{' ' if language == 'pt-BR' else ', '}{show_time(value, language, zone)}"


FORMATS: Final[Mapping[str, Callable[[object, str, tzinfo | None], str]]] = {
    "number": lambda value, language, _zone: show_number(value, language),
    "date": show_date,
    "day": show_day,
    "time": show_time,
    "datetime": show_datetime,
}
"""The words that may stand after a colon, apart from `money`, which also wants a currency."""


def _decimal(value: object) -> Decimal | None:
    """Return a number as one that keeps its digits, or None when it is none that can be shown."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | str):
        return None
    if isinstance(value, str) and len(value) > _LARGEST_EXPONENT * 2:
        return None
    try:
        amount = value if isinstance(value, Decimal) else Decimal(str(value) if isinstance(value, float) else value)
        sane = amount.is_finite() and abs(amount.adjusted()) <= _LARGEST_EXPONENT
    except (InvalidOperation, ValueError):
        return None
    return amount if sane or amount == 0 else None


def _local(number: str, language: str) -> str:
    """Return a number written in English as the language writes it."""
    return number if language == "en" else number.translate(_SWAPPED)


def _whole(value: int) -> str:
    try:
        return str(int(value))
    except ValueError:  # Python refuses to write more than 4,300 digits
        return show_text(hex(value))


def _moment(value: object, zone: tzinfo | None) -> datetime | date | None:
    """Return the day or moment that a value is, in the zone, or None when it is neither."""
    moment: datetime | date | None = None
    if isinstance(value, date):
        moment = value
    elif isinstance(value, str):
        try:
            moment = date.fromisoformat(value) if len(value) == 10 else datetime.fromisoformat(value)
        except ValueError:
            return None
    if zone is not None and isinstance(moment, datetime) and moment.tzinfo is not None:
        try:
            return moment.astimezone(zone)
        except (OverflowError, ValueError):  # at the ends of the calendar
            return moment
    return moment
