"""Redactor: takes declared fields and secrets out of values, JSON texts and free texts."""

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import field
from typing import Final

from placet.errors import ConfigurationError
from placet.redaction.keys import Secrecy
from placet.redaction.named import REDACTED, hide_named
from placet.redaction.pack import KINDS, PERSONAL_STARTS, hide_personal, may_hold_personal
from placet.redaction.prefilter import prefilter
from placet.redaction.shapes import SECRET_STARTS, hide_secrets, may_hold_secret
from placet.redaction.walk import Rules
from placet.values.construction import dataclass
from placet.values.json import Json

_PASSES: Final = 8
"""Hiding one thing can lay another open to be found; a text is settled long before this."""
_SHORT: Final = 6
"""Known secrets shorter than this are hidden only as whole words."""
_ASCII_ESCAPE: Final = re.compile(r"\\u00[2-7]")
"""A letter of a name in disguise: `pass\\u0077ord`."""
_write = json.JSONEncoder(separators=(",", ":")).encode


_PREFILTERS: Final[dict[tuple[bool, bool], Callable[[str], bool]]] = {
    (True, True): prefilter(f"{SECRET_STARTS}|{PERSONAL_STARTS}"),
    (True, False): may_hold_secret,
    (False, True): may_hold_personal,
    (False, False): lambda _: False,
}
"""By whether patterns and whether personal data are looked for: one pass over a text for both."""


