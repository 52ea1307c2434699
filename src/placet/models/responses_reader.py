"""From OpenAI Responses traffic, streamed or whole, to a `ModelAnswer`.

Pure. An answer is a list of items; what is neither words nor a call (reasoning, encrypted) is
opaque, and goes back in its place. A stream ends with the whole answer, so only words are
taken from its pieces; a call is what the end says, unless the pieces have said otherwise.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from placet.errors import ModelProtocolError
from placet.models.accumulator import BROKEN_OFF, CUT, FILTERED
from placet.models.call_arguments import write_text
from placet.models.call_ids import make_unique
from placet.models.decoded import as_amount, as_list, as_object, as_text, keep, show
from placet.models.fragments import CONTRADICTION, NOT_A_FUNCTION, UNNAMED
from placet.ports import Finish, ModelAnswer
from placet.values.call import ToolCall
from placet.values.run import Usage

_ENDS: Final = frozenset({"response.completed", "response.incomplete", "response.failed"})
_CALL_KEYS: Final = frozenset({"type", "id", "call_id", "name", "arguments", "status"})


class ResponsesReader:
    """Reads one answer: `add` for each event of a stream, or `read` for a whole one; then `finish`."""

    def __init__(self) -> None:
        self._body: Mapping[str, Any] | None = None
        self._items: list[Mapping[str, Any]] = []
        self._done: list[Mapping[str, Any]] = []
        self._pieces: dict[str, str] = {}
        self._begun = 0
        self._told = False

    def add(self, event: object) -> str:
        """Take in one event, and return the words that are new in it.

        Raises:
            ModelProtocolError: It is no event of a response.
        """
        body = as_object(event)
        if body is None:
            raise ModelProtocolError(f"an event of the model's answer is no object but {show(event)}")
        kind = as_text(body.get("type"))
        if kind == "response.output_text.delta":
            words = as_text(body.get("delta"))
            self._told = self._told or bool(words)
            return words
        if kind == "response.function_call_arguments.delta":
            where = as_text(body.get("item_id"))
            self._pieces[where] = self._pieces.get(where, "") + as_text(body.get("delta"))
        elif kind == "response.output_item.added":
            self._begun += _is_call(_check_item(body.get("item")))
        elif kind == "response.output_item.done":
            self._done.append(_check_item(body.get("item")))
        elif kind in _ENDS:
            self.read(body.get("response"))
        return ""

    def read(self, body: object) -> str:
        """Take in a whole answer, and return its words.

        Raises:
            ModelProtocolError: It is no response.
        """
        response = as_object(body)
        output = as_list(response.get("output")) if response is not None else None
        if response is None or output is None:
            raise ModelProtocolError(f"the model's answer is no response but {show(body)}; is this the right URL?")
        self._body = response
        self._items = [_check_item(item) for item in output]
        return _read_texts(self._items, "output_text", "text")

    def finish(self, taken: set[str], place: str, provider: str) -> ModelAnswer:
        """Return what was said; see `ChatAccumulator.finish`.

        Raises:
            ModelProtocolError: There is no answer, or it broke off, or it has not ended.
        """
        body: Mapping[str, Any] = self._body if self._body is not None else {}
        items = self._items or self._done
        said = [item for item in items if _is_call(item)]
        self._check_whole(items, len(said))
        finish, fault = self._read_end(body, called=bool(said))
        refusal = _read_texts(items, "refusal", "refusal")
        if refusal:
            finish, fault = Finish.REFUSAL, CONTRADICTION
        calls = tuple(self._close(item, taken, f"{place}_{position}", fault) for position, item in enumerate(said))
        return ModelAnswer(
            text=_read_texts(items, "output_text", "text"),
            calls=calls,
            finish=finish,
            refusal=refusal or None,
            usage=read_usage(as_object(body.get("usage")) or {}),
            model=as_text(body.get("model")),
            provider=provider,
            provider_state=keep(_keep_items(items)),
        )

    def _read_end(self, body: Mapping[str, Any], *, called: bool) -> tuple[Finish, str | None]:
        """Return how the answer ended, and the fault that this gives to its calls."""
        if self._body is None:
            if not called and not self._done:
                raise ModelProtocolError("the model's answer broke off before anything was said")
            if not called:
                raise ModelProtocolError("the model's answer broke off: its stream ended without an end")
            return Finish.CALLS, BROKEN_OFF
        match body.get("status"):
            case "completed" | None:
                return (Finish.CALLS if called else Finish.STOP), None
            case "incomplete":
                details = as_object(body.get("incomplete_details")) or {}
                if details.get("reason") == "content_filter":
                    return Finish.FILTER, FILTERED
                return Finish.LENGTH, CUT
            case status:
                raise ModelProtocolError(f"the model's answer has the status {status!r}, so there is none to read")

    def _check_whole(self, items: Sequence[Mapping[str, Any]], calls: int) -> None:
        """Raise when the end does not have all that its stream has said: what is missing cannot be known."""
        if self._body is None or self._body.get("status") not in ("completed", None):
            return  # it broke off or was cut, and is said to
        begun = max(self._begun, sum(_is_call(item) for item in self._done))
        if begun > calls:
            raise ModelProtocolError(f"the model's answer began {begun} calls, and holds {calls} at its end")
        if self._told and not _read_texts(items, "output_text", "text"):
            raise ModelProtocolError("the model's answer has said words that it does not hold at its end")

    def _close(self, item: Mapping[str, Any], taken: set[str], place: str, fault: str | None) -> ToolCall:
        sent, name, arguments = as_text(item.get("call_id")), as_text(item.get("name")), item.get("arguments")
        text = arguments if isinstance(arguments, str) else "" if arguments is None else write_text(arguments)
        if item["type"] != "function_call":
            name, text, fault = name or item["type"], "{}", NOT_A_FUNCTION
        elif self._is_contradicted(item, text):
            fault = fault or CONTRADICTION
        if item.get("status") not in (None, "completed"):
            fault = fault or CUT
        identity = make_unique(sent, taken, place)
        return ToolCall(
            id=identity,
            name=name,
            arguments=text if text.strip() else "{}",
            fault=fault or (None if name else UNNAMED),
            provider_state=keep({
                key: value for key, value in item.items() if key not in _CALL_KEYS and value is not None
            }),
            note=None if identity == sent else f"the server's call id {sent!r} was made unique",
        )  # fmt: skip

    def _is_contradicted(self, item: Mapping[str, Any], arguments: str) -> bool:
        """Whether the stream has said another call than its end does."""
        where = as_text(item.get("id"))
        if not where:
            return False
        done = [said for said in self._done if said.get("id") == where and said["type"] == "function_call"]
        if any(said.get("arguments") != item.get("arguments") or said.get("name") != item.get("name") for said in done):
            return True
        return self._pieces.get(where, arguments) != arguments


def read_usage(usage: Mapping[str, Any]) -> Usage:
    """Return what the provider has counted."""
    read, written = as_object(usage.get("input_tokens_details")), as_object(usage.get("output_tokens_details"))
    return Usage(
        input_tokens=int(as_amount(usage.get("input_tokens"))),
        output_tokens=int(as_amount(usage.get("output_tokens"))),
        cached_tokens=int(as_amount((read or {}).get("cached_tokens"))),
        written_tokens=int(as_amount((read or {}).get("cache_write_tokens"))),
        reasoning_tokens=int(as_amount((written or {}).get("reasoning_tokens"))),
    )


def _keep_items(items: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Return the items as the provider wants them back, unless words and then calls say it all.

    A call only marks its place. Reasoning without its encrypted content is kept nowhere, so the
    provider could not find it: then nothing goes back but words and calls. Reasoning from which
    nothing followed, as in an answer that was cut, is refused by the provider.
    """
    while items and items[-1]["type"] == "reasoning":
        items = items[:-1]
    opaque = [item for item in items if item["type"] != "message" and not _is_call(item)]
    if not opaque or any(item["type"] == "reasoning" and not item.get("encrypted_content") for item in opaque):
        return None
    kept: list[dict[str, Any]] = []
    for item in items:
        if _is_call(item) and item["type"] != "function_call":
            kept.append({"type": "function_call"})
            continue
        keys = ("type", "id", "status") if _is_call(item) else tuple(item)
        kept.append({key: item[key] for key in keys if item.get(key) is not None})
    return {"items": kept}


def _is_call(item: Mapping[str, Any]) -> bool:
    """Whether an item waits for a result of ours: a function call, or a kind of call that was never offered."""
    kind = str(item["type"])
    return kind == "function_call" or ("call_id" in item and kind.endswith("_call"))


def _check_item(said: object) -> Mapping[str, Any]:
    item = as_object(said)
    if item is None or not isinstance(item.get("type"), str):
        raise ModelProtocolError(f"an item of the model's answer is none: {show(said)}")
    return item


def _read_texts(items: Sequence[Mapping[str, Any]], kind: str, key: str) -> str:
    contents = [as_list(item.get("content")) or [] for item in items if item["type"] == "message"]
    parts = [as_object(part) or {} for content in contents for part in content]
    return "".join(as_text(part.get(key)) for part in parts if part.get("type") == kind)
