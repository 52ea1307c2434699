"""Whole values: whether a value stands in a text as itself, or only as a part of something else.

What a person says is full of words, numbers and parts of names that were not meant as a value: the 13 of
"June 13", the `bill` of `bill-2023.txt`, the word "password". An attacker may choose any of them. So

| in the person's words | stands as a value |
|---|---|
| an address, a code, a file's name: what has signs or mixes letters with digits | where it begins and ends |
| a name: capitals where a sentence does not ask for them | where no further name goes on |
| an ordinary word, or several | in quotes, as a mention, or as all that follows a colon |
| a number | as a number alone; where it names a thing, after what it numbers: "file 13", "#13" |

and everything else is ambiguous, which is not enough.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from typing import Final, TypeAlias

from placet.redaction.keys import Secrecy, secrecy
from placet.values.construction import dataclass
from placet.values.json import Json

Span: TypeAlias = tuple[int, int]
Seek: TypeAlias = Callable[[str], Iterator[Span]]
"""From a text in small letters to the places where a value begins and ends."""

_BLANKS: Final = re.compile(r"\s+")
_WIDE: Final = re.compile("[\u3000\uff00-\uffef]")
_APOSTROPHES: Final = str.maketrans("\u2019\u02bc", "''")
_HYPHENS: Final = r"\-\u2010-\u2013\u2212"

_START: Final = rf"(?<![\w@#+{_HYPHENS}/\\:%&=?~])(?<!\w[.'])(?:https?://|[@#](?=\w))?"
"""Where a value may begin. Signs that join words make it part of a longer one; a scheme, and the sign
of a mention, do not."""
_END: Final = rf"(?![?:/.\\]*[\w@+{_HYPHENS}%&=#~])(?!'(?!s\b)\w)"
"""Where a value may end: a sentence may go on with a sign, the value may not go on after one."""

_SCHEME: Final = re.compile(r"https?://(?=.)")
_CODE: Final = re.compile(r"(?=(?:\D*\d){4})[^\W_]{8,40}")
"""A code that people write in groups: an account, a card, a telephone number."""
_LONGEST_CODE: Final = 60
"""With its gaps."""
_GAPS: Final = re.compile(r"[ \-]")
_GROUPED: Final = re.compile(
    r"(?<!\w)[A-Za-z]{2}\d\d(?:[ -][A-Za-z]{4})?(?:[ -][A-Z\d]{1,4}|[ -](?=\w{1,4}(?!\w))[a-z]*\d[a-z\d]*){2,9}(?!\w)"
    r"|(?<![\w.,:/\-])\d{1,5}(?: \d{1,5}){1,11}(?![\w:/\-]|[.,]\d)"
)
"""What may be one code in groups: no part of it is a value."""
_AROUND: Final = 100
"""So many characters are looked at before and after a value; no group is longer, and few names are."""

_LOOSE_NUMBER: Final = re.compile(r"(?<![\w.,/\-])(?<!\d:)[-+]?\d[\d.,]*+(?!\w)(?![-/:]\d)")
"""A number that is no part of a word, a date or a time."""
_NUMBER: Final = re.compile(
    rf"(?<![\w.,/\\{_HYPHENS}@#+*^=\u00d7])(?<!\w[:'])(?<!minus )(?<!menos )-?\d[\d.,]*+"
    rf"(?!\w)(?![{_HYPHENS}:'+*^=\u00d7]\d)(?!/\w)(?! ?[%‰°])"
    r"(?! (?:hundred|thousand|million|billion|dozen|mil|milh|bilh|dúzia|sut|mie|mii|milion|milioane|miliard|duzin))"
)
"""The same, and of no range, share, sum or longer number, and no number of thousands."""
_DECIMAL: Final = re.compile(r"[-+]?\d+(?:[.,]\d+)?")
_THOUSANDS: Final = re.compile(r"([-+]?[1-9]\d{0,2}([.,])\d{3}(?:\2\d{3})*)(?:(?!\2)[.,](\d+))?")
_NUMBERED: Final = re.compile(r"\d{1,7}[^\W\d_]{0,3}")
"""What names nothing by itself: a number, an ordinal, an hour."""
_NUMBERING: Final = ("id", "number", "no.", "nº", "n°", "nr", "nr.", "número", "numărul")
"""What a person says before a number that names a thing."""

_DISTINCT: Final = re.compile(
    r"[^\W\d_]{2}\.[^\W\d_]{2}|\w[@_\\&=+]+\w|^[@#]\w|://|\d[^\s]*[^\W\d_]|[^\W\d_][^\s]*\d|\d[.:/-]\d"
)
"""Nobody would write it for anything else: an address, a code, a file's name, a date, a mention."""
_QUOTES: Final = {"'": "'", '"': '"', "`": "`", "\u201c": "\u201d", "\u201e": "\u201d", "«": "»", "\u2018": "'"}
_SENTENCE_STARTS: Final = re.compile(r"(?:^|[.!?:;…\n(\[{\"'`«•*>\u2018\u201c\u201e])\s*$|(?:^|\s)-\s*$")
_DICTATED: Final = re.compile(r":\s*$")
_DICTATION_ENDS: Final = re.compile(r"\s*(?:$|\n|[.!?;](?:\s|$))")
_FOLLOWING: Final = re.compile(r" ([^\W\d_][\w.'-]*)")
_LEADING: Final = re.compile(r"(?:^|\s)(\S*\w)['\"]? $")
_CALENDAR: Final = frozenset({
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
    "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec",
    "mon", "tue", "wed", "thu", "fri", "sat", "sun",
})  # fmt: skip
"""Words that English writes with a capital, and that are no names."""
_SHOUTING: Final = 0.8
"""From this share of capitals on they say nothing."""


