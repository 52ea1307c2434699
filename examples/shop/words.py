"""How the shop writes money, and how it reads what people type."""

import unicodedata
from typing import Final

_SIGNS: Final = {"BRL": "R$ {}", "RON": "{} lei"}


def money(minor: int, currency: str) -> str:
    """Return an amount as its country writes it: `"R$ 1.412,90"`, `"259,99 lei"`.

    Args:
        minor: Centavos or bani.
        currency: `"BRL"` or `"RON"`.
    """
    whole, rest = divmod(abs(minor), 100)
    digits = f"{'-' if minor < 0 else ''}{whole:,}".replace(",", ".")
    return _SIGNS[currency].format(f"{digits},{rest:02}")


def fold(text: str) -> str:
    """Return a text as searches compare it: no case, no accents, single blanks."""
    apart = unicodedata.normalize("NFKD", text.casefold())
    bare = "".join(letter for letter in apart if not unicodedata.combining(letter))
    return " ".join(bare.split())
