"""Trace where the arguments of a call came from, by comparing whole normalised values.

Half a match is none: an address that begins like the one which the person gave is another
address. Only what the person said themselves counts as said by them; what placet or a tool
put in their place does not.
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
_NUMBER: Final = re.compile(r"[-+]?\d[\d.,]*")
_WORST: Final = (Origin.UNTRUSTED, Origin.MODEL, Origin.TOOL, Origin.DEVELOPER, Origin.PERSON)
"""A value with parts comes from where the worst of its parts comes from."""

_INSIDE: Final = r"[\w@+\-/:%&=?#~]"
"""Signs that make a value part of a longer one when they stand next to it; a dot does when more follows it."""


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
        else _worst(_trace_leaf(leaf, said, outputs, doubt=doubt) for leaf in _leaves(value))
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
                        outputs.append((name, _normal(result.content), is_writable(name)))
                case _:
                    continue
    return said, outputs


def _trace_leaf(leaf: Json, said: list[str], outputs: list[tuple[str, str, bool]], *, doubt: bool) -> Provenance:
    if leaf is None or isinstance(leaf, bool):
        return Provenance(Origin.MODEL)
    if any(_stands_in(leaf, text) for text in said):
        return Provenance(Origin.PERSON)
    found = [(name, untrusted) for name, text, untrusted in outputs if _stands_in(leaf, text)]
    for name, untrusted in found:
        if untrusted:
            return Provenance(Origin.UNTRUSTED, name)
    if found:
        return Provenance(Origin.TOOL, found[0][0])
    return Provenance(Origin.UNTRUSTED if doubt else Origin.MODEL)


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


def _stands_in(leaf: Json, text: str) -> bool:
    """Whether the whole value stands in a text, as a word of its own."""
    if isinstance(leaf, int | float):
        return any(_number(found) == _number(str(leaf)) for found in _NUMBER.findall(text))
    value = _normal(str(leaf))
    if not value:
        return False
    pattern = rf"(?<!{_INSIDE})(?<!\w\.){re.escape(value)}(?!{_INSIDE})(?!\.\w)"
    return re.search(pattern, text) is not None


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
