"""Personal data in texts, found by shape and, where there are check digits, by arithmetic.

| kind | what | how sure |
|---|---|---|
| `iban` | bank accounts of the countries of ISO 13616 | length and modulo 97 |
| `card` | payment cards | known prefix, length, Luhn |
| `email` | addresses with a domain that has a dot | shape |
| `phone` | E.164, and the national forms of Brazil, Romania and Portugal, written as people write them | shape |
| `cpf`, `cnpj` | Brazil; CNPJ also with letters | two check digits |
| `cnp` | Romania, persons | date, county, check digit |
| `cui`, `nif` | Romania, Portugal: tax numbers | a check digit, and named as one or led by `RO`, `PT` |

One check digit lets every eleventh number pass, so what has only one is taken for personal
data only where the text says so. Numbers of orders and parcels, times and UUIDs stay.
"""

import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Final, NamedTuple, TypeAlias

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
from placet.redaction.prefilter import prefilter

Spans: TypeAlias = tuple[tuple[int, int], ...]
"""Where something stands in a text: from and to, in order, not overlapping."""


class Found(NamedTuple):
    """One piece of personal data in a text."""

    start: int
    end: int
    kind: str


_PASSES: Final = 20
"""Where kinds overlap, hiding one can lay another open; a text is settled long before this."""
_UUID: Final = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", re.IGNORECASE)
_TIMESTAMP: Final = re.compile(r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:[01]\d|2[0-3])[0-5]\d[0-5]\d")

# ── finders ───────────────────────────────────────────────────────────────────────────

_BEFORE: Final = r"(?<![\w\]])(?<![\d\]][.-])"
_AFTER: Final = r"(?![.-]?[\d[])(?![\w[])"
"""A number stands alone: it goes on neither in letters nor, over a point or a hyphen, in digits. What was
hidden beside it, `[card]`, parts it no better than the digits did, so that one look finds what a second would."""

_IBAN_START: Final = re.compile(r"(?<![A-Za-z0-9\]])[A-Za-z]{2}\d\d(?=[ -]?[A-Za-z0-9])", re.ASCII)


def find_iban(text: str) -> Spans:
    """Return where IBANs stand, in one piece or in groups parted by a blank or a hyphen."""
    spans: list[tuple[int, int]] = []
    end = 0
    for start in _IBAN_START.finditer(text):
        length = IBAN_LENGTHS.get(start[0][:2].upper())
        if length is None or start.start() < end:
            continue
        signs, place = _collect(text, start.start(), length)
        if len(signs) == length and not _goes_on(text, place) and is_iban(signs):
            end = place
            spans.append((start.start(), end))
    return tuple(spans)


def _goes_on(text: str, place: int) -> bool:
    """Whether what ends at a place goes on there, be it with what was hidden before."""
    following = text[place : place + 1]
    return following.isalnum() or following == "["


def _collect(text: str, place: int, length: int) -> tuple[str, int]:
    """Return up to so many letters and digits from a place on, skipping single separators, and their end."""
    signs: list[str] = []
    while len(signs) < length and place < len(text):
        sign = text[place]
        if sign.isascii() and sign.isalnum():
            signs.append(sign)
        elif sign not in " -" or not text[place + 1 : place + 2].isalnum():
            break
        place += 1
    return "".join(signs), place


_CARD: Final = re.compile(
    _BEFORE + r"(?:\d{14,19}(?!\.\d)|\d{4}(?:[ -]\d{4}){3}(?:[ -]\d{3})?|\d{4}[ -]\d{6}[ -]\d{4,5})(?![\w[])",
    re.ASCII,
)
_GROUPED: Final = len("4111 1111 1111 1111")


def find_card(text: str) -> Spans:
    """Return where payment cards stand, in one piece or in groups; a code of three digits may follow."""
    spans: list[tuple[int, int]] = []
    for start, end in _spans(_CARD, text):
        number = text[start:end]
        if is_card(_digits(number)):
            spans.append((start, end))
        elif len(number) > _GROUPED and is_card(_digits(number[:_GROUPED])):
            spans.append((start, start + _GROUPED))
    return tuple(spans)


_DOMAIN: Final = re.compile(r"[^\W_](?:[\w-]*[^\W_])?(?:\.[^\W_](?:[\w-]*[^\W_])?)+")


