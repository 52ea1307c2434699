"""From Anthropic Messages traffic, streamed or whole, to a `ModelAnswer`.

Pure. An answer is a list of blocks; what is neither words nor a call (thinking with its
signature, what the provider's own tools did) is opaque, and goes back in its place.
"""

from collections.abc import Mapping
from typing import Any, Final

from placet.errors import ModelProtocolError
from placet.models.accumulator import BROKEN_OFF, CUT
from placet.models.call_arguments import read_object, write_text
from placet.models.call_ids import make_unique
from placet.models.decoded import as_amount, as_list, as_object, as_text, keep, show
from placet.models.fragments import CONTRADICTION, UNNAMED
from placet.ports import Finish, ModelAnswer
from placet.values.call import ToolCall
from placet.values.run import Usage

_FINISH: Final = {
    "end_turn": Finish.STOP,
    "stop_sequence": Finish.STOP,
    "tool_use": Finish.CALLS,
    "max_tokens": Finish.LENGTH,
    "model_context_window_exceeded": Finish.LENGTH,
    "pause_turn": Finish.PAUSE,
    "refusal": Finish.REFUSAL,
}
_CALL_KEYS: Final = frozenset({"type", "id", "name", "input"})


class _Block:
    """One block of the answer as far as it has come."""

    def __init__(self, block: Mapping[str, Any]) -> None:
        self.kind = block["type"]
        self.fields = dict(block)
        self.json: list[str] = []
        self.ended = False

    def take(self, delta: Mapping[str, Any]) -> str:
        """Take in one delta, and return the words that are new in it."""
        match delta.get("type"):
            case "text_delta":
                return self._append("text", delta.get("text"))
            case "input_json_delta":
                self.json.append(as_text(delta.get("partial_json")))
            case "thinking_delta":
                self._append("thinking", delta.get("thinking"))
            case "signature_delta":
                self._append("signature", delta.get("signature"))
            case "citations_delta":
                self.fields["citations"] = [*(as_list(self.fields.get("citations")) or []), delta.get("citation")]
            case _:
                pass  # a kind that is newer than this code adds nothing that can be known
        return ""

    def read_arguments(self) -> tuple[str, str | None]:
        """Return the call's arguments, and its fault or None."""
        text, given = "".join(self.json), self.fields.get("input")
        if text.strip():
            return text, CONTRADICTION if given else None
        if not given and not self.ended:  # what was meant for it may have gone elsewhere
            return "{}", BROKEN_OFF
        if given is None or given == "":
            return "{}", None
        return (given if isinstance(given, str) else write_text(given)), None

    def as_kept(self) -> dict[str, Any]:
        """Return the block as the provider wants it back; a call only marks its place."""
        if self.kind == "tool_use":
            return {"type": "tool_use"}
        if self.json:  # the input of a tool that the provider runs itself
            return {**self.fields, "input": read_object("".join(self.json))}
        return self.fields

    def _append(self, key: str, piece: object) -> str:
        text = as_text(piece)
        self.fields[key] = f"{self.fields.get(key) or ''}{text}"
        return text


