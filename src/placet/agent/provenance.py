"""Trace where the arguments of a call came from, by comparing whole normalised values.

Half a match is none: an address that begins like the one which the person gave is another
address. Only what the person said themselves counts as said by them; what placet or a tool
put in their place does not.

| the person said | is also |
|---|---|
| `ANA@Shop.example` | `ana@shop.example`: case, width and blanks are no difference |
| `@ana`, `#general` | `ana`, `general` |
| `http://shop.example/` | `shop.example`, `https://shop.example`, but not the other way from https to http |
| `GB29 NWBK 6016 1331 9268 19` | `GB29NWBK60161331926819`, and so with any long code that holds four digits |
| `500,00` | 500 |

A short number names nothing by itself: "on June 13" speaks of no file 13. Where a text is only
that, or an argument `…_id` is, the person must have said what it numbers: "file 13", "#13".
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Final

from placet.values.json import Json, JsonObject
from placet.values.message import AssistantMessage, Message, ToolMessage, UserMessage
from placet.values.provenance import Origin, Provenance

_SPACES: Final = re.compile(r"\s+")
_ESCAPES: Final = re.compile(r"\\[nrt]")
"""How JSON writes the ends of lines: the letter is no part of the word that follows."""
_NUMBER: Final = re.compile(r"(?<![\w.,/\-])(?<!\d:)[-+]?\d[\d.,]*(?!\w)(?![-/:]\d)")
"""A number that is no part of a word, a date or a time."""
_WORST: Final = (Origin.UNTRUSTED, Origin.MODEL, Origin.TOOL, Origin.DEVELOPER, Origin.PERSON)
"""A value with parts comes from where the worst of its parts comes from."""

_START: Final = r"(?<![\w@#+\-/:%&=?~])(?<!\w\.)(?:https?://|[@#](?=\w))?"
"""Where a value may begin. Signs that join words make it part of a longer one; a scheme, and the sign
of a mention, do not."""
_START_PLAIN: Final = _START.replace("https?", "http")
"""The same for a value that goes by `http://`: where the person said `https://`, that is another way."""
_END: Final = r"(?![?:/.]*[\w@+\-%&=#~])"
"""Where a value may end: a sentence may go on with a sign, the value may not go on after one."""

_SCHEME: Final = re.compile(r"https?://(?=.)")
_CODE: Final = re.compile(r"(?=(?:\D*\d){4})[^\W_]{8,40}")
"""A code that people write in groups: an account, a card, a telephone number."""
_LONGEST_CODE: Final = 60
"""With its gaps."""
_GAPS: Final = re.compile(r"[ \-]")

_SHORT_NUMBER: Final = re.compile(r"\d{1,3}")
_NUMBERING: Final = ("id", "number", "no", "no.", "nº", "n°", "nr", "nr.", "número", "numărul")
"""What a person says before a number that names a thing."""


def trace(
    arguments: JsonObject,
    transcripts: Sequence[Iterable[Message]],
    is_writable: Callable[[str], bool],
    defaults: Mapping[str, Json],
) -> dict[str, Provenance]:
    """Return where each argument came from, by its name.

    Args:
        arguments: The arguments that would run.
        transcripts: The conversations in which the call stands, outermost first.
        is_writable: Whether others can write what the tool of this name gives back.
        defaults: What the tool itself gives for arguments that were left out.
    """
    said, outputs = _sources(transcripts, is_writable)
    doubt = any(untrusted for _, _, untrusted in outputs)
    return {
        name: Provenance(Origin.DEVELOPER)
        if name in defaults and defaults[name] == value
        else _worst(_trace_leaf(name, leaf, said, outputs, doubt=doubt) for leaf in _leaves(value))
        for name, value in arguments.items()
    }


def _sources(
    transcripts: Sequence[Iterable[Message]], is_writable: Callable[[str], bool]
) -> tuple[list[str], list[tuple[str, str, bool]]]:
    """Return what the person said, and each tool output with its tool and whether others can write it."""
    said: list[str] = []
    outputs: list[tuple[str, str, bool]] = []
    for transcript in transcripts:
        names: dict[str, str] = {}
        for message in transcript:
            match message:
                case UserMessage(text=text, by_person=True):
                    said.append(_normal(text))
                case AssistantMessage(calls=calls):
                    names = {call.id: call.name for call in calls}
                case ToolMessage(results=results):
                    for result in results:
                        name = names.get(result.call_id, "")
                        text = _normal(_ESCAPES.sub(" ", result.content))
                        outputs.append((name, text, is_writable(name)))
                case _:
                    continue
    return said, outputs


def _trace_leaf(
    name: str, leaf: Json, said: list[str], outputs: list[tuple[str, str, bool]], *, doubt: bool
) -> Provenance:
    if leaf is None:
        return Provenance(Origin.MODEL)
    stands_in = _seek(leaf)
    if any(stands_in(text) for text in said) and _is_named(name, leaf, said):
        return Provenance(Origin.PERSON)
    found = [(tool, untrusted) for tool, text, untrusted in outputs if stands_in(text)]
    for tool, untrusted in found:
        if untrusted:
            return Provenance(Origin.UNTRUSTED, tool)
    if found:
        return Provenance(Origin.TOOL, found[0][0])
    return Provenance(Origin.UNTRUSTED if doubt else Origin.MODEL)


def _is_named(name: str, leaf: Json, said: list[str]) -> bool:
    """Whether the person said what a short number numbers; true of all that is none."""
    words = name.casefold().split("_")
    digits = str(leaf)
    if not _SHORT_NUMBER.fullmatch(digits) or not (isinstance(leaf, str) or words[-1] == "id"):
        return True
    before = "|".join(re.escape(word) for word in (*filter(None, words), *_NUMBERING))
    pattern = re.compile(rf"(?:#|(?<!\w)(?:{before})[ :]*#?){re.escape(digits)}{_END}")
    return any(pattern.search(text) for text in said)


def _worst(found: Iterable[Provenance]) -> Provenance:
    return min(found, key=lambda one: _WORST.index(one.origin), default=Provenance(Origin.MODEL))


def _leaves(value: Json) -> Iterator[Json]:
    if isinstance(value, Mapping):
        for part in value.values():
            yield from _leaves(part)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for part in value:
            yield from _leaves(part)
    else:
        yield value


def _seek(leaf: Json) -> Callable[[str], bool]:
    """Return what says whether the whole value stands in a text, as a word or a number of its own."""
    if isinstance(leaf, str):
        return _seek_text(_normal(leaf))
    if isinstance(leaf, bool):
        return lambda _: False
    number = _number(str(leaf))
    return lambda text: any(_number(found) == number for found in _NUMBER.findall(text))


def _seek_text(value: str) -> Callable[[str], bool]:
    plain = _SCHEME.sub("", value, count=1).removesuffix("/").lstrip("@#") or value
    code = _GAPS.sub("", plain) if len(plain) <= _LONGEST_CODE else ""
    start = _START_PLAIN if value.startswith("http://") else _START
    if _CODE.fullmatch(code):
        grouped = "[ -]?".join(code)
        pattern = re.compile(rf"{start}(?:{code}|(?<!\d[ \-]){grouped}(?![ \-]?\d)){_END}")
        return lambda text: pattern.search(text) is not None
    # Most values stand nowhere, and the pattern of a long one is dear.
    return lambda text: plain != "" and plain in text and re.search(start + re.escape(plain) + _END, text) is not None


def _normal(text: str) -> str:
    return _SPACES.sub(" ", unicodedata.normalize("NFKC", text)).strip().casefold()


def _number(text: str) -> Decimal | None:
    """Return the number that a text says, with a comma or a point, or None."""
    plain = text.rstrip(".,")
    if "," in plain and "." in plain:
        last = max(plain.rfind(","), plain.rfind("."))
        plain = re.sub(r"[.,]", "", plain[:last]) + "." + plain[last + 1 :]
    plain = plain.replace(",", ".")
    try:
        return Decimal(plain)
    except InvalidOperation:
        return None