def find_email(text: str) -> Spans:
    """Return where e-mail addresses stand (the unquoted form of RFC 5322, letters of any script)."""
    spans: list[tuple[int, int]] = []
    end = 0
    place = text.find("@")
    while place >= 0:
        start = place
        while start > end and (text[start - 1].isalnum() or text[start - 1] in "._%+-!#$&'*/=?^`{|}~"):
            start -= 1
        domain = _DOMAIN.match(text, place + 1)
        while start < place and text[start] in ".'`*/=|{}":
            start += 1
        if domain and start < place:
            end = domain.end()
            spans.append((start, end))
        place = text.find("@", place + 1)
    return tuple(spans)


_PHONE: Final = re.compile(
    r"(?<![\w+\]])(?:"
    r"\+[1-9]\d{0,2}(?:[ .-]?\(?\d{1,4}\)?){2,6}"  # E.164, grouped as people group it
    r"|\(0?\d{2}\)[ ]?9?[ ]?\d{4}[ -]?\d{4}"  # Brazil: (11) 98765-4321
    r"|(?<![\d\]][ .-])(?:0?[1-9]\d[ ]9?\d{4}-\d{4}"  # 11 98765-4321
    r"|07\d{2}(?:[ .-]?\d{3}){2}"  # Romania, mobile
    r"|0(?:2|3)\d(?:[ .-]\d{3}[ .-]\d{2}[ .-]\d{2}|\d?[ .-]\d{3}[ .-]\d{3})"  # Romania, landline
    r"|9[1236]\d[ ]\d{3}[ ]\d{3}|2\d{2}[ ]\d{3}[ ]\d{3}"  # Portugal
    r"))(?![ .-]?[\d[])(?![\w[])",
    re.ASCII,
)


def find_phone(text: str) -> Spans:
    """Return where phone numbers stand. National numbers without any grouping could be anything, and stay."""
    return tuple(
        span
        for span in _spans(_PHONE, text)
        if not text.startswith("+", span[0]) or 8 <= len(_digits(text[slice(*span)])) <= 15
    )


_CPF: Final = re.compile(_BEFORE + r"(?:\d{3}\.\d{3}\.\d{3}-\d{2}|\d{9}-?\d{2})" + _AFTER, re.ASCII)


def find_cpf(text: str) -> Spans:
    """Return where CPFs stand, with signs or without."""
    return tuple(span for span in _spans(_CPF, text) if is_cpf(_digits(text[slice(*span)])))


_CNPJ: Final = re.compile(
    _BEFORE + r"(?:[A-Z0-9]{2}\.[A-Z0-9]{3}\.[A-Z0-9]{3}/[A-Z0-9]{4}-\d{2}|[A-Z0-9]{12}-?\d{2})" + _AFTER,
    re.ASCII | re.IGNORECASE,
)


def find_cnpj(text: str) -> Spans:
    """Return where CNPJs stand, with signs or without, of digits or with letters.

    Fourteen digits in a row that read as a time (`20261114103000`) are one.
    """
    return tuple(
        span
        for span in _spans(_CNPJ, text)
        if not _TIMESTAMP.fullmatch(text, *span) and is_cnpj(re.sub(r"[./-]", "", text[slice(*span)]).upper())
    )


_CNP: Final = re.compile(_BEFORE + r"[1-9]\d{12}" + _AFTER, re.ASCII)


def find_cnp(text: str) -> Spans:
    """Return where Romanian personal numbers stand. A book's number is none."""
    return tuple(
        span for span in _spans(_CNP, text) if is_cnp(text[slice(*span)]) and not is_ean_book(text[slice(*span)])
    )


_NIF: Final = re.compile(
    r"(?:(?:(?<![a-z[])nif|contribuinte|(?<![a-z[])vat)[^\w]{0,4}(?:n[.ºo]{0,2}[^\w]{0,3})?(?:PT ?)?|(?<![a-z0-9])PT ?)"
    r"(?P<number>\d{3} ?\d{3} ?\d{3})(?![.-]?[\d[])(?![\w[])",
    re.ASCII | re.IGNORECASE,
)


def find_nif(text: str) -> Spans:
    """Return where Portuguese tax numbers stand that are named as such or led by `PT`."""
    return tuple(span for span in _spans(_NIF, text, "number") if is_nif(_digits(text[slice(*span)])))


