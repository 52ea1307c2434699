"""Fragments of tool calls, as servers stream them, put together into calls.

The wire says: `index` tells which call a fragment belongs to, `id` and `name` come in the
first one. Servers say: no index, always index 0, an id in every fragment, an empty one, the
name again or in pieces, arguments as an object. What belongs together is decided here by laws
that are written down, and what cannot be decided gives the call a fault: a call that cannot be
known is refused, never guessed.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from placet.models.call_arguments import is_object, write_text
from placet.models.decoded import as_object

CONTRADICTION: Final = "the parts of this call contradict each other, so it cannot be known; make the call again"
AMBIGUOUS: Final = "it cannot be told which call these arguments belong to; make one call at a time"
UNNAMED: Final = "the call names no tool; make the call again with the tool's name"
NOT_A_FUNCTION: Final = "only function tools are offered; call one of them by its name"

_KNOWN_KEYS: Final = frozenset({"index", "id", "type", "function"})
_KNOWN_FUNCTION_KEYS: Final = frozenset({"name", "arguments", "id"})


@dataclass(frozen=True, slots=True)
class Fragment:
    """One entry of `tool_calls`, in a chunk or in a whole message.

    Attributes:
        index: Which call it says it belongs to, or None.
        id: The call's id, or empty.
        name: The tool's name or a piece of it, or empty.
        arguments: A piece of the arguments' text; an empty one when there is none.
        value: Whether the arguments came as a JSON value instead of text, so that they are whole.
        extras: What else stands in it, opaque.
        fault: Why it cannot be understood, or None.
    """

    index: int | None
    id: str
    name: str
    arguments: str
    value: bool
    extras: Mapping[str, Any]
    fault: str | None


def read_fragment(entry: object) -> Fragment:
    """Return one entry of `tool_calls` as a fragment, whatever stands in it."""
    outer = as_object(entry)
    if outer is None:
        return Fragment(None, "", "", "", value=False, extras={}, fault=CONTRADICTION)
    fault = None
    if outer.get("function") is None:
        fault = NOT_A_FUNCTION if outer.get("type") not in (None, "", "function") else None
    elif as_object(outer["function"]) is None:
        fault = CONTRADICTION
    function = as_object(outer.get("function")) or {}
    arguments = function.get("arguments")
    extras = {key: value for key, value in outer.items() if key not in _KNOWN_KEYS and value is not None}
    inner = {key: value for key, value in function.items() if key not in _KNOWN_FUNCTION_KEYS and value is not None}
    if inner:
        extras["function"] = inner
    return Fragment(
        index=_read_index(outer.get("index")),
        id=_read_name(outer.get("id")) or _read_name(function.get("id")),
        name=_read_name(function.get("name")),
        arguments=arguments if isinstance(arguments, str) else "" if arguments is None else write_text(arguments),
        value=arguments is not None and not isinstance(arguments, str),
        extras=extras,
        fault=fault,
    )


def _read_index(value: object) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdigit():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _read_name(value: object) -> str:
    return "" if value is None else str(value)


@dataclass(slots=True)
class PartialCall:
    """A call as far as its fragments have come.

    Attributes:
        index: Where the server says it stands, or None.
        id: As the server sent it, or empty.
        chunk: Number of the chunk in which it began.
        name: As far as it has come.
        pieces: Of the arguments' text.
        value: Whether the arguments came as a JSON value, so that they are whole.
        extras: What else the server sent, opaque.
        fault: Why the call cannot be known, or None.
        moved: Whether it stands elsewhere than where it began.
    """

    index: int | None
    id: str
    chunk: int
    name: str = ""
    pieces: list[str] = field(default_factory=list[str])
    value: bool = False
    extras: dict[str, Any] = field(default_factory=dict[str, Any])
    fault: str | None = None
    moved: bool = False

    @property
    def arguments(self) -> str:
        """The arguments' text as far as it has come."""
        return "".join(self.pieces)

    def is_whole(self) -> bool:
        """Whether the arguments are a JSON object already, so that more text would spoil them."""
        return self.value or is_object(self.arguments)

    def take(self, fragment: Fragment, known: Collection[str]) -> None:
        """Take in one more fragment of this call."""
        self.id = self.id or fragment.id
        self.fault = self.fault or fragment.fault
        if fragment.name:
            self._take_name(fragment.name, known)
        if fragment.value:
            self._take_value(fragment.arguments)
        elif fragment.arguments:
            if self.value and fragment.arguments.strip():
                self.fault = self.fault or CONTRADICTION
            else:
                self.pieces.append(fragment.arguments)
        self.extras.update(fragment.extras)

    def _take_name(self, name: str, known: Collection[str]) -> None:
        joined = self.name + name
        if not self.name:
            self.name = name
        elif name == self.name:  # said again; unless the tools are called "ta" and "tata"
            if joined in known:
                self.fault = self.fault or CONTRADICTION
        elif self.pieces:  # a name does not change once the arguments have begun
            self.fault = self.fault or CONTRADICTION
        else:
            self.name = joined

    def _take_value(self, text: str) -> None:
        if self.pieces:
            if self.arguments != text:
                self.fault = self.fault or CONTRADICTION
            return
        self.pieces.append(text)
        self.value = True


