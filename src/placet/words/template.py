"""Texts with places for values: what a person reads while a tool runs, and as its answer.

```text
{order_id}  {customer.name}        a value, by its path through mappings
{orders.count}                     how many items a list has
{total:money BRL}                  in a format: money, number, date, day, time, datetime
{total:money}                      the currency is the field `currency` beside it
{total:money paid_in}              the currency is the value of another field
{#orders}…{/orders}                once for each item, whose fields come first inside
{#orders:, }…{/orders}             the same, with a text between the items
{.}                                the item itself, inside
{?note}…{/note}                    only when it is there and neither empty nor false
{!orders}…{/orders}                only when it is not
{{  }}                             a brace
```

It is no `str.format`: no attribute of an object can be reached and no value is ever read as a
template. Values are escaped, stand on one line and are cut; a value that is missing is a dash,
for an answer half filled in is better than none. What is wrong with a template shows when it
is compiled or checked, that is, when the toolset is built.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import tzinfo
from functools import lru_cache
from typing import Any, Final, TypeAlias, cast

from placet.errors import ConfigurationError
from placet.values.construction import dataclass
from placet.words.formats import DASH, FORMATS, show_money, show_text, show_value
from placet.words.language import DEFAULT_LANGUAGE, normalise_language

ITEMS: Final = 50
"""How many items of a list are shown; `…` stands for the rest."""
TEXT_CHARACTERS: Final = 10_000
"""How long a filled text may be."""
_NESTING: Final = 3
"""How deep sections nest: bounds what one text may cost to fill."""

_BRACES: Final = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
_NAME: Final = r"[^\W\d]\w*(?:\.\w+)*"
_PLACE: Final = re.compile(rf"(?P<sign>[#?!/]?)(?P<path>{_NAME}|\.)(?::(?P<rest>.*))?", re.DOTALL)
_CODE: Final = re.compile(r"[A-Z]{3}")
_PATH: Final = re.compile(_NAME)
_MISSING: Final = object()


@dataclass(frozen=True, slots=True)
class _Value:
    """A place for one value.

    Attributes:
        path: Its parts; empty for `{.}`.
        format: The word after the colon, or empty.
        currency: For money, the code.
        currency_paths: For money, where else the currency is looked for, in this order.
    """

    path: tuple[str, ...]
    format: str = ""
    currency: str | None = None
    currency_paths: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class _Section:
    """A part that stands once for each item (`#`), or only if (`?`), or only if not (`!`)."""

    sign: str
    path: tuple[str, ...]
    between: str
    parts: "tuple[_Part, ...]"


_Part: TypeAlias = str | _Value | _Section
_Scopes: TypeAlias = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Template:
    """A template that has been read. Made by `Template.compile`.

    Attributes:
        text: As it was written.
    """

    text: str
    _parts: tuple[_Part, ...] = field(repr=False, compare=False)

    @staticmethod
    def compile(text: str) -> "Template":
        """Return the template of a text; the same text is read once.

        Raises:
            ConfigurationError: A brace, a path, a format or a section is malformed.
        """
        return _compile(text)

    def fill(self, values: Mapping[str, Any], *, language: str, zone: tzinfo | None = None) -> str:
        """Return the text with the values in their places. Raises nothing, whatever they are.

        Args:
            values: JSON, or what Python makes of it: dates and decimals too.
            language: How numbers, amounts and dates are written.
            zone: Where the person is, for times that know their zone. None leaves times as
                they are written and says so of UTC.
        """
        text = "".join(_filled(self._parts, (values,), language, zone))
        return text if len(text) <= TEXT_CHARACTERS else text[: TEXT_CHARACTERS - 1] + "…"

    def places(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield each path with the paths of the lists that it stands inside, outermost first."""
        yield from _places(self._parts, ())


def fill(template: str, values: Mapping[str, Any], *, language: str, zone: tzinfo | None = None) -> str:
    """Return a template's text with the values in their places.

    Args:
        template: See the top of this module. It is read once and kept.
        values: JSON, or what Python makes of it.
        language: How numbers, amounts and dates are written.
        zone: Where the person is, for times that know their zone.

    Raises:
        ConfigurationError: The template is malformed: `check_template` says so earlier. No
            value makes it raise.
    """
    return _compile(template).fill(values, language=language, zone=zone)


