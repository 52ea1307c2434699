"""The accumulator: from Chat Completions traffic, as servers really send it, to a `ModelAnswer`.

Pure: it sees decoded JSON and nothing else. `finish_reason` is never trusted alone: calls are
calls whatever it says, an answer that was cut makes its calls unknowable, and the announcement
of calls without any call is a contradiction.
"""

from collections.abc import Collection, Mapping
from decimal import Decimal
from typing import Any, Final

from placet.errors import ModelProtocolError
from placet.models.call_ids import make_unique
from placet.models.decoded import as_amount, as_list, as_object, as_text, keep, show
from placet.models.fragments import CONTRADICTION, UNNAMED, CallFragments, PartialCall, read_fragment
from placet.ports import Finish, ModelAnswer
from placet.values.call import ToolCall
from placet.values.json import Json
from placet.values.run import Usage

CUT: Final = (
    "the answer was cut off at the token limit, so this call may be incomplete and was not run; "
    "make it again, with less text in the arguments"
)
FILTERED: Final = "the answer was cut off by the provider's filter, so this call may be incomplete and was not run"
BROKEN_OFF: Final = "the answer broke off before its end, so this call may be incomplete and was not run; make it again"

ECHOED: Final = ("reasoning_content", "reasoning", "reasoning_details", "thinking_blocks", "extra_content")
"""What servers put beside the words and want back unchanged (DeepSeek, OpenRouter, Gemini …)."""

_FINISH: Final = {
    "stop": Finish.STOP,
    "tool_calls": Finish.CALLS,
    "function_call": Finish.CALLS,
    "function_calls": Finish.CALLS,
    "tool_use": Finish.CALLS,
    "length": Finish.LENGTH,
    "max_tokens": Finish.LENGTH,
    "max_output_tokens": Finish.LENGTH,
    "model_length": Finish.LENGTH,
    "content_filter": Finish.FILTER,
    "safety": Finish.FILTER,
    "recitation": Finish.FILTER,
}
_CUTS: Final = {Finish.LENGTH: CUT, Finish.FILTER: FILTERED}
_BROKEN: Final = ("error", "abort", "cancel", "insufficient_system_resource", "malformed", "timeout")
"""In the words with which servers say that they did not come to the end."""


class ChatAccumulator:
    """Reads one answer: `add` for each chunk of a stream, or `read` for a whole one; then `finish`.

    Args:
        known: Names of the tools that were offered.
    """

    def __init__(self, known: Collection[str] = ()) -> None:
        self._fragments = CallFragments(known)
        self._texts: list[str] = []
        self._refusals: list[str] = []
        self._extras: dict[str, Any] = {}
        self._finish: Finish | None = None
        self._broke_off = ""
        self._usage = Usage()
        self._model = ""
        self._answered = False
        self._streamed = False

    def add(self, chunk: object) -> str:
        """Take in one chunk, and return the words that are new in it.

        Raises:
            ModelProtocolError: It is no chunk of a chat completion.
        """
        self._streamed = True
        choice = self._read_envelope(chunk)
        if choice is None:
            return ""
        delta = choice.get("delta")
        if delta is None:
            return ""
        text = self._read_words(delta)
        self._fragments.add(_list_calls(delta))
        return text

    def read(self, body: object) -> str:
        """Take in a whole answer, and return its words.

        Raises:
            ModelProtocolError: It is no chat completion.
        """
        choice = self._read_envelope(body)
        if choice is None:
            return ""
        message = choice.get("message")
        text = self._read_words(message)
        for entry in _list_calls(message):  # each entry is one call, whatever index and id it has
            fragment = read_fragment(entry)
            call = PartialCall(fragment.index, fragment.id, 0)
            call.take(fragment, ())
            self._fragments.calls.append(call)
        return text

    def finish(self, taken: set[str], place: str, provider: str) -> ModelAnswer:
        """Return what was said.

        Args:
            taken: Ids of the calls in the history; those of this answer are added.
            place: Where the answer stands in its history, for ids that have to be made up.
            provider: The client's name for what it wants back.

        Raises:
            ModelProtocolError: There is no answer, or it announces calls that it does not have.
        """
        if not self._answered:
            raise ModelProtocolError("the model's answer holds no choices, so nothing was said")
        partial, refusal = self._fragments.close() if self._streamed else self._fragments.calls, "".join(self._refusals)
        finish, text = self._finish, "".join(self._texts)
        if finish is None and self._streamed and not partial:
            raise ModelProtocolError("the model's answer broke off: its stream ended without a finish_reason")
        if finish is Finish.CALLS and not partial:
            raise ModelProtocolError("the model's answer announces tool calls (finish_reason) but holds none")
        if self._broke_off and not partial:
            raise ModelProtocolError(f"the model's answer broke off: the server ended it with {self._broke_off!r}")
        fault = self._find_fault(refused=bool(refusal))
        calls = tuple(
            _close(call, make_unique(call.id, taken, f"{place}_{position}"), fault)
            for position, call in enumerate(partial)
        )
        return ModelAnswer(
            text=text,
            calls=calls,
            finish=_weigh(finish, refused=bool(refusal), called=bool(calls)),
            refusal=refusal or None,
            usage=self._usage,
            model=self._model,
            provider=provider,
            provider_state=keep(self._extras),
        )

    def _find_fault(self, *, refused: bool) -> str | None:
        """Return why no call of this answer can be known, or None."""
        if refused:
            return CONTRADICTION
        if self._broke_off or (self._finish is None and self._streamed):
            return BROKEN_OFF
        return _CUTS.get(self._finish) if self._finish is not None else None

    def _read_envelope(self, body: object) -> Mapping[str, Any] | None:
        """Return the first choice, if there is one; note what stands around it."""
        envelope = as_object(body)
        if envelope is None:
            raise ModelProtocolError(f"the model's answer is no JSON object but {show(body)}; is this the right URL?")
        self._model = as_text(envelope.get("model")) or self._model
        usage = as_object(envelope.get("usage"))
        if usage is not None:
            self._usage = read_usage(usage)
        if envelope.get("choices") is None and (self._streamed or "choices" in envelope):
            return None  # some servers send their usage, or a heartbeat, without any
        choices = as_list(envelope.get("choices"))
        if choices is None:
            raise ModelProtocolError(f"the model's answer has no list of choices: {show(body)}; is this the right URL?")
        for entry in choices:
            choice = as_object(entry)
            if choice is None:
                raise ModelProtocolError(f"a choice of the model's answer is no object but {show(entry)}")
            if choice.get("index") in (0, None):
                self._answered = True
                self._read_finish(choice.get("finish_reason"))
                return choice
        return None

    def _read_finish(self, word: object) -> None:
        if word is None or word == "" or self._finish in _CUTS:  # once cut, cut
            return
        said = word.lower() if isinstance(word, str) else ""
        self._finish = _FINISH.get(said, Finish.OTHER)
        if any(sign in said for sign in _BROKEN):
            self._broke_off = said

    def _read_words(self, said: object) -> str:
        message = as_object(said)
        if message is None:
            raise ModelProtocolError(f"the model's answer holds no message but {show(said)}")
        text = _read_text(message.get("content"))
        self._texts.append(text)
        self._refusals.append(as_text(message.get("refusal")))
        for key in ECHOED:
            value = message.get(key)
            if value is not None and value != "":
                self._extras[key] = _join(self._extras.get(key), value)
        return text