@dataclass(frozen=True, slots=True)
class Redactor:
    """What is taken out, decided once for each tool.

    It raises nothing, whatever it is given, and redacting twice is redacting once.

    Attributes:
        fields: Declared names, at any depth (`"note"`) or as the end of a path
            (`"customer.tax_id"`, lists are passed through). Case does not count.
        patterns: Whether fields that are named like secrets, and secrets in texts, go too.
        personal: Which kinds of personal data go too (`placet.redaction.pack.KINDS`).

    Raises:
        ConfigurationError: A kind of personal data is unknown, or a declared name is empty.
    """

    fields: frozenset[str] = frozenset()
    patterns: bool = True
    personal: frozenset[str] = frozenset()
    _leaves: frozenset[str] = field(init=False, repr=False, compare=False)
    _all: Rules = field(init=False, repr=False, compare=False)
    _declared: Rules = field(init=False, repr=False, compare=False)
    _ascii: bool = field(init=False, repr=False, compare=False)
    _may_hold: Callable[[str], bool] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        unknown = sorted(self.personal - KINDS.keys())
        if unknown:
            raise ConfigurationError(f"unknown kinds of personal data: {unknown}; there are {sorted(KINDS)}")
        lowered = frozenset(name.lower() for name in self.fields)
        if any(not part for name in lowered for part in name.split(".")):
            raise ConfigurationError(f"a redacted field needs a name: {sorted(self.fields)}")
        names = frozenset(name for name in lowered if "." not in name)
        paths = tuple(sorted(tuple(name.split(".")) for name in lowered if "." in name))
        object.__setattr__(self, "_leaves", frozenset(name.rpartition(".")[2] for name in lowered))
        object.__setattr__(self, "_all", Rules(names, paths, self._hide_within, self.patterns, self.personal))
        object.__setattr__(self, "_declared", Rules(names, paths, self._hide_declared_within))
        object.__setattr__(self, "_may_hold", _PREFILTERS[self.patterns, bool(self.personal)])
        object.__setattr__(self, "_ascii", all(name.isascii() for name in lowered))

    def value(self, value: Json) -> Json:
        """Return a copy of a JSON value without what is to be kept out.

        What is no JSON comes back as the name of its type.
        """
        return self._all.copy(value)

    def json_text(self, text: str) -> str:
        """Return a JSON text without what is to be kept out; unchanged when that is nothing.

        A text that is no JSON, because it was cut or made up, is redacted as free text.
        """
        if self._may_hold(text):
            rules = self._all
        elif self._leaves and self._may_hold_declared(text):
            rules = self._declared
        else:
            return text
        try:
            value = _read(text)
        except (ValueError, RecursionError):
            return self._hide(text)
        redacted = rules.copy(value)
        return text if redacted == value else _write(redacted)

    def text(self, text: str, *, known: Iterable[str] = ()) -> str:
        """Return a free text without secrets: an exception's words, a note, a log line.

        Redact first and cut afterwards: half a key is not recognised, and is half a secret.

        Args:
            text: Anything. Text that is JSON is treated as `json_text` does.
            known: Secrets that are known to be about, as `secrets_in` gives them: a tool may
                quote its own arguments when it fails.
        """
        text = hide_known(text, known)
        if text.startswith(("{", "[")):
            return self.json_text(text)
        if self._may_hold(text) or (self._leaves and self._may_hold_declared(text)):
            return self._hide(text)
        return text

    def secrets_in(self, value: Json) -> frozenset[str]:
        """Return the texts and numbers that `value` would take out whole, for `text(known=…)`."""
        return frozenset(self._all.taken(value))

    def secrets_in_text(self, text: str) -> frozenset[str]:
        """Return the same of a text that may be JSON, also where a name stands in it twice; else nothing."""
        try:
            return self.secrets_in(_read(text))
        except (ValueError, RecursionError):
            return frozenset()

    def _may_hold_declared(self, text: str) -> bool:
        """Whether the name of a declared field may stand in a text, be it escaped as JSON may."""
        lowered = text.lower()
        for leaf in self._leaves:
            if leaf in lowered:
                return True
        return "\\u" in lowered and (not self._ascii or bool(_ASCII_ESCAPE.search(lowered)))

    def _hide(self, text: str) -> str:
        """Return a free text without what is found in it."""
        for _ in range(_PASSES):
            before = text
            if self.patterns:
                text = hide_secrets(text, self._leaves)
            elif self._leaves:
                text = hide_named(text, self._judge_declared)
            if self.personal:
                text = hide_personal(text, self.personal)
            if text == before:
                break
        return text

    def _hide_within(self, text: str) -> str:
        """Return a text that stands in a value, or names one; personal data are the walk's own work."""
        if not (self.patterns and may_hold_secret(text)):
            return self._hide_declared_within(text)
        if text.startswith(("{", "[")):
            return self.json_text(text)
        return hide_secrets(text, self._leaves)

    def _hide_declared_within(self, text: str) -> str:
        """Return such a text where no secrets were seen: it may still name what was declared."""
        if not self._leaves or not self._may_hold_declared(text):
            return text
        return self.json_text(text) if text.startswith(("{", "[")) else hide_named(text, self._judge_declared)

    def _judge_declared(self, name: str) -> Secrecy:
        return Secrecy.SECRET if name.lower().rpartition(".")[2] in self._leaves else Secrecy.OPEN


def _read(text: str) -> Json:
    value: Json = json.loads(text, object_pairs_hook=_object)
    return value


def _object(pairs: "list[tuple[str, Json]]") -> dict[str, Json]:
    """Return an object that was read; where a name stands in it more than once, with a list of all its values."""
    read = dict(pairs)
    if len(read) == len(pairs):
        return read
    every: dict[str, list[Json]] = {}
    for name, value in pairs:
        every.setdefault(name, []).append(value)
    return {name: values if len(values) > 1 else values[0] for name, values in every.items()}


def hide_known(text: str, known: Iterable[str]) -> str:
    """Return a text without these secrets, and otherwise as it is."""
    for secret in sorted(known, key=len, reverse=True):
        text = _hide_known(text, secret)
    return text


def _hide_known(text: str, secret: str) -> str:
    """Return a text without a known secret; a short one goes only where it stands alone."""
    if len(secret) < 2 or secret not in text or secret in REDACTED:
        return text
    if len(secret) >= _SHORT:
        return text.replace(secret, REDACTED)
    return re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", REDACTED, text)
