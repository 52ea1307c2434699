"""Held: the texts that objects of the host application hold, so that what an exception quotes of them can be hidden.

What a tool is given by the program, and what it finds in its context, stands in no argument and has no
form that gives it away: a token of its own kind is known by where it comes from alone.
"""

from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from typing import Any, Final, cast

from placet.redaction.keys import Secrecy, secrecy

_LEAST: Final = 6
"""Characters; shorter texts are words of any sentence."""
_DEEPEST: Final = 3
_MOST: Final = 200
"""Things that are looked at, so that a large object costs little."""


def texts_in(things: Iterable[Any]) -> frozenset[str]:
    """Return every text that these objects hold, in their attributes and in what those hold."""
    return frozenset(_forms(thing for thing, _ in _walk(things, secret=True)))


def secrets_in(things: Iterable[Any]) -> frozenset[str]:
    """Return the texts that these objects hold under the name of a secret, or in an object that is called one."""
    return frozenset(_forms(thing for thing, secret in _walk(things, secret=False) if secret))


def _walk(things: Iterable[Any], *, secret: bool) -> Iterator[tuple[str, bool]]:
    pending: list[tuple[object, bool, int]] = [(thing, secret, 0) for thing in things]
    for _ in range(_MOST):
        if not pending:
            return
        thing, is_secret, depth = pending.pop(0)
        kind = type(thing)
        hides = callable(getattr(kind, "get_secret_value", None))
        text = _text_of(thing, hides=hides)
        if text is not None:
            yield text, is_secret or hides
        elif depth < _DEEPEST:
            within = is_secret or _is_secret(kind.__name__)
            pending += [(held, within or _is_secret(name), depth + 1) for name, held in _held(thing)]


def _text_of(thing: Any, *, hides: bool) -> str | None:
    """Return the text that a thing is, also of one that shows it only when asked (pydantic's `SecretStr`)."""
    try:
        shown = thing.get_secret_value() if hides else thing
    except Exception:  # noqa: BLE001 - whatever a foreign object makes of the question, it has no text then
        return None
    if isinstance(shown, bytes):
        return shown.decode("utf-8", "replace")
    return str.__str__(shown) if isinstance(shown, str) else None


def _held(thing: Any) -> list[tuple[str, Any]]:
    """Return what a thing holds, by name; nothing of a foreign object that cannot be looked into."""
    try:
        return list(islice(_members(thing), _MOST))
    except Exception:  # noqa: BLE001 - whatever it makes of being looked into, or another thread of it meanwhile
        return []


def _members(thing: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(thing, dict):
        for name, held in cast("dict[Any, Any]", thing).items():  # type: ignore[redundant-cast]  # not so to pyright
            yield str(name), held
    elif isinstance(thing, list | tuple | set | frozenset):
        for held in cast("Collection[Any]", thing):
            yield "", held
    else:
        for name in [name for kind in type(thing).__mro__ for name in _slots(kind) if not name.startswith("__")]:
            yield name, getattr(thing, name, None)
        yield from getattr(thing, "__dict__", {}).items()


def _slots(kind: type) -> tuple[str, ...]:
    slots = vars(kind).get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _is_secret(name: str) -> bool:
    return secrecy(name) is not Secrecy.OPEN


def _forms(texts: Iterable[str]) -> Iterator[str]:
    """Yield each text as it is and as a `repr` quotes it."""
    for text in texts:
        if len(text) >= _LEAST:
            yield text
            yield repr(text)[1:-1]