@dataclass(frozen=True, slots=True)
class Text:
    """A text in which values are looked for.

    Attributes:
        written: As it was written, with single blanks and ends of lines.
        small: The same in small letters, character for character.
    """

    written: str
    small: str

    def at(self, place: Span) -> str:
        """Return what stands at a place."""
        return self.written[place[0] : place[1]]

    def before(self, place: Span) -> str:
        """Return what stands directly before it."""
        return self.written[max(0, place[0] - _AROUND) : place[0]]

    def after(self, place: Span) -> str:
        """Return what stands directly after it."""
        return self.written[place[1] : place[1] + _AROUND]


def text_of(text: str) -> Text:
    """Return a text, with what is no difference taken out: width, kinds of blanks and of apostrophes."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", text).translate(_APOSTROPHES)
        text = _WIDE.sub(lambda letter: unicodedata.normalize("NFKC", letter[0]), text)
    written = _BLANKS.sub(lambda blanks: "\n" if "\n" in blanks[0] else " ", text).strip()
    return Text(written, _small(written).replace("\n", " "))


def stands_anywhere(leaf: Json) -> Callable[[Text], bool]:
    """Return what says whether a text holds the value at all, also where it may be something else."""
    if isinstance(leaf, bool) or leaf is None:
        return lambda _: False
    if isinstance(leaf, str):
        seek = _seek(_normal(leaf))
        return lambda text: any(True for _ in seek(text.small))
    number = Decimal(str(leaf))
    return lambda text: any(number in _readings(found) for found in _LOOSE_NUMBER.findall(text.small))


def stands_whole(leaf: Json) -> Callable[[Text], bool]:
    """Return what says whether a text holds the value as a value of its own."""
    if isinstance(leaf, bool) or leaf is None:
        return lambda _: False
    if isinstance(leaf, str):
        seek = _seek(_normal(leaf))
        return lambda text: any(_is_apart(text, place) for place in seek(text.small))
    number = Decimal(str(leaf))
    return lambda text: any(
        _readings(found[0]) == {number} and _is_apart(text, found.span()) for found in _NUMBER.finditer(text.small)
    )


def is_said(name: str, leaf: Json) -> Callable[[Text], bool]:
    """Return what says whether a person, in these words, has given the value for the argument of this name."""
    if isinstance(leaf, bool) or leaf is None:
        return lambda _: False
    words = [word.lower() for word in re.split(r"_|(?<=[a-z])(?=[A-Z])", name) if word]
    if not isinstance(leaf, str) and not (words and words[-1].removesuffix("s") in ("id", "number")):
        return stands_whole(leaf)
    value = _normal(str(leaf))
    if _NUMBERED.fullmatch(value):
        return _numbered(words, value)
    seek = _seek(value)
    exact = str(leaf) if secrecy(name) is not Secrecy.OPEN else None
    return lambda text: _is_given(
        text,
        [place for place in seek(text.small) if _is_apart(text, place) and exact in (None, text.at(place))],
        is_code=_is_code(value),
    )


def _numbered(words: Sequence[str], number: str) -> Callable[[Text], bool]:
    """Return what says whether the person said what a number numbers."""
    before = "|".join(re.escape(word) for word in (*words, *(f"{word}s" for word in words), *_NUMBERING))
    numbers = r"(?:#?\d{1,7}(?:, ?| and | & | e | și ))*"
    pattern = re.compile(rf"(?:(?<![\w#])#|(?<!\w)(?:{before})[ :]*{numbers}#?)({re.escape(number)}){_END}")
    return lambda text: any(_is_apart(text, found.span(1)) for found in pattern.finditer(text.small))


def _seek(value: str) -> Seek:
    plain = _SCHEME.sub("", value, count=1).removesuffix("/")
    sign = plain[0] if plain[:1] in ("@", "#") else ""
    plain = plain.removeprefix(sign) or value
    start = _START
    if value.startswith("http://"):  # where the person said `https://`, that is another way
        start = start.replace("https?", "http")
    if sign:
        start = start.replace("[@#]", sign)
    if _is_code(plain):
        code = _GAPS.sub("", plain)
        grouped = "[ -]?".join(code)
        pattern = re.compile(rf"{start}(?:{code}|(?<!\d[ \-]){grouped}(?![ \-]?\d)){_END}")
        return lambda text: (found.span() for found in pattern.finditer(text))
    # Most values stand nowhere, and the pattern of a long one is dear.
    return lambda text: (found.span() for found in _found(start + re.escape(plain) + _END, plain, text))


def _found(pattern: str, plain: str, text: str) -> Iterator[re.Match[str]]:
    return re.finditer(pattern, text) if plain and plain in text else iter(())


def _is_code(value: str) -> bool:
    return len(value) <= _LONGEST_CODE and _CODE.fullmatch(_GAPS.sub("", value)) is not None


def _is_apart(text: Text, place: Span) -> bool:
    """Whether it is no part of a code that is written in groups."""
    start, end = place
    return all(
        end <= found.start() or found.end() <= start or (start <= found.start() and found.end() <= end)
        for found in _GROUPED.finditer(text.written, max(0, start - _AROUND), end + _AROUND)
    )


def _is_given(text: Text, places: Sequence[Span], *, is_code: bool) -> bool:
    """Whether what stands there looks as if it was given: distinct, quoted, dictated, or a whole name."""
    if any(is_code or _is_marked(text, place) for place in places):
        return True
    names = [place for place in places if _is_name(text, place)]
    if not names or _is_shouting(text.written):
        return False
    # "Invite Dora" may be a name or the second word of a title: it counts where the word has no other use.
    return len(names) == len(places) or not all(_is_second(text, place) for place in names)


def _is_marked(text: Text, place: Span) -> bool:
    before, written, after = text.before(place), text.at(place), text.after(place)
    if _DISTINCT.search(written) and not _BLANKS.search(written):
        return True
    if before[-1:] in _QUOTES and after.startswith(_QUOTES[before[-1:]]):
        return True
    return _DICTATED.search(before) is not None and _DICTATION_ENDS.match(after) is not None


def _is_name(text: Text, place: Span) -> bool:
    """Whether capitals make it a name, and no further name stands directly before or after it."""
    before = text.before(place)
    tokens = [token.strip(",.;:!?()[]\"'") for token in text.at(place).split()]
    names = [_DISTINCT.search(token) is not None or _has_capital(token) for token in tokens]
    if not any(names) or not all(names[index] or tokens[index].isdecimal() for index in (0, -1)):
        return False
    if len(tokens) == 1 and _SENTENCE_STARTS.search(before) and not _has_capital(tokens[0][1:]):
        return False
    following, leading = _FOLLOWING.match(text.after(place)), _LEADING.search(before)
    if following and _has_capital(following[1]):
        return False
    if leading and leading[1].isdecimal():
        return tokens[0].isupper()  # a currency, but not a street
    return leading is None or not _has_capital(leading[1]) or _is_second(text, place)


def _is_second(text: Text, place: Span) -> bool:
    """Whether it follows the first word of a sentence, whose capital says nothing."""
    before = text.before(place)
    leading = _LEADING.search(before)
    return leading is not None and _SENTENCE_STARTS.search(before[: leading.start(1)]) is not None


def _has_capital(token: str) -> bool:
    return len(token) > 1 and token.lower() not in _CALENDAR and any(map(str.isupper, token))


def _is_shouting(written: str) -> bool:
    capitals, letters = sum(map(str.isupper, written)), sum(map(str.isalpha, written))
    return capitals > _SHOUTING * letters


def _normal(value: str) -> str:
    """Return a value as it is looked for. One that is written wide or with look-alikes is found nowhere."""
    return _BLANKS.sub(" ", _small(unicodedata.normalize("NFC", value).translate(_APOSTROPHES))).strip()


def _small(text: str) -> str:
    """Return it in small letters, character for character. No `casefold`: ß and ss are two names."""
    small = text.lower()
    return small if len(small) == len(text) else "".join(one.lower() if len(one.lower()) == 1 else one for one in text)


def _readings(written: str) -> set[Decimal]:
    """Return the numbers that this may be: with a comma or a point, 1.000 is a thousand or one."""
    plain = written.rstrip(".,")
    readings = set[Decimal]()
    if _DECIMAL.fullmatch(plain):
        readings.add(Decimal(plain.replace(",", ".")))
    if found := _THOUSANDS.fullmatch(plain):
        whole = found[1].replace(".", "").replace(",", "")
        readings.add(Decimal(f"{whole}.{found[3] or 0}"))
    return readings
