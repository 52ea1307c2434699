"""A real HTTP server that plays written wire traffic, for the vendors' SDKs as they are."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Reply:
    """One answer of the server.

    Attributes:
        body: What is sent, piece by piece.
        status: The HTTP status.
        content_type: Of the body.
        headers: Further ones.
        pause: Seconds before each piece.
        drop: Whether the connection is cut after the last piece instead of being ended.
    """

    body: Sequence[bytes]
    status: int = 200
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    pause: float = 0.0
    drop: bool = False


@dataclass
class Seen:
    """One request that the server got."""

    path: str
    headers: dict[str, str]
    raw: bytes

    @property
    def body(self) -> Any:
        return json.loads(self.raw)


class WireServer:
    """Plays replies in order; the last one again for every further request."""

    def __init__(self) -> None:
        self.requests: list[Seen] = []
        self.replies: list[Reply | Callable[[Seen], Reply]] = []
        self.url = ""
        self.dropped = asyncio.Event()
        self._writers: set[asyncio.StreamWriter] = set()

    def plays(self, *replies: Reply | Callable[[Seen], Reply]) -> None:
        self.replies = list(replies)

    @property
    def last(self) -> Any:
        return self.requests[-1].body

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            while await self._handle_one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            self.dropped.set()
        finally:
            self._writers.discard(writer)
            writer.close()

    async def _handle_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = await reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode().split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines if line)}
        seen = Seen(first.split(" ")[1], headers, await reader.readexactly(int(headers.get("content-length", "0"))))
        index = min(len(self.requests), len(self.replies) - 1)
        self.requests.append(seen)
        reply = self.replies[index]
        if not isinstance(reply, Reply):
            reply = reply(seen)
        extra = "".join(f"{name}: {value}\r\n" for name, value in reply.headers.items())
        writer.write(
            f"HTTP/1.1 {reply.status} X\r\ncontent-type: {reply.content_type}\r\n"
            f"{extra}transfer-encoding: chunked\r\n\r\n".encode()
        )
        for piece in reply.body:
            if reply.pause:
                await asyncio.sleep(reply.pause)
            writer.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            await writer.drain()
        if reply.drop:
            return False
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True

    def cut_all(self) -> None:
        for writer in list(self._writers):
            writer.close()


@asynccontextmanager
async def serve() -> AsyncIterator[WireServer]:
    wire = WireServer()
    server = await asyncio.start_server(wire.handle, "127.0.0.1", 0)
    wire.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield wire
    finally:
        server.close()
        wire.cut_all()
        await server.wait_closed()


def whole(body: object, *, status: int = 200, headers: dict[str, str] | None = None) -> Reply:
    return Reply([json.dumps(body).encode()], status=status, headers=headers or {})


def events(items: Sequence[object], *, done: bool = True, pause: float = 0.0, drop: bool = False) -> Reply:
    """Server-sent events as OpenAI sends them; with a `type`, as Anthropic and Responses do."""
    pieces = []
    for item in items:
        kind = item.get("type") if isinstance(item, dict) else None
        name = f"event: {kind}\n" if kind else ""
        pieces.append(f"{name}data: {json.dumps(item)}\n\n".encode())
    if done:
        pieces.append(b"data: [DONE]\n\n")
    return Reply(pieces, content_type="text/event-stream", pause=pause, drop=drop)


def completion(message: dict[str, Any], finish_reason: str | None = "stop", **extra: Any) -> dict[str, Any]:
    choice = {"index": 0, "finish_reason": finish_reason, "message": {"role": "assistant", **message}}
    return {"id": "x", "object": "chat.completion", "created": 1, "model": "served-model", "choices": [choice], **extra}


def chunks(deltas: Sequence[dict[str, Any]], finish_reason: str | None = "stop") -> list[dict[str, Any]]:
    """Chunks of a stream; the finish reason comes in one of its own, as most servers send it."""
    frame = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "served-model"}
    items: list[dict[str, Any]] = [
        {**frame, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas
    ]
    if finish_reason is not None:
        items.append({**frame, "choices": [{"index": 0, "delta": {}, "finish_reason": finish_reason}]})
    return items


def as_stream(message: dict[str, Any]) -> list[dict[str, Any]]:
    """A whole message as the deltas of a stream: words and calls, each in two pieces if it can be cut."""
    content = message.get("content")
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": content}]
    if isinstance(content, str) and len(content) > 1:
        middle = len(content) // 2
        deltas = [{"role": "assistant", "content": content[:middle]}, {"content": content[middle:]}]
    if message.get("refusal"):
        deltas.append({"refusal": message["refusal"]})
    for index, call in enumerate(message.get("tool_calls") or []):
        function = dict(call["function"])
        arguments = function.get("arguments")
        rest: list[str] = []
        if isinstance(arguments, str) and len(arguments) > 1:
            middle = len(arguments) // 2
            function["arguments"], rest = arguments[:middle], [arguments[middle:]]
        deltas.append({"tool_calls": [{**call, "index": index, "function": function}]})
        deltas += [{"tool_calls": [{"index": index, "function": {"arguments": piece}}]} for piece in rest]
    return deltas


def message(content: Sequence[dict[str, Any]], stop_reason: str | None = "end_turn", **extra: Any) -> dict[str, Any]:
    """A whole message of Anthropic."""
    usage = {"input_tokens": 5, "cache_read_input_tokens": 3, "cache_creation_input_tokens": 2, "output_tokens": 7}
    return {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "served-model", "content": list(content),
        "stop_reason": stop_reason, "stop_sequence": None, "usage": usage, **extra,
    }  # fmt: skip


def as_message_stream(whole_message: dict[str, Any]) -> list[dict[str, Any]]:
    """A whole message of Anthropic as the events of its stream, each block in pieces."""
    usage = whole_message["usage"]
    end = {"stop_reason": whole_message["stop_reason"], "stop_details": whole_message.get("stop_details")}
    items: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**whole_message, "content": [], "stop_reason": None,
                                              "usage": {**usage, "output_tokens": 1}}},
        {"type": "ping"},
    ]  # fmt: skip
    for index, block in enumerate(whole_message["content"]):
        start, deltas = dict(block), list[dict[str, Any]]()
        match block["type"]:
            case "text":
                start["text"] = ""
                middle = len(block["text"]) // 2
                deltas = [
                    {"type": "text_delta", "text": part} for part in (block["text"][:middle], block["text"][middle:])
                ]
            case "thinking":
                start.update(thinking="", signature="")
                deltas = [
                    {"type": "thinking_delta", "thinking": block["thinking"]},
                    {"type": "signature_delta", "signature": block["signature"]},
                ]
            case "tool_use" | "server_tool_use":
                start["input"] = {}
                given = block.get("input", "")
                text = given if isinstance(given, str) else json.dumps(given)
                deltas = [{"type": "input_json_delta", "partial_json": part} for part in ("", text[:5], text[5:])]
        items.append({"type": "content_block_start", "index": index, "content_block": start})
        items += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        items.append({"type": "content_block_stop", "index": index})
    if whole_message["stop_reason"] is not None:
        items.append({"type": "message_delta", "delta": end, "usage": {"output_tokens": usage["output_tokens"]}})
        items.append({"type": "message_stop"})
    return items


def response(output: Sequence[dict[str, Any]], status: str = "completed", **extra: Any) -> dict[str, Any]:
    """A whole answer of Responses."""
    usage = {"input_tokens": 9, "input_tokens_details": {"cached_tokens": 4}, "output_tokens": 2}
    return {
        "id": "resp_1", "object": "response", "model": "served-model", "status": status, "output": list(output),
        "error": None, "incomplete_details": None, "usage": usage, **extra,
    }  # fmt: skip


def as_response_stream(whole_response: dict[str, Any]) -> list[dict[str, Any]]:
    """A whole answer of Responses as the events of its stream."""
    start = {**whole_response, "status": "in_progress", "output": []}
    items: list[dict[str, Any]] = [{"type": "response.created", "response": start}]
    for index, item in enumerate(whole_response["output"]):
        opened = {**item, "content": []} if item["type"] == "message" else {**item}
        items.append({"type": "response.output_item.added", "output_index": index, "item": opened})
        for part in item.get("content") or [] if item["type"] == "message" else []:
            if part["type"] == "output_text":
                items += [
                    {"type": "response.output_text.delta", "output_index": index, "delta": piece}
                    for piece in (part["text"][:3], part["text"][3:])
                ]
        if item["type"] == "function_call" and isinstance(item.get("arguments"), str):
            kind, text = "response.function_call_arguments.delta", item["arguments"]
            items += [
                {"type": kind, "output_index": index, "item_id": item.get("id"), "delta": piece}
                for piece in (text[:5], text[5:])
            ]
        items.append({"type": "response.output_item.done", "output_index": index, "item": item})
    items.append({"type": f"response.{whole_response['status']}", "response": whole_response})
    return items
