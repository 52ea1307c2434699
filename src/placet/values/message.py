"""What user, model and tools say, in no provider's format."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias, overload

from placet.values.call import ToolCall, ToolResult
from placet.values.construction import dataclass, made_quickly
from placet.values.json import Json


@dataclass(frozen=True, slots=True)
class UserMessage:
    """What the person said, or what placet tells the model in the person's place.

    Attributes:
        text: The words.
        by_person: Whether a person said them. What placet asks by itself (an answer in
            another form) is not evidence that a person wanted anything.
    """

    text: str
    by_person: bool = True


@made_quickly
@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """One answer of the model: words, calls, or both.

    Attributes:
        text: The words; empty when there are only calls.
        calls: In the order in which the model made them.
        provider: Which client wrote `provider_state`, for instance `"anthropic"`.
        provider_state: What that provider wants back unchanged (thinking blocks,
            reasoning items, signatures), opaque to everybody else.
        paused: Whether the provider wants to be asked again with just this at the end.
        cut: Whether it ends where the token limit was reached, so that it is not whole.
    """

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    provider: str = ""
    provider_state: Mapping[str, Json] | None = None
    paused: bool = False
    cut: bool = False


@dataclass(frozen=True, slots=True)
class ToolMessage:
    """All results of one turn, in call order: one for each call of the answer before it."""

    results: tuple[ToolResult, ...]


Message: TypeAlias = UserMessage | AssistantMessage | ToolMessage


class Transcript(Sequence[Message]):
    """Messages in order, append-only, as a value.

    `append` returns a new transcript and leaves this one as it is, yet costs the same for
    a long history as for a short one: both share one list of messages and one of what is
    written of each, and each knows its length.
    """

    __slots__ = ("_items", "_length", "_texts")

    def __init__(self, messages: Iterable[Message] = ()) -> None:
        self._items: list[Message] = list(messages)
        self._length = len(self._items)
        self._texts: list[str] = []

    def append(self, message: Message) -> "Transcript":
        """Return the transcript with one more message at its end."""
        items, texts = self._items, self._texts
        if len(items) != self._length:  # somebody has already gone on from here: part ways
            items, texts = items[: self._length], texts[: self._length]
        items.append(message)
        longer = Transcript.__new__(Transcript)
        longer._items = items  # noqa: SLF001 - our own class
        longer._length = self._length + 1  # noqa: SLF001 - our own class
        longer._texts = texts  # noqa: SLF001 - our own class
        return longer

    def texts(self, write: Callable[[Message], str], last: int | None = None) -> list[str]:
        """Return what is written of each message; each is written once, however often it is asked for.

        Args:
            write: Writes one message; always the same function.
            last: Of how many messages at the end; None for all.
        """
        texts = self._texts
        while len(texts) < self._length:
            texts.append(write(self._items[len(texts)]))
        return texts[0 if last is None else max(0, self._length - last) : self._length]

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> "Transcript": ...
    def __getitem__(self, index: int | slice) -> "Message | Transcript":
        if isinstance(index, slice):
            return Transcript(self._items[: self._length][index])
        if not -self._length <= index < self._length:
            raise IndexError(index)
        return self._items[index if index >= 0 else self._length + index]

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Message]:
        items = self._items
        for position in range(self._length):
            yield items[position]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Transcript) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # a sequence of messages is no key

    def __repr__(self) -> str:
        return f"Transcript({list(self)!r})"
