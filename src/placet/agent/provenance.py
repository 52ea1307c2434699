"""Trace where the arguments of a call came from, by comparing whole normalised values.

Half a match is none: an address that begins like the one which the person gave is another
address. Only what the person said themselves counts as said by them; what placet or a tool
put in their place does not.

| the person said | is also |
|---|---|
| `ANA@Shop.example` | `ana@shop.example`: case, width and blanks are no difference, but case is one in a password |
| `@ana`, `#general` | `ana`, `general` |
| `http://shop.example/` | `shop.example`, `https://shop.example`, but not the other way from https to http |
| `GB29 NWBK 6016 1331 9268 19` | `GB29NWBK60161331926819`, and so with any long code that holds four digits |
| `500,00` | 500 |

What stands in their words by accident is not theirs: see `placet.agent.whole_values`.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from placet.agent.whole_values import Text, is_said, stands_anywhere, stands_whole, text_of
from placet.values.call import ToolCall, ToolResult
from placet.values.json import Json, JsonObject
from placet.values.message import AssistantMessage, Message, ToolMessage, UserMessage
from placet.values.provenance import Origin, Provenance

_ESCAPES: Final = re.compile(r"\\[nrt]")
"""How JSON writes the ends of lines: the letter is no part of the word that follows."""
_WORST: Final = (Origin.UNTRUSTED, Origin.MODEL, Origin.TOOL, Origin.DEVELOPER, Origin.PERSON)
"""A value with parts comes from where the worst of its parts comes from."""

Output: TypeAlias = tuple[str, Text, bool]
"""What a tool gave back: the tool, the text, and whether others can write it."""


def trace(
    arguments: JsonObject,
    transcripts: Sequence[Iterable[Message]],
    is_writable: Callable[[str], bool],
    defaults: Mapping[str, Json],
    declared: Collection[str] = (),
) -> dict[str, Provenance]:
    """Return where each argument came from, by its name.

    Args:
        arguments: The arguments that would run.
        transcripts: The conversations in which the call stands, outermost first.
        is_writable: Whether others can write what the tool of this name gives back.
        defaults: What the tool itself gives for arguments that were left out.
        declared: Names of fields that the tool has declared. Any other name in an object is a
            value too: `{"mallory@evil.example": 100}` names who gets it.
    """
    said, outputs = _sources(transcripts, is_writable)
    doubt = any(untrusted for _, _, untrusted in outputs)
    return {
        name: Provenance(Origin.DEVELOPER)
        if name in defaults and defaults[name] == value
        else _worst(_trace_leaf(name, leaf, said, outputs, doubt=doubt) for leaf in _leaves(value, declared))
        for name, value in arguments.items()
    }


def _sources(
    transcripts: Sequence[Iterable[Message]], is_writable: Callable[[str], bool]
) -> tuple[list[Text], list[Output]]:
    """Return what the person said, and each tool output with its tool and whether others can write it."""
    said: list[Text] = []
    outputs: list[Output] = []
    for transcript in transcripts:
        asked: Sequence[ToolCall] = ()
        for message in transcript:
            match message:
                case UserMessage(text=text, by_person=True):
                    said.append(text_of(text))
                case AssistantMessage(calls=calls):
                    asked = calls
                case ToolMessage(results=results):
                    for name, result in zip(_tools_of(asked, results), results, strict=True):
                        given = text_of(_ESCAPES.sub(" ", result.content))
                        outputs.append((name, given, is_writable(name)))
                case _:
                    continue
    return said, outputs


def _tools_of(calls: Sequence[ToolCall], results: Sequence[ToolResult]) -> list[str]:
    """Return from which tool each result comes: by its id, or by its place where calls share one.

    Ids are the provider's, and what one call gave back must not pass for another's. A tool that cannot be
    told is called nothing: nobody knows it, and what it gave back is untrusted.
    """
    by_place = [call.id for call in calls] == [result.call_id for result in results]
    names: list[str] = []
    for place, result in enumerate(results):
        named = [call.name for call in calls if call.id == result.call_id]
        names.append(named[0] if len(named) == 1 else calls[place].name if by_place else "")
    return names


def _trace_leaf(name: str, leaf: Json, said: list[Text], outputs: list[Output], *, doubt: bool) -> Provenance:
    if leaf is None:
        return Provenance(Origin.MODEL)
    if any(map(is_said(name, leaf), said)):
        return Provenance(Origin.PERSON)
    found = stands_anywhere(leaf)
    for tool, text, untrusted in outputs:
        if untrusted and found(text):
            return Provenance(Origin.UNTRUSTED, tool)
    found = stands_whole(leaf)
    for tool, text, untrusted in outputs:
        if not untrusted and found(text):
            return Provenance(Origin.TOOL, tool)
    return Provenance(Origin.UNTRUSTED if doubt else Origin.MODEL)


def _worst(found: Iterable[Provenance]) -> Provenance:
    return min(found, key=lambda one: _WORST.index(one.origin), default=Provenance(Origin.MODEL))


def _leaves(value: Json, declared: Collection[str]) -> Iterator[Json]:
    if isinstance(value, Mapping):
        for name, part in value.items():
            if name not in declared:
                yield name
            yield from _leaves(part, declared)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for part in value:
            yield from _leaves(part, declared)
    else:
        yield value
