"""Names of fields that hold secrets: `password`, `apiKey`, `X-Auth-Token`, `senha`.

A name is split into words, at its signs and where its case changes, and the words are looked
up whole: `pin_code` is a secret, `pinned`, `tokens_used` and `secretary` are not.
"""

import re
from enum import Enum
from functools import lru_cache
from itertools import pairwise
from typing import Final

_PARTS: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[^\W\dA-Z_]+|[A-Z]+|\d+")
_LONGEST: Final = 200
"""Names past this length are looked at each time instead of being remembered."""

_WORD_LIST: Final = """
    password passwords passwd pwd passcode passphrase passkey secret secrets token authorization authorisation
    cookie cookies credential credentials pin pincode cvv cvc otp totp apikey bearer jwt psk mnemonic
    senha senhas segredo parola parolă passwort contraseña contrasena pswd puk sessid phpsessid sig
"""
_WORDS: Final = frozenset(_WORD_LIST.split())
"""English, and what people elsewhere call a password: `senha`, `parolă`, `contraseña`."""

_PAIR_LIST: Final = """
    api+key access+key private+key signing+key encryption+key decryption+key master+key account+key shared+key
    storage+key session+key session+id ssh+key auth+key auth+code access+code security+code verification+code
    recovery+code recovery+codes backup+code backup+codes recovery+phrase seed+phrase pass+phrase pass+word
    seed+words wallet+seed hmac+key amz+signature mfa+code sms+code fa+code oauth+code code+verifier security+answer
    auth+header palavra+passe chave+privada chave+api cheie+privata cheie+privată cheie+api
"""
_PAIRS: Final = frozenset(tuple(pair.split("+")) for pair in _PAIR_LIST.split())
"""Two words in a row that name a secret where neither does alone."""

_ENDINGS: Final = (
    "password", "passwd", "passphrase", "passcode", "apikey", "secret", "token", "privatekey", "accesskey", "secretkey",
    "signingkey", "encryptionkey", "sessionid", "sessionkey", "credential", "credentials",
)  # fmt: skip
"""How words run together end: `accesstoken`, `dbpassword`."""

_ABOUT_LIST: Final = """
    count counts used usage limit limits budget type length size ttl expires expiry expiration expired at required
    enabled policy remaining total min max index error errors exception
"""
_ABOUT: Final = frozenset(_ABOUT_LIST.split())
"""A last word that says that the value is about a secret and not one: `token_count`."""


class Secrecy(Enum):
    """What the name of a field says about its value."""

    OPEN = 0
    SECRET = 1
    SECRET_TEXT = 2
    """A secret if it is a text or a list of texts: `tokens` is as often a count."""


def secrecy(name: str) -> Secrecy:
    """Return what a field's name says about its value."""
    return _remembered(name) if len(name) <= _LONGEST else _judge(name)


def _judge(name: str) -> Secrecy:
    words = [part.lower() for part in _PARTS.findall(name.lower() if name.isupper() else name)]
    if not words:
        return Secrecy.OPEN
    last = words[-1]
    if words == ["auth"] or last == "pass":  # as in `db_pass`; `pass_count` is none
        return Secrecy.SECRET
    if last in _ABOUT:
        return Secrecy.OPEN
    if any(_is_secret(word) for word in words) or any(pair in _PAIRS for pair in pairwise(words)):
        return Secrecy.SECRET
    return Secrecy.SECRET_TEXT if last == "tokens" else Secrecy.OPEN


_remembered = lru_cache(maxsize=4096)(_judge)


def _is_secret(word: str) -> bool:
    return word in _WORDS or word.endswith(_ENDINGS) or word.startswith(("password", "passwd", "passphrase"))


_LONG_NAMES: Final = (
    r"passw|passp|passc|passk|pwd|secret|token|authori[sz]ation|cookie|credential|pincode|cvv|cvc|totp|api[^a-z0-9]*key"
    r"|bearer|jwt|psk|mnemonic|senha|segredo|parol(?:[aă]|\\u0103)|contrase(?:[ñn]|\\u00f1)|pswd|sessid|pass[^a-z0-9]+(?:phrase|word)"
    r"|seed[^a-z0-9]*words|wallet[^a-z0-9]*seed|amz[^a-z0-9]*signature|code[^a-z0-9]*verifier|security[^a-z0-9]*answer"
    r"|auth[^a-z0-9]*header|palavra[^a-z0-9]*passe|chave[^a-z0-9]*(?:privada|api)|cheie[^a-z0-9]*(?:privat(?:[aă]|\\u0103)|api)"
    r"|(?:access|private|signing|encryption|decryption|master|account|shared|storage|session|ssh|auth|hmac)[^a-z0-9]*key"
    r"|session[^a-z0-9]*id|(?:auth|access|security|verification|recovery|backup|mfa|sms|fa|oauth)[^a-z0-9]*code"
    r"|(?:recovery|seed)[^a-z0-9]*phrase"
)
_SHORT_NAMES: Final = "pin|otp|pass|auth|puk|sig"

NAMES_TO_LOOK_FOR: Final = rf"(?i:{_LONG_NAMES})|(?i:{_SHORT_NAMES})(?:[^a-z]|$)"
"""For the prefilter, in Rust's syntax: matches every text in which the name of a secret stands."""
LOOSE_NAMES: Final = f"{_LONG_NAMES}|{_SHORT_NAMES}"
"""The same without regard to where a word ends, nor to case."""
