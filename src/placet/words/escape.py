"""Text made safe to look at: what a person cannot see is shown, as `⟨U+202E⟩`.

Whoever reads arguments before saying yes must see every character that will run. Characters
without a picture of their own (controls and with them terminal escapes, bidirectional
overrides, zero-width and tag characters, variation selectors, fillers, lone surrogates) and
letters that pass for others are how a text is made to read unlike what it is: UTS 36 and
UTS 39 of the Unicode consortium, CVE-2021-42574. Only what is shown changes: the digest, and
what runs, are the original's.

Escaping twice is escaping once, so a door may escape what was escaped before it.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from placet.values.construction import dataclass
from placet.values.json import Json

LINE_BREAK: Final = "⏎"
"""How a line break is shown where a text stands on one line."""

_PRINTABLE_UNSEEN: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
    "|[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]{5}"
)
"""What `str.isprintable` lets pass and yet nobody sees: selectors, fillers, the Braille blank
(Default_Ignorable_Code_Point of Unicode 16), and piles of marks that hide their neighbours."""
_FILLERS: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
_MARKS_SHOWN: Final = 4
"""How many combining marks one letter may carry; no orthography needs more."""
_UNSEEN_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
_JOINER, _EMOJI_STYLE = "\u200d", "\ufe0f"
_NEW_EMOJI: Final = range(0x1F000, 0x1FC00)
"""Where Unicode adds pictures; an older Python takes the newest for unassigned."""


@dataclass(frozen=True, slots=True)
class Escaped:
    """A text as a person may see it.

    Attributes:
        text: The visible form.
        hidden: Whether something was made visible that would not have been seen.
        mixed: Words that mix Latin letters with others that look like them.
    """

    text: str
    hidden: bool = False
    mixed: tuple[str, ...] = ()

    @property
    def suspicious(self) -> bool:
        """Whether the person is to be warned."""
        return self.hidden or bool(self.mixed)


def escape_for_person(text: str, *, lines: bool = False) -> Escaped:
    """Return a text as a person may see it, and what to warn of.

    Args:
        text: Anything.
        lines: Whether line breaks and tabs stay as they are; else a break is shown as `⏎`
            and a tab as a blank, neither of which counts as hidden.
    """
    if text.isascii() and text.isprintable():
        return Escaped(text)
    visible, hidden = make_visible(text, lines=lines)
    return Escaped(visible, hidden, mixed_words(text))


def escape_json(value: Json) -> Escaped:
    """Return a JSON value on one line as a person may see it: every key and value, whole.

    It reads like JSON with its letters unescaped. Warnings speak of all texts in it.
    """
    text = "".join(_written(value))
    mixed = tuple(dict.fromkeys(word for part in _texts(value) for word in mixed_words(part)))
    return Escaped(make_visible(text)[0], any(make_visible(part)[1] for part in _texts(value)), mixed)


def make_visible(text: str, *, lines: bool = False) -> tuple[str, bool]:
    """Return the visible form of a text, and whether anything in it was hidden.

    Args:
        text: Anything.
        lines: Whether line breaks and tabs stay as they are.
    """
    if text.isprintable() and not _PRINTABLE_UNSEEN.search(text):
        return text, False
    shown: list[str] = []
    hidden = False
    marks = 0
    text = text.replace("\r\n", "\n")
    for place, character in enumerate(text):
        if character in "\n\t":
            shown.append(character if lines else LINE_BREAK if character == "\n" else " ")
            continue
        category = unicodedata.category(character)
        marks = marks + 1 if category in ("Mn", "Me") else 0
        if marks <= _MARKS_SHOWN and _is_seen(text, place, category):
            shown.append(character)
        else:
            shown.append(f"⟨U+{ord(character):04X}⟩")
            hidden = True
    return "".join(shown), hidden


def _is_seen(text: str, place: int, category: str) -> bool:
    """Whether one character has a picture of its own, or shapes a picture beside it."""
    character = text[place]
    if category in _UNSEEN_CATEGORIES:
        return character == _JOINER and _is_picture(text, place + 1) and _joins_picture(text, place - 1)
    if category == "Cn":
        return ord(character) in _NEW_EMOJI
    if character == _EMOJI_STYLE:
        return _is_picture(text, place - 1)
    return character not in _FILLERS and not _is_selector(ord(character))


def _is_selector(code: int) -> bool:
    return 0xFE00 <= code <= 0xFE0F or 0xE0100 <= code <= 0xE01EF or 0x180B <= code <= 0x180F


def _is_picture(text: str, place: int) -> bool:
    if not 0 <= place < len(text):
        return False
    return text[place] != "\u2800" and unicodedata.category(text[place]) == "So"


def _joins_picture(text: str, place: int) -> bool:
    """Whether a picture ends here, a skin tone or one emoji selector included."""
    if place > 0 and (text[place] == _EMOJI_STYLE or 0x1F3FB <= ord(text[place]) <= 0x1F3FF):
        place -= 1
    return _is_picture(text, place)


_WORD: Final = re.compile(r"\w*[^\W\x00-\x7f]\w*")
_LATIN: Final = re.compile(r"[A-Za-z\u00c0-\u024f\u1e00-\u1eff]")
_LOOKALIKE: Final = re.compile(
    "[\u0370-\u03ff\u0400-\u052f\u0530-\u058f\u13a0-\u13ff\u1c80-\u1c8f\u1f00-\u1fff\u2c80-\u2cff\u2de0-\u2dff"
    "\ua4d0-\ua4ff\ua640-\ua69f\uab70-\uabbf\uff21-\uff3a\uff41-\uff5a\U0001d400-\U0001d7ff]"
)
"""Greek, Cyrillic, Armenian, Cherokee, Coptic and Lisu letters, full-width and mathematical ones."""
_UNITS: Final = str.maketrans("", "", "ΩμπΔΣλ")
"""Greek letters that look like no Latin one and stand in units and formulas (kΩ, μm)."""


def mixed_words(text: str) -> tuple[str, ...]:
    """Return the words that mix Latin letters with letters of other scripts that look like them.

    A word wholly in another script is a word of that script, and none of them.
    """
    if text.isascii():
        return ()
    found = [word for word in _WORD.findall(text) if _LATIN.search(word) and _LOOKALIKE.search(word.translate(_UNITS))]
    return tuple(dict.fromkeys(found))


def _number(number: float) -> str:
    """Return a number as JSON writes it, of any size."""
    try:
        return repr(number)
    except ValueError:  # Python refuses to write whole numbers of more than 4,300 digits
        return hex(int(number))


_QUOTED: Final = {ord('"'): '\\"', ord("\\"): "\\\\", ord("\n"): "\\n", ord("\t"): "\\t"}
_DEPTH: Final = 200
"""Past this nesting nothing is shown, which counts as hidden."""


def _written(value: Json, depth: int = 0) -> Iterator[str]:
    """Yield a JSON value piece by piece, its letters as they are."""
    match value:
        case str():
            yield f'"{value.translate(_QUOTED)}"'
        case None:
            yield "null"
        case bool():
            yield "true" if value else "false"
        case int() | float():
            yield _number(value)
        case Mapping() | Sequence() if depth >= _DEPTH:
            yield "…"
        case Mapping():
            yield "{"
            for place, (key, item) in enumerate(value.items()):
                yield f'{", " if place else ""}"{str(key).translate(_QUOTED)}": '
                yield from _written(item, depth + 1)
            yield "}"
        case Sequence():
            yield "["
            for place, item in enumerate(value):
                yield ", " if place else ""
                yield from _written(item, depth + 1)
            yield "]"


def _texts(value: Json, depth: int = 0) -> Iterator[str]:
    """Yield every text in a JSON value, keys included."""
    if isinstance(value, str):
        yield value
    elif depth >= _DEPTH and isinstance(value, Mapping | Sequence):
        yield "\0"
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield str(key)
            yield from _texts(item, depth + 1)
    elif isinstance(value, Sequence):
        for item in value:
            yield from _texts(item, depth + 1)
