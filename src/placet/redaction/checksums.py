"""Check digits of the numbers that people and their accounts have: pure arithmetic, digits in, yes or no out.

Sources: ISO 7064 and ISO 13616 (IBAN), ISO/IEC 7812-1 (cards), Receita Federal (CPF; CNPJ, with
letters from July 2026 on: Instrução Normativa RFB 2.229/2024), Decreto-Lei 14/2013 (NIF), Ordonanța
de urgență 97/2005 (CNP), Ordonanța 92/2003 (CUI).
"""

from datetime import date
from typing import Final

IBAN_LENGTHS: Final = {
    "AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BI": 27,
    "BR": 29, "BY": 28, "CH": 21, "CR": 22, "CY": 28, "CZ": 24, "DE": 22, "DJ": 27, "DK": 18, "DO": 28,
    "EE": 20, "EG": 29, "ES": 24, "FI": 18, "FK": 18, "FO": 18, "FR": 27, "GB": 22, "GE": 22, "GI": 23,
    "GL": 18, "GR": 27, "GT": 28, "HN": 28, "HR": 21, "HU": 28, "IE": 22, "IL": 23, "IQ": 23, "IS": 26,
    "IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LC": 32, "LI": 21, "LT": 20, "LU": 20, "LV": 21,
    "LY": 25, "MC": 27, "MD": 24, "ME": 22, "MK": 19, "MN": 20, "MR": 27, "MT": 31, "MU": 30, "NI": 28,
    "NL": 18, "NO": 15, "OM": 23, "PK": 24, "PL": 28, "PS": 29, "PT": 25, "QA": 29, "RO": 24, "RS": 22,
    "RU": 33, "SA": 24, "SC": 31, "SD": 18, "SE": 24, "SI": 19, "SK": 24, "SM": 27, "SO": 23, "ST": 25,
    "SV": 28, "TL": 23, "TN": 24, "TR": 26, "UA": 29, "VA": 22, "VG": 24, "XK": 20, "YE": 30,
}  # fmt: skip
"""How long an IBAN is, by country: the registry of ISO 13616."""

_CARD_PREFIXES: Final = (
    # from, to, at how many digits, lengths
    (4, 4, 1, (16, 19)),  # Visa
    (51, 55, 2, (16,)), (2221, 2720, 4, (16,)),  # Mastercard
    (34, 34, 2, (15,)), (37, 37, 2, (15,)),  # American Express
    (300, 305, 3, (14,)), (36, 36, 2, (14,)), (38, 39, 2, (14,)),  # Diners Club
    (6011, 6011, 4, (16, 19)), (644, 649, 3, (16, 19)), (65, 65, 2, (16, 19)),  # Discover
    (3528, 3589, 4, (16,)),  # JCB
    (62, 62, 2, (16, 17, 18, 19)),  # UnionPay
    (2200, 2204, 4, (16,)),  # Mir
    (5018, 5018, 4, (16, 19)), (5020, 5020, 4, (16, 19)), (5038, 5038, 4, (16, 19)), (6304, 6304, 4, (16, 19)),
    (6759, 6759, 4, (16, 19)), (6761, 6763, 4, (16, 19)),  # Maestro
    (5041, 5041, 4, (16,)), (5066, 5067, 4, (16,)), (509, 509, 3, (16,)), (6277, 6277, 4, (16,)),
    (6362, 6363, 4, (16,)),  # Elo
    (606282, 606282, 6, (16,)), (384100, 384100, 6, (16,)),  # Hipercard
)  # fmt: skip


def is_iban(text: str) -> bool:
    """Whether a text without blanks is an IBAN: its country's length, and 1 modulo 97."""
    text = text.upper()
    if not (text.isascii() and text.isalnum() and len(text) == IBAN_LENGTHS.get(text[:2])):
        return False
    if not text[2:4].isdecimal():
        return False
    return int("".join(str(int(sign, 36)) for sign in text[4:] + text[:4])) % 97 == 1


def is_card(digits: str) -> bool:
    """Whether digits are the number of a payment card: a known prefix, its length, and Luhn's sum."""
    if not any(
        low <= int(digits[:width]) <= high and len(digits) in lengths for low, high, width, lengths in _CARD_PREFIXES
    ):
        return False
    total = 0
    for place, sign in enumerate(reversed(digits)):
        digit = int(sign)
        if place % 2:
            digit = digit * 2 - 9 if digit > 4 else digit * 2
        total += digit
    return total % 10 == 0 and len(set(digits)) > 1


def is_cpf(digits: str) -> bool:
    """Whether 11 digits are a CPF (Brazil, persons)."""
    if len(set(digits)) == 1:
        return False
    first = _modulo_11(digits[:9], range(10, 1, -1))
    second = _modulo_11(digits[:9] + first, range(11, 1, -1))
    return digits[9:] == first + second


def is_cnpj(text: str) -> bool:
    """Whether 14 letters and digits are a CNPJ (Brazil, companies); letters count from 17 on, as in ASCII."""
    if len(set(text)) == 1:
        return False
    weights = (5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2)
    first = _modulo_11(text[:12], weights)
    second = _modulo_11(text[:12] + first, (6, *weights))
    return text[12:] == first + second


def _modulo_11(text: str, weights: range | tuple[int, ...]) -> str:
    """Return the check digit of the Receita Federal: 11 less the remainder, where that is a digit."""
    total = sum((ord(sign) - 48) * weight for sign, weight in zip(text, weights, strict=True))
    rest = total % 11
    return "0" if rest < 2 else str(11 - rest)


def is_nif(digits: str) -> bool:
    """Whether 9 digits are a NIF (Portugal)."""
    if digits[0] == "0":
        return False
    total = sum(int(sign) * weight for sign, weight in zip(digits[:8], range(9, 1, -1), strict=True))
    return int(digits[8]) == (-total % 11) % 10


def is_cnp(digits: str) -> bool:
    """Whether 13 digits are a CNP (Romania, persons): sex and century, a real date, a county, the check digit."""
    century = {"1": 1900, "2": 1900, "3": 1800, "4": 1800, "5": 2000, "6": 2000}.get(digits[0], 1900)
    county = int(digits[7:9])
    try:
        date(century + int(digits[1:3]), int(digits[3:5]), int(digits[5:7]))
    except ValueError:
        return False
    if digits[0] == "0" or not (1 <= county <= 48 or county in (51, 52, 70) or 80 <= county <= 83):
        return False
    total = sum(
        int(sign) * weight for sign, weight in zip(digits[:12], (2, 7, 9, 1, 4, 6, 3, 5, 8, 2, 7, 9), strict=True)
    )
    return int(digits[12]) == (1 if total % 11 == 10 else total % 11)


def is_cui(digits: str) -> bool:
    """Whether 2 to 10 digits are a CUI (Romania, companies)."""
    if digits[0] == "0":
        return False
    padded = digits[:-1].zfill(9)
    total = sum(int(sign) * weight for sign, weight in zip(padded, (7, 5, 3, 2, 1, 7, 5, 3, 2), strict=True))
    return int(digits[-1]) == total * 10 % 11 % 10


def is_ean_book(digits: str) -> bool:
    """Whether 13 digits are the number of a book (ISBN-13): no person's, though it may pass for one."""
    if digits[:3] not in ("978", "979"):
        return False
    return sum(int(sign) * (3 if place % 2 else 1) for place, sign in enumerate(digits)) % 10 == 0