class CallFragments:
    """Puts fragments together, chunk by chunk.

    Args:
        known: Names of the tools that were offered: they tell two names from one in pieces.

    Attributes:
        calls: The calls so far, in the order in which they began.
    """

    def __init__(self, known: Collection[str] = ()) -> None:
        self.calls: list[PartialCall] = []
        self._known = known
        self._chunk = 0

    def add(self, entries: Sequence[object]) -> None:
        """Take in the entries of one chunk."""
        self._chunk += 1
        fragments = [read_fragment(entry) for entry in entries]
        unplaced = sum(1 for fragment in fragments if fragment.index is None)
        before, seen = len(self.calls), 0
        for fragment in fragments:
            if fragment.index is None:
                seen += 1
            call = self._find(fragment, seen, unplaced, before)
            if call is not None and fragment.name:
                if self._is_resend(call, fragment):
                    continue
                if self._begins_anew(call, fragment):
                    call = None
            if call is None:
                call = PartialCall(fragment.index, fragment.id, self._chunk)
                self.calls.append(call)
            call.take(fragment, self._known)

    def close(self) -> list[PartialCall]:
        """Return the calls, now that no more fragments come.

        Arguments that belong to no named call may be those of one that has got none.
        """
        if any(call.pieces and not call.name for call in self.calls):
            for call in self.calls:
                if call.moved or not call.is_whole():
                    call.fault = call.fault or AMBIGUOUS
        return self.calls

    def _find(self, fragment: Fragment, place: int, unplaced: int, before: int) -> PartialCall | None:
        """Return the call to which a fragment belongs, or None when it begins a new one.

        Args:
            fragment: The fragment.
            place: Its place, from 1, among the fragments of its chunk that have no index.
            unplaced: How many fragments of its chunk have no index.
            before: How many calls there were before this chunk.
        """
        if fragment.id:
            return self._find_by_id(fragment)
        if fragment.index is not None:
            return self._last_at(fragment.index) or self._find_misnumbered(fragment.index, fragment.name)
        if not self.calls or (fragment.name and place > 1):
            return None
        if unplaced > 1:  # by position, among as many calls as there are fragments
            position = before - unplaced + place - 1
            return self.calls[position] if 0 <= position < before else None
        last = self.calls[-1]
        together = [call for call in self.calls if call.chunk == last.chunk]
        if len(together) > 1 and not fragment.name and last.chunk != self._chunk:
            for call in together:
                call.fault = call.fault or AMBIGUOUS
        return last

    def _find_by_id(self, fragment: Fragment) -> PartialCall | None:
        for call in reversed(self.calls):
            if call.id == fragment.id and (fragment.index is None or call.index in (None, fragment.index)):
                return call
        if fragment.index is None:
            return None
        last = self._last_at(fragment.index)
        if last is None or last.id or last.is_whole():
            return None
        if fragment.name:  # the id comes late, or a new call begins: it cannot be told
            last.fault = last.fault or CONTRADICTION
        return last

    def _find_misnumbered(self, index: int, name: str) -> PartialCall | None:
        """Return the open call in whose place a fragment says it stands, where the call began at 0.

        An index is a place by its meaning. Some servers begin each call at 0, and number only
        what follows (agno-agi/agno#8880).
        """
        call = self.calls[index] if 0 < index < len(self.calls) else None
        if call is None or name or call.index != 0 or call.is_whole():
            return None
        call.index, call.moved = index, True
        return call

    def _last_at(self, index: int) -> PartialCall | None:
        return next((call for call in reversed(self.calls) if call.index == index), None)

    def _is_resend(self, call: PartialCall, fragment: Fragment) -> bool:
        """Whether a fragment only says again what is there: the same whole call, under no other id.

        Two calls that are the same in all else come under two ids, or in one chunk, without an index.
        """
        return (
            bool(fragment.id or fragment.index is not None or call.chunk != self._chunk)
            and call.name == fragment.name
            and bool(fragment.arguments)
            and call.arguments == fragment.arguments
            and call.is_whole()
        )

    def _begins_anew(self, call: PartialCall, fragment: Fragment) -> bool:
        """Whether a fragment with a name begins another call at the same place."""
        if not call.name:  # the name comes late
            return False
        if call.pieces:
            return call.is_whole() and (bool(fragment.arguments.strip()) or fragment.name != call.name)
        return (
            call.name != fragment.name
            and call.name in self._known
            and fragment.name in self._known
            and call.name + fragment.name not in self._known
        )
