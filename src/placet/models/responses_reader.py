"""From OpenAI Responses traffic, streamed or whole, to a `ModelAnswer`.

Pure. An answer is a list of items; what is neither words nor a call (reasoning, encrypted) is
opaque, and goes back in its place. A stream ends with the whole answer, so only words are
taken from its pieces.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from placet.errors import ModelProtocolError
from placet.models.accumulator import BROKEN_OFF, CUT, FILTERED, read_amount, show
from placet.models.call_arguments import write_text
from placet.models.call_ids import make_unique
from placet.models.fragments import CONTRADICTION, UNNAMED
from placet.ports import Finish, ModelAnswer
from placet.values.call import ToolCall
from placet.values.run import Usage

_ENDS: Final = frozenset({"response.completed", "response.incomplete", "response.failed"})
_CALL_KEYS: Final = frozenset({"type", "id", "call_id", "name", "arguments", "status"})


class ResponsesReader:
    """Reads one answer: `add` for each event of a stream, or `read` for a whole one; then `finish`."""

    def __init__(self) -> None:
        self._body: Mapping[str, Any] | None = None
        self._done: list[Mapping[str, Any]] = []

    def add(self, event: object) -> str:
        """Take in one event, and return the words that are new in it.

        Raises:
            ModelProtocolError: It is no event of a response.
        """
        if not isinstance(event, Mapping):
            raise ModelProtocolError(f"an event of the model's answer is no object but {show(event)}")
        kind = event.get("type")
        if kind == "response.output_text.delta":
            return _read_string(event.get("delta"))
        if kind == "response.output_item.done":
            self._done.append(_check_item(event.get("item")))
        elif kind in _ENDS:
            self.read(event.get("response"))
        return ""

    def read(self, body: object) -> str:
        """Take in a whole answer, and return its words.

        Raises:
            ModelProtocolError: It is no response.
        """
        if not isinstance(body, Mapping) or not isinstance(body.get("output"), list):
            raise ModelProtocolError(f"the model's answer is no response but {show(body)}; is this the right URL?")
        for item in body["output"]:
            _check_item(item)
        self._body = body
        return _read_texts(body["output"], "output_text", "text")

    def finish(self, taken: set[str], place: str, provider: str) -> ModelAnswer:
        """Return what was said; see `ChatAccumulator.finish`.

        Raises:
            ModelProtocolError: There is no answer, or it broke off, or it has not ended.
        """
        body = self._body if self._body is not None else {"output": []}
        items = body["output"] or self._done
        said = [item for item in items if item["type"] == "function_call"]
        finish, fault = self._read_end(body, called=bool(said))
        refusal = _read_texts(items, "refusal", "refusal")
        if refusal:
            finish, fault = Finish.REFUSAL, CONTRADICTION
        calls = tuple(self._close(item, taken, f"{place}_{position}", fault) for position, item in enumerate(said))
        usage = body.get("usage")
        return ModelAnswer(
            text=_read_texts(items, "output_text", "text"),
            calls=calls,
            finish=finish,
            refusal=refusal or None,
            usage=read_usage(usage) if isinstance(usage, Mapping) else Usage(),
            model=_read_string(body.get("model")),
            provider=provider,
            provider_state=_keep_items(items),
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
                details = body.get("incomplete_details")
                if isinstance(details, Mapping) and details.get("reason") == "content_filter":
                    return Finish.FILTER, FILTERED
                return Finish.LENGTH, CUT
            case status:
                raise ModelProtocolError(f"the model's answer has the status {status!r}, so there is none to read")

    def _close(self, item: Mapping[str, Any], taken: set[str], place: str, fault: str | None) -> ToolCall:
        sent, name, arguments = _read_string(item.get("call_id")), _read_string(item.get("name")), item.get("arguments")
        text = arguments if isinstance(arguments, str) else "" if arguments is None else write_text(arguments)
        streamed = [done for done in self._done if done.get("id") == item.get("id") and done["type"] == "function_call"]
        if any(done.get("arguments") != arguments or done.get("name") != item.get("name") for done in streamed):
            fault = fault or CONTRADICTION
        if item.get("status") == "incomplete":
            fault = fault or CUT
        identity = make_unique(sent, taken, place)
        return ToolCall(
            id=identity,
            name=name,
            arguments=text if text.strip() else "{}",
            fault=fault or (None if name else UNNAMED),
            provider_state={
                key: value for key, value in item.items() if key not in _CALL_KEYS and value is not None
            } or None,
            note=None if identity == sent else f"the server's call id {sent!r} was made unique",
        )  # fmt: skip


def read_usage(usage: Mapping[str, Any]) -> Usage:
    """Return what the provider has counted."""
    details = usage.get("input_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, Mapping) else None
    return Usage(
        input_tokens=int(read_amount(usage.get("input_tokens"))),
        output_tokens=int(read_amount(usage.get("output_tokens"))),
        cached_tokens=int(read_amount(cached)),
    )


def _keep_items(items: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Return the items as the provider wants them back, unless words and then calls say it all.

    A call only marks its place. Reasoning without its encrypted content is kept nowhere, so the
    provider could not find it: then nothing goes back but words and calls.
    """
    opaque = [item for item in items if item["type"] not in ("message", "function_call")]
    if not opaque or any(item["type"] == "reasoning" and not item.get("encrypted_content") for item in opaque):
        return None
    kept: list[dict[str, Any]] = []
    for item in items:
        keys = ("type", "id", "status") if item["type"] == "function_call" else tuple(item)
        kept.append({key: item[key] for key in keys if item.get(key) is not None})
    return {"items": kept}


def _check_item(item: object) -> Mapping[str, Any]:
    if not isinstance(item, Mapping) or not isinstance(item.get("type"), str):
        raise ModelProtocolError(f"an item of the model's answer is none: {show(item)}")
    return item


def _read_texts(items: Sequence[Mapping[str, Any]], kind: str, key: str) -> str:
    contents = [item.get("content") for item in items if item["type"] == "message"]
    parts = [part for content in contents if isinstance(content, list) for part in content]
    return "".join(
        _read_string(part.get(key)) for part in parts if isinstance(part, Mapping) and part.get("type") == kind
    )


def _read_string(value: object) -> str:
    return value if isinstance(value, str) else ""