def choose(templates: Mapping[str, str], language: str) -> str:
    """Return the text for a language: its own, else English, else any; empty for none at all.

    Args:
        templates: Texts by language; `"pt"` and `"pt_BR"` count as `"pt-BR"`.
        language: Of the person.
    """
    found = templates.get(language)
    if found is not None:
        return found
    by_language = {normalise_language(tag) or tag: text for tag, text in templates.items()}
    for wanted in (normalise_language(language) or language, DEFAULT_LANGUAGE):
        if wanted in by_language:
            return by_language[wanted]
    return next(iter(templates.values()), "")


def check_template(template: str, known_names: Iterable[str]) -> None:
    """Refuse a template that is malformed or names what will never be there.

    Args:
        template: The text.
        known_names: Dotted paths of the values. Fields of a list's items go under the list's
            name (`orders.title`); `meta.*` leaves open what lies under `meta`.
            `placet.words.names.names_in_schema` reads them from a JSON Schema.

    Raises:
        ConfigurationError: The message names the place, and the nearest known name.
    """
    known = set(known_names)
    for name in tuple(known):
        parents = name.split(".")[:-1]
        known.update(".".join(parents[: depth + 1]) for depth in range(len(parents)))
    for path, inside in _compile(template).places():
        if not _is_known(path, inside, known):
            from difflib import get_close_matches  # noqa: PLC0415 - only where something is misspelt

            near = get_close_matches(path, sorted(known), n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known are: {', '.join(sorted(known)) or 'none'}"
            raise ConfigurationError(f"the template {template!r} names {path!r}, which is not there; {hint}")


def _is_known(path: str, inside: tuple[str, ...], known: set[str]) -> bool:
    """Whether a path leads somewhere, seen from inside the items of some lists."""
    if path == ".":
        return bool(inside)
    prefixes = [""]
    for name in inside:
        prefixes += [f"{prefix}{name}." for prefix in prefixes if f"{prefix}{name}" in known]
    for prefix in prefixes:
        whole = prefix + path
        parts = whole.split(".")
        opened = any(".".join([*parts[:depth], "*"]) in known for depth in range(len(parts)))
        counted = parts[-1] == "count" and ".".join(parts[:-1]) in known
        if whole in known or opened or counted:
            return True
    return False


# ── reading ───────────────────────────────────────────────────────────────────────────


@lru_cache(maxsize=2048)
def _compile(text: str) -> Template:
    """Return the template of a text: one pass over its braces, sections on a stack."""
    open_sections: list[tuple[str, str, str, list[_Part]]] = []
    parts: list[_Part] = []
    end = 0
    for brace in _BRACES.finditer(text):
        if brace.start() > end:
            parts.append(text[end : brace.start()])
        end = brace.end()
        if brace[0] in ("{{", "}}"):
            parts.append(brace[0][0])
            continue
        sign, path, rest = _read_place(text, brace)
        if sign == "":
            parts.append(_read_value(text, path, rest))
        elif sign == "/":
            if not open_sections or open_sections[-1][1] != path:
                raise _malformed(text, f"{{/{path}}} closes nothing that is open there")
            opened, _, between, outer = open_sections.pop()
            outer.append(_Section(opened, _split(path), between, tuple(parts)))
            parts = outer
        else:
            if len(open_sections) == _NESTING:
                raise _malformed(text, f"sections nest deeper than {_NESTING}")
            open_sections.append((sign, path, rest or "", parts))
            parts = []
    if open_sections:
        sign, path = open_sections[-1][:2]
        raise _malformed(text, f"{{{sign}{path}}} is never closed: add {{/{path}}}")
    if end < len(text):
        parts.append(text[end:])
    return Template(text, tuple(parts))


def _read_place(text: str, brace: re.Match[str]) -> tuple[str, str, str | None]:
    """Return sign, path and what stands after the colon, of one pair of braces."""
    inner = brace[1]
    if inner is None:
        raise _malformed(text, f"a lone {brace[0]!r}: write it twice to mean the brace itself")
    place = _PLACE.fullmatch(inner)
    if place is None:
        raise _malformed(text, f"{{{inner}}} is no place for a value: write a name, as {{order_id}}")
    sign, path, rest = place["sign"], place["path"], place["rest"]
    if sign in ("?", "!", "/") and rest is not None:
        raise _malformed(text, f"{{{inner}}} takes nothing after a colon")
    return sign, path, rest


def _read_value(text: str, path: str, rest: str | None) -> _Value:
    """Return a place for a value, its format understood."""
    parts = _split(path)
    if rest is None:
        return _Value(parts)
    word, _, argument = rest.strip().partition(" ")
    argument = argument.strip()
    if word in FORMATS and not argument:
        return _Value(parts, word)
    if word != "money":
        raise _malformed(text, f"unknown format {rest!r}; there are: money, {', '.join(FORMATS)}")
    if _CODE.fullmatch(argument):
        return _Value(parts, word, argument)
    if not argument:
        return _Value(parts, word, None, ((*parts[:-1], "currency"), ("currency",)))
    if not _PATH.fullmatch(argument):
        raise _malformed(text, f"{argument!r} is neither a currency such as BRL nor the name of a field")
    return _Value(parts, word, None, (_split(argument),))


def _split(path: str) -> tuple[str, ...]:
    return () if path == "." else tuple(path.split("."))


def _malformed(text: str, fault: str) -> ConfigurationError:
    return ConfigurationError(f"the template {text!r} cannot be read: {fault}")


def _places(parts: tuple[_Part, ...], inside: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    for part in parts:
        if isinstance(part, str):
            continue
        path = ".".join(part.path) or "."
        yield path, inside
        if isinstance(part, _Section):
            yield from _places(part.parts, (*inside, path) if part.sign == "#" else inside)
        elif len(part.currency_paths) == 1:  # named in the template; one that is only looked for may be missing
            yield ".".join(part.currency_paths[0]), inside


# ── filling ───────────────────────────────────────────────────────────────────────────


def _filled(parts: tuple[_Part, ...], scopes: _Scopes, language: str, zone: tzinfo | None) -> Iterator[str]:
    """Yield the pieces of a text."""
    for part in parts:
        if isinstance(part, str):
            yield part
        elif isinstance(part, _Value):
            yield _shown(part, scopes, language, zone)
        elif part.sign == "#":
            yield from _repeated(part, scopes, language, zone)
        elif _is_there(_find(part.path, scopes)) is (part.sign == "?"):
            yield from _filled(part.parts, scopes, language, zone)


def _repeated(section: _Section, scopes: _Scopes, language: str, zone: tzinfo | None) -> Iterator[str]:
    """Yield the pieces of a section, once for each item of its list; one value is a list of one."""
    found = _find(section.path, scopes)
    if not _is_there(found):
        return
    items: Sequence[object] = (found,)
    if isinstance(found, Sequence) and not isinstance(found, str):
        items = cast("Sequence[object]", found)
    for place, item in enumerate(items[:ITEMS]):
        if place and section.between:
            yield section.between
        yield from _filled(section.parts, (*scopes, item), language, zone)
    if len(items) > ITEMS:
        yield "…"


def _shown(place: _Value, scopes: _Scopes, language: str, zone: tzinfo | None) -> str:
    """Return one value as a person reads it."""
    found = _find(place.path, scopes)
    if found is _MISSING or found is None:
        return DASH
    try:
        if not place.format:
            return (show_text(found) or DASH) if type(found) is str else show_value(found, language, zone)
        if place.format == "money":
            return show_money(found, language, _currency(place, scopes))
        return FORMATS[place.format](found, language, zone)
    except Exception:  # noqa: BLE001 - a value whose own `__str__` breaks must not break the answer
        return DASH


def _currency(place: _Value, scopes: _Scopes) -> object:
    if place.currency:
        return place.currency
    for path in place.currency_paths:
        found = _find(path, scopes)
        if isinstance(found, str):
            return found
    return None


def _find(path: tuple[str, ...], scopes: _Scopes) -> object:
    """Return what a path leads to, from the innermost scope that knows its first part."""
    if not path:
        return scopes[-1]
    for scope in reversed(scopes):
        found = _step(scope, path[0])
        if found is _MISSING:
            continue
        for name in path[1:]:
            below = _step(found, name)
            if below is _MISSING and name == "count":
                below = _count(found)
            found = below
        return found
    return _MISSING


def _step(value: object, name: str) -> object:
    """Return what a mapping holds under a name. Nothing else is reached into."""
    if not isinstance(value, Mapping):
        return _MISSING
    return cast("Mapping[str, object]", value).get(name, _MISSING)


def _count(value: object) -> object:
    if isinstance(value, Mapping | Sequence) and not isinstance(value, str):
        return len(cast("Sequence[object]", value))
    return _MISSING


def _is_there(value: object) -> bool:
    """Whether a value counts as present: neither missing, null, false nor empty. Zero is present."""
    if value is _MISSING or value is None or value is False:
        return False
    return not (isinstance(value, str | Mapping | Sequence) and len(cast("Sequence[object]", value)) == 0)