_CUI: Final = re.compile(
    r"(?:(?:(?<![a-z[])(?:cui|cif)|cod (?:unic|fiscal)|(?<![a-z[])vat)[^\w]{0,4}(?:RO ?)?|(?<![a-z0-9])RO ?)"
    r"(?P<number>[1-9]\d{1,9})(?![.,-]?[\d[])(?![\w[])",
    re.ASCII | re.IGNORECASE,
)


def find_cui(text: str) -> Spans:
    """Return where Romanian companies' numbers stand that are named as such or led by `RO`."""
    return tuple(span for span in _spans(_CUI, text, "number") if is_cui(text[slice(*span)]))


def _spans(pattern: re.Pattern[str], text: str, group: str | int = 0) -> Iterator[tuple[int, int]]:
    for found in pattern.finditer(text):
        yield found.span(group)


def _digits(text: str) -> str:
    return "".join([sign for sign in text if sign.isdecimal()])


# ── the pack ──────────────────────────────────────────────────────────────────────────

Finder: TypeAlias = Callable[[str], Spans]

KINDS: Final[dict[str, tuple[Finder, str]]] = {
    "iban": (find_iban, r"[A-Za-z]{2}[0-9]{2}[ -]?[A-Za-z0-9]"),
    "card": (find_card, r"[0-9](?:[ -]?[0-9]){13}"),
    "email": (find_email, "@"),
    "phone": (
        find_phone,
        r"\+[1-9]|\([0-9]{2,3}\)|[0-9]{2} 9?[0-9]{4}-[0-9]|0[237][0-9]{2}|[0-9]{3} [0-9]{3} [0-9]{3}",
    ),
    "cpf": (find_cpf, r"[0-9]{3}\.[0-9]{3}\.[0-9]{3}-|[0-9]{9}-?[0-9]{2}"),
    "cnpj": (find_cnpj, r"[A-Za-z0-9]{3}/[A-Za-z0-9]{4}-[0-9]{2}|[A-Za-z0-9]{12}-?[0-9]{2}"),
    "cnp": (find_cnp, r"[1-9][0-9]{12}"),
    "cui": (find_cui, r"(?i:cui|cif|cod |vat|ro)[^0-9A-Za-z]{0,5}(?i:ro)? ?[0-9]{2}"),
    "nif": (find_nif, r"(?i:nif|contribuinte|vat|pt)[^0-9]{0,12}[0-9]{3} ?[0-9]{3} ?[0-9]{3}"),
}
"""Each kind's finder, and what a text must hold for it to be worth asking. Earlier kinds win where two overlap."""

_MAY_HOLD: Final = {kind: prefilter(pattern) for kind, (_, pattern) in KINDS.items()}
PERSONAL_STARTS: Final = "|".join(pattern for _, pattern in KINDS.values())
"""What a text must hold for it to be worth looking for personal data of any kind."""
may_hold_personal: Final = prefilter(PERSONAL_STARTS)
"""Whether a text may hold personal data of any kind."""


def find_personal(text: str, kinds: frozenset[str] = frozenset(KINDS)) -> tuple[Found, ...]:
    """Return the personal data of these kinds in a text, in order, without overlaps."""
    if not may_hold_personal(text):
        return ()
    taken = bytearray(len(text))
    for start, end in _spans(_UUID, text):
        taken[start:end] = b"u" * (end - start)
    found: list[Found] = []
    for kind, (finder, _) in KINDS.items():
        if kind not in kinds or not _MAY_HOLD[kind](text):
            continue
        for start, end in finder(text):
            if not any(taken[start:end]):
                taken[start:end] = b"f" * (end - start)
                found.append(Found(start, end, kind))
    return tuple(sorted(found))


def hide_personal(text: str, kinds: frozenset[str] = frozenset(KINDS)) -> str:
    """Return a text with personal data of these kinds replaced by their kinds, as `[iban]`."""
    for _ in range(_PASSES):
        found = find_personal(text, kinds)
        if not found:
            break
        ends = [(0, 0), *((one.start, one.end) for one in found), (len(text), len(text))]
        pieces = [text[before[1] : after[0]] for before, after in pairwise(ends)]
        text = "".join(
            [part for pair in zip(pieces, [*(f"[{one.kind}]" for one in found), ""], strict=True) for part in pair]
        )
    return text
