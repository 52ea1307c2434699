"""Redactor: takes declared fields and secrets out of values, JSON texts and free texts."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from placet.errors import ConfigurationError
from placet.redaction.keys import Secrecy, secrecy
from placet.redaction.pack import KINDS, hide_personal, may_hold_personal
from placet.redaction.shapes import REDACTED, hide_named, hide_secrets, may_hold_secret
from placet.values.json import Json

_DEPTH: Final = 100
"""Past this nesting nothing is kept: Python's stack is finite, and so is an auditor's patience."""
_PASSES: Final = 8
"""Hiding one thing can lay another open to be found; a text is settled long before this."""
_SHORT: Final = 6
"""Known secrets shorter than this are hidden only as whole words."""
_JSON_START: Final = ("{", "[")
_write = json.JSONEncoder(separators=(",", ":")).encode


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
    _names: frozenset[str] = field(init=False, repr=False, compare=False)
    _paths: tuple[tuple[str, ...], ...] = field(init=False, repr=False, compare=False)
    _leaves: frozenset[str] = field(init=False, repr=False, compare=False)
    _plain: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        unknown = sorted(self.personal - KINDS.keys())
        if unknown:
            raise ConfigurationError(f"unknown kinds of personal data: {unknown}; there are {sorted(KINDS)}")
        lowered = frozenset(name.lower() for name in self.fields)
        if any(not part for name in lowered for part in name.split(".")):
            raise ConfigurationError(f"a redacted field needs a name: {sorted(self.fields)}")
        object.__setattr__(self, "_names", frozenset(name for name in lowered if "." not in name))
        object.__setattr__(self, "_paths", tuple(tuple(name.split(".")) for name in lowered if "." in name))
        object.__setattr__(self, "_leaves", frozenset(name.rpartition(".")[2] for name in lowered))
        object.__setattr__(self, "_plain", all(name.isascii() for name in lowered))

    def value(self, value: Json) -> Json:
        """Return a copy of a JSON value without what is to be kept out.

        What is no JSON comes back as the name of its type.
        """
        return self._copy(value, (), 0)

    def json_text(self, text: str) -> str:
        """Return a JSON text without what is to be kept out; unchanged when that is nothing.

        A text that is no JSON, because it was cut or made up, is redacted as free text.
        """
        if not self._may_hold(text):
            return text
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return self._hide(text)
        redacted = self._copy(value, (), 0)
        return text if redacted == value else _write(redacted)

    def text(self, text: str, *, known: Iterable[str] = ()) -> str:
        """Return a free text without secrets: an exception's words, a note, a log line.

        Redact first and cut afterwards: half a key is not recognised, and is half a secret.

        Args:
            text: Anything. Text that is JSON is treated as `json_text` does.
            known: Secrets that are known to be about, as `secrets_in` gives them: a tool may
                quote its own arguments when it fails.
        """
        for secret in sorted(known, key=len, reverse=True):
            text = _hide_known(text, secret)
        if not self._may_hold(text):
            return text
        return self.json_text(text) if text.startswith(_JSON_START) else self._hide(text)

    def secrets_in(self, value: Json) -> frozenset[str]:
        """Return the texts and numbers that `value` would take out whole, for `text(known=…)`."""
        return frozenset(self._taken(value, (), 0))

    # ── inside ────────────────────────────────────────────────────────────────────────

    def _may_hold(self, text: str) -> bool:
        """Whether there may be anything to take out of a text."""
        if self.patterns and may_hold_secret(text):
            return True
        if self._leaves:
            lowered = text.lower()
            for leaf in self._leaves:
                if leaf in lowered:
                    return True
            if "\\u" in lowered and (not self._plain or re.search(r"\\u00[2-7]", lowered)):
                return True
        return bool(self.personal) and may_hold_personal(text)

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

    def _judge_declared(self, name: str) -> Secrecy:
        return Secrecy.SECRET if name.lower().rpartition(".")[2] in self._leaves else Secrecy.OPEN

    def _copy(self, value: object, path: tuple[str, ...], depth: int) -> Json:
        """Return the redacted copy of a value that stands at a path."""
        if isinstance(value, str):
            return self._text_at(value, path)
        if value is None or isinstance(value, bool | float):
            return value
        if isinstance(value, int):
            return self._number_at(value, path)
        if isinstance(value, Mapping):
            return self._mapping(value, path, depth) if depth < _DEPTH else REDACTED
        if isinstance(value, list | tuple):
            return [self._copy(item, path, depth + 1) for item in value] if depth < _DEPTH else REDACTED
        return f"[{type(value).__name__}]"

    def _mapping(self, mapping: Mapping[Any, Any], path: tuple[str, ...], depth: int) -> dict[str, Json]:
        """Return the redacted copy of an object."""
        copy: dict[str, Json] = {}
        named = self._names_its_value(mapping)
        for key, value in mapping.items():
            name = key if isinstance(key, str) else repr(key)
            below = (*path, name.lower())
            if self._is_taken(name, value, below) or (named and name in ("value", "content")):
                copy[name] = _hidden(value)
            else:
                copy[self.text(name) if self.patterns else name] = self._copy(value, below, depth + 1)
        return copy

    def _is_taken(self, name: str, value: object, path: tuple[str, ...]) -> bool:
        """Whether a field goes whole: declared, or named like a secret and holding one."""
        if path[-1] in self._names:
            return True
        for declared in self._paths:
            if path[-len(declared) :] == declared:
                return True
        if not self.patterns:
            return False
        judged = secrecy(name)
        if judged is Secrecy.SECRET_TEXT:
            items = value if isinstance(value, list | tuple) else (value,)
            return any(isinstance(item, str) for item in items)
        return judged is Secrecy.SECRET and not isinstance(value, bool)

    def _names_its_value(self, mapping: Mapping[Any, Any]) -> bool:
        """Whether it is a pair such as `{"name": "Authorization", "value": …}`."""
        if not self.patterns or len(mapping) > 8:
            return False
        name = mapping.get("name") or mapping.get("key") or mapping.get("header")
        return isinstance(name, str) and secrecy(name) is Secrecy.SECRET

    def _text_at(self, text: str, path: tuple[str, ...]) -> str:
        """Return a text without what is in it; its field's name may tell what a number is."""
        text = self.text(text)
        if self.personal and path and text:
            named = hide_personal(f"{path[-1]}: {text}", self.personal)
            lead = f"{path[-1]}: "
            text = named.removeprefix(lead) if named.startswith(lead) else text
        return text

    def _number_at(self, number: int, path: tuple[str, ...]) -> Json:
        """Return a whole number, or the kind of personal data that it is."""
        if not self.personal or not 10**6 <= number < 10**20:
            return number
        text = str(number)
        hidden = self._text_at(text, path)
        return number if hidden == text else hidden

    def _taken(self, value: object, path: tuple[str, ...], depth: int) -> Iterator[str]:
        """Yield the texts and numbers below what is taken out."""
        if depth >= _DEPTH:
            return
        if isinstance(value, Mapping):
            named = self._names_its_value(value)
            for key, item in value.items():
                name = str(key)
                below = (*path, name.lower())
                if self._is_taken(name, item, below) or (named and name in ("value", "content")):
                    yield from _leaves(item, depth + 1)
                else:
                    yield from self._taken(item, below, depth + 1)
        elif isinstance(value, list | tuple):
            for item in value:
                yield from self._taken(item, path, depth + 1)


def _hidden(value: object) -> Json:
    """Return what stands for a value that was taken out. That there was none may be known."""
    return None if value is None else REDACTED


def _leaves(value: object, depth: int) -> Iterator[str]:
    """Yield every text and number in a value, as they may turn up in a text."""
    if depth >= _DEPTH or value is None or isinstance(value, bool):
        return
    if isinstance(value, str):
        yield value
    elif isinstance(value, int | float):
        yield str(value) if abs(value) < 10**20 else ""
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _leaves(item, depth + 1)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _leaves(item, depth + 1)


def _hide_known(text: str, secret: str) -> str:
    """Return a text without a known secret; a short one goes only where it stands alone."""
    if len(secret) < 2 or secret not in text or secret in REDACTED:
        return text
    if len(secret) >= _SHORT:
        return text.replace(secret, REDACTED)
    return re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", REDACTED, text)