def read_usage(usage: Mapping[str, Any]) -> Usage:
    """Return what a server has counted; what it has not counted is 0.

    Some servers leave reasoning out of `completion_tokens`, but not out of `total_tokens`: what
    is in neither part of the total was written.
    """
    read, written = as_object(usage.get("prompt_tokens_details")), as_object(usage.get("completion_tokens_details"))
    asked, answered = as_amount(usage.get("prompt_tokens")), as_amount(usage.get("completion_tokens"))
    return Usage(
        input_tokens=int(asked),
        output_tokens=int(max(answered, as_amount(usage.get("total_tokens")) - asked) if asked else answered),
        cached_tokens=int(as_amount((read or {}).get("cached_tokens"))),
        written_tokens=int(as_amount((read or {}).get("cache_write_tokens"))),
        reasoning_tokens=int(as_amount((written or {}).get("reasoning_tokens"))),
        cost=Decimal(str(as_amount(usage.get("cost")))),  # OpenRouter says what it charges
    )


def _weigh(finish: Finish | None, *, refused: bool, called: bool) -> Finish:
    if refused:
        return Finish.REFUSAL
    if finish is Finish.LENGTH or finish is Finish.FILTER:
        return finish
    return Finish.CALLS if called else finish or Finish.OTHER


def _list_calls(said: object) -> list[Any]:
    """Return the entries of `tool_calls`, or the one of the older `function_call`."""
    message = as_object(said) or {}
    entries = as_list(message.get("tool_calls") or [])
    if entries is None:
        raise ModelProtocolError(f"the model's answer has tool_calls that are no list: {show(said)}")
    older = message.get("function_call")
    return [{"index": 0, "function": older}] if older and not entries else entries


def _close(call: PartialCall, identity: str, fault: str | None) -> ToolCall:
    notes: list[str] = []
    if identity != call.id:
        notes.append(f"the server's call id {call.id!r} was made unique" if call.id else "the server sent no call id")
    if call.value:
        notes.append("the arguments came as a JSON value, not as text")
    arguments = call.arguments
    return ToolCall(
        id=identity,
        name=call.name,
        arguments=arguments if arguments.strip() else "{}",
        fault=call.fault or fault or (None if call.name else UNNAMED),
        provider_state=keep(call.extras),
        note="; ".join(notes) or None,
    )


def _read_text(content: object) -> str:
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    parts = as_list(content)  # Mistral sends parts
    if parts is None:
        raise ModelProtocolError(f"the model's words are no text but {show(content)}")
    return "".join(as_text((as_object(part) or {}).get("text")) for part in parts)


def _join(before: Json, more: Any) -> Any:
    """Return an extra that came in pieces as one: text and lists grow, all else is replaced."""
    if isinstance(before, str) and isinstance(more, str):
        return before + more
    first, second = as_list(before), as_list(more)
    return [*first, *second] if first is not None and second is not None else more
