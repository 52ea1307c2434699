"""The walk through a JSON value: what goes whole, what goes in part, what stays.

A walk goes by its rules alone. Where a look at the whole text has shown that it holds no
secret, the rules without patterns do, and cost a fraction.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from placet.redaction.keys import Secrecy, secrecy
from placet.redaction.named import REDACTED
from placet.redaction.pack import hide_personal
from placet.values.construction import dataclass
from placet.values.json import Json

_DEPTH: Final = 100
"""Past this nesting nothing is kept: Python's stack is finite, and so is an auditor's patience."""
_SHORTEST: Final = 5
"""No text shorter than `pin=1` holds both a secret and what tells that it is one."""
_FIELDS_OF_PAIR: Final = 8
"""An object with more fields is no pair of a name and its value."""
_NAMING: Final = frozenset({"name", "key", "header", "field", "param", "parameter", "variable"})
"""Fields that hold the name of a pair, in lower case."""
_NAME: Final = re.compile(r"[\w.\-]+")
_VALUED: Final = frozenset({"value", "val", "content"})
"""Fields that hold its value."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What a walk takes out.

    Attributes:
        names: Declared names, in lower case.
        paths: Ends of declared paths, in lower case.
        hide: What takes out of a text, or of a name, what is not to stay in it.
        secret_names: Whether a field that is named like a secret goes too.
        personal: Kinds of personal data.
    """

    names: frozenset[str]
    paths: tuple[tuple[str, ...], ...]
    hide: Callable[[str], str]
    secret_names: bool = False
    personal: frozenset[str] = frozenset()

    def copy(self, value: Json, path: tuple[str, ...] = (), depth: int = 0) -> Json:
        """Return the redacted copy of a value that stands at a path."""
        if isinstance(value, str):
            return self._text(value, path) if len(value) >= _SHORTEST else value
        if value is None or isinstance(value, (bool, float)):
            return value
        if isinstance(value, int):
            return self._number(value, path) if self.personal else value
        if isinstance(value, (dict, Mapping)):  # a dict first: to ask an abstract class costs
            return self._mapping(value, path, depth) if depth < _DEPTH else REDACTED
        if isinstance(value, (list, tuple)):
            return self._list(value, path, depth) if depth < _DEPTH else REDACTED
        return f"[{type(value).__name__}]"

    def taken(self, value: Json, path: tuple[str, ...] = (), depth: int = 0) -> Iterator[str]:
        """Yield the texts and numbers in what `copy` takes out whole."""
        if depth >= _DEPTH:
            return
        if isinstance(value, Mapping):
            paired = self._is_pair(value)
            for key, item in value.items():
                name = str(key)
                below = self._below(path, name)
                if self._goes(name, item, below) or (paired and name.lower() in _VALUED):
                    yield from _leaves(item, depth + 1)
                else:
                    yield from self.taken(item, below, depth + 1)
        elif isinstance(value, list | tuple):
            if self._is_listed_pair(value):
                yield from _leaves(value[1], depth + 1)
            for item in value:
                yield from self.taken(item, path, depth + 1)

    def _mapping(self, mapping: Mapping[str, Json], path: tuple[str, ...], depth: int) -> dict[str, Json]:
        """Return the redacted copy of an object."""
        copy: dict[str, Json] = {}
        paired = self._is_pair(mapping)
        for key, value in mapping.items():
            name = str(key)
            below = self._below(path, name)
            if self._goes(name, value, below) or (paired and name.lower() in _VALUED):
                copy[name] = None if value is None else REDACTED  # that there was none may be known
            else:
                if self.secret_names and len(name) >= _SHORTEST:
                    name = self.hide(name)
                copy[name] = self.copy(value, below, depth + 1)
        return copy

    def _list(self, items: "list[Json] | tuple[Json, ...]", path: tuple[str, ...], depth: int) -> list[Json]:
        """Return the redacted copy of a list."""
        copy = [self.copy(item, path, depth + 1) for item in items]
        return [copy[0], REDACTED] if self._is_listed_pair(items) else copy

    def _below(self, path: tuple[str, ...], name: str) -> tuple[str, ...]:
        """Return the path of a field, where anybody will ask for it."""
        return (*path, name.lower()) if self.paths or self.personal else path

    def _goes(self, name: str, value: Json, path: tuple[str, ...]) -> bool:
        """Whether a field goes whole: declared, or named like a secret and holding one."""
        if name.lower() in self.names:
            return True
        for declared in self.paths:
            if path[-len(declared) :] == declared:
                return True
        if not self.secret_names:
            return False
        judged = secrecy(name)
        if judged is Secrecy.SECRET_TEXT:
            items = value if isinstance(value, list | tuple) else (value,)
            return any(isinstance(item, str) for item in items)
        return judged is Secrecy.SECRET and not isinstance(value, bool)

    def _is_pair(self, mapping: Mapping[str, Json]) -> bool:
        """Whether it is a pair such as `{"name": "Authorization", "value": …}`."""
        if len(mapping) > _FIELDS_OF_PAIR:
            return False
        return any(str(key).lower() in _NAMING and self._names(name) for key, name in mapping.items())

    def _is_listed_pair(self, items: "list[Json] | tuple[Json, ...]") -> bool:
        """Whether it is a pair such as `["Authorization", …]`, as headers are listed."""
        if len(items) != 2 or not isinstance(items[1], str):
            return False
        return isinstance(items[0], str) and _NAME.fullmatch(items[0]) is not None and self._names(items[0])

    def _names(self, name: Json) -> bool:
        """Whether a text is the name of what goes."""
        if not isinstance(name, str):
            return False
        return name.lower() in self.names or (self.secret_names and secrecy(name) is Secrecy.SECRET)

    def _text(self, text: str, path: tuple[str, ...]) -> str:
        """Return a text without what is in it; its field's name may tell what a number is."""
        text = self.hide(text)
        if self.personal:
            lead = f"{path[-1]}: " if path else ""
            named = hide_personal(lead + text, self.personal)
            text = named.removeprefix(lead) if named.startswith(lead) else hide_personal(text, self.personal)
        return text

    def _number(self, number: int, path: tuple[str, ...]) -> Json:
        """Return a whole number, or the kind of personal data that it is."""
        if not 10**6 <= number < 10**20:
            return number
        text = str(number)
        hidden = self._text(text, path)
        return number if hidden == text else hidden


def _leaves(value: Json, depth: int) -> Iterator[str]:
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