class MessagesReader:
    """Reads one answer: `add` for each event of a stream, or `read` for a whole one; then `finish`."""

    def __init__(self) -> None:
        self._blocks: list[_Block] = []
        self._at: dict[int, _Block] = {}
        self._usage: dict[str, Any] = {}
        self._model = ""
        self._stop = ""
        self._refusal: str | None = None
        self._answered = False
        self._streamed = False

    def add(self, event: object) -> str:
        """Take in one event, and return the words that are new in it.

        Raises:
            ModelProtocolError: It is no event of a message.
        """
        self._streamed = True
        body = as_object(event)
        if body is None:
            raise ModelProtocolError(f"an event of the model's answer is no object but {show(event)}")
        match body.get("type"):
            case "message_start":
                self._read_envelope(body.get("message"))
            case "content_block_start":
                return self._open(body.get("index"), body.get("content_block"))
            case "content_block_delta":
                return self._extend(body.get("index"), body.get("delta"))
            case "content_block_stop":
                self._end(body.get("index"))
            case "message_delta":
                self._read_end(body.get("delta"))
                self._count(body.get("usage"))
            case _:
                pass  # message_stop, ping, and what is newer than this code
        return ""

    def read(self, body: object) -> str:
        """Take in a whole answer, and return its words.

        Raises:
            ModelProtocolError: It is no message.
        """
        blocks = as_list((as_object(body) or {}).get("content"))
        if blocks is None:
            raise ModelProtocolError(f"the model's answer is no message but {show(body)}; is this the right URL?")
        self._read_envelope(body)
        for index, block in enumerate(blocks):
            self._open(index, block)
            self._end(index)
        self._read_end(body)
        return self._text()

    def finish(self, taken: set[str], place: str, provider: str) -> ModelAnswer:
        """Return what was said; see `ChatAccumulator.finish`.

        Raises:
            ModelProtocolError: There is no answer, it broke off, or it announces calls that it
                does not have.
        """
        if not self._answered:
            raise ModelProtocolError("the model's answer holds no message, so nothing was said")
        used = [block for block in self._blocks if block.kind == "tool_use"]
        finish = _FINISH.get(self._stop, Finish.OTHER) if self._stop else None
        if finish is None and self._streamed and not used:
            raise ModelProtocolError("the model's answer broke off: its stream ended without a stop_reason")
        if finish is Finish.CALLS and not used:
            raise ModelProtocolError("the model's answer announces tool calls (stop_reason) but holds none")
        fault = BROKEN_OFF if finish is None and self._streamed else None
        if finish is Finish.LENGTH:
            fault = CUT
        elif finish is Finish.REFUSAL:
            fault = CONTRADICTION
        calls = tuple(_close(block, taken, f"{place}_{index}", fault) for index, block in enumerate(used))
        return ModelAnswer(
            text=self._text(),
            calls=calls,
            finish=_weigh(finish, called=bool(calls)),
            refusal=self._refusal,
            usage=read_usage(self._usage),
            model=self._model,
            provider=provider,
            provider_state=keep(self._keep_blocks()),
        )

    def _text(self) -> str:
        return "".join(as_text(block.fields.get("text")) for block in self._blocks if block.kind == "text")

    def _keep_blocks(self) -> Mapping[str, Any] | None:
        """Return the blocks, unless words and then calls say it all."""
        kinds = [block.kind for block in self._blocks if block.kind != "text" or block.fields.get("text")]
        plain = kinds == ["text"] * kinds.count("text") + ["tool_use"] * kinds.count("tool_use")
        cited = any(block.fields.get("citations") for block in self._blocks)
        if plain and kinds.count("text") <= 1 and not cited:
            return None
        return {"blocks": [block.as_kept() for block in self._blocks]}

    def _open(self, index: object, said: object) -> str:
        block = as_object(said)
        if block is None or not isinstance(block.get("type"), str) or not isinstance(index, int):
            raise ModelProtocolError(f"a block of the model's answer is none: {show(said)} at {index!r}")
        opened = _Block(block)
        self._blocks.append(opened)
        self._at[index] = opened
        return as_text(block.get("text")) if opened.kind == "text" else ""

    def _extend(self, index: object, said: object) -> str:
        block = self._at.get(index) if isinstance(index, int) else None
        delta = as_object(said)
        if block is None or delta is None:
            raise ModelProtocolError(f"a piece of the model's answer belongs to no block: {show(said)} at {index!r}")
        return block.take(delta)

    def _end(self, index: object) -> None:
        block = self._at.get(index) if isinstance(index, int) else None
        if block is not None:
            block.ended = True

    def _read_envelope(self, said: object) -> None:
        message = as_object(said)
        if message is None:
            raise ModelProtocolError(f"the model's answer holds no message but {show(said)}")
        self._answered = True
        self._model = as_text(message.get("model"))
        self._count(message.get("usage"))

    def _read_end(self, said: object) -> None:
        end = as_object(said) or {}
        self._stop = as_text(end.get("stop_reason")) or self._stop
        details = as_object(end.get("stop_details")) or {}
        self._refusal = as_text(details.get("explanation") or details.get("category")) or self._refusal

    def _count(self, usage: object) -> None:
        """Note what was counted. A stream's counts grow: what comes later holds."""
        self._usage.update({key: value for key, value in (as_object(usage) or {}).items() if value is not None})


def read_usage(usage: Mapping[str, Any]) -> Usage:
    """Return what the provider has counted; what comes from its cache is input, too."""
    cached = as_amount(usage.get("cache_read_input_tokens"))
    written = as_amount(usage.get("cache_creation_input_tokens"))
    details = as_object(usage.get("output_tokens_details")) or {}
    return Usage(
        input_tokens=int(as_amount(usage.get("input_tokens")) + cached + written),
        output_tokens=int(as_amount(usage.get("output_tokens"))),
        cached_tokens=int(cached),
        written_tokens=int(written),
        reasoning_tokens=int(as_amount(details.get("thinking_tokens"))),
    )


def _weigh(finish: Finish | None, *, called: bool) -> Finish:
    if finish is Finish.LENGTH or finish is Finish.REFUSAL:
        return finish
    return Finish.CALLS if called else finish or Finish.OTHER


def _close(block: _Block, taken: set[str], place: str, fault: str | None) -> ToolCall:
    arguments, contradiction = block.read_arguments()
    sent = as_text(block.fields.get("id"))
    identity = make_unique(sent, taken, place)
    name = as_text(block.fields.get("name"))
    return ToolCall(
        id=identity,
        name=name,
        arguments=arguments,
        fault=contradiction or fault or (None if name else UNNAMED),
        provider_state=keep({key: value for key, value in block.fields.items() if key not in _CALL_KEYS}),
        note=None if identity == sent else f"the server's call id {sent!r} was made unique",
    )
