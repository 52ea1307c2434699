"""Connection: a vendor's SDK used as transport. JSON bytes go in, decoded JSON comes out.

The SDK brings what is tedious to own: authentication, connection pools, server-sent events,
retries with back-off and `Retry-After`. Reading what comes is ours: its typed models are never
built, because they hide or crash on what servers really send.
"""

import asyncio
import ssl
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, Protocol
from weakref import WeakKeyDictionary

import anyio
import httpx2

from placet.errors import ConfigurationError, ModelError, ModelProtocolError, ModelRequestError, ModelUnavailableError
from placet.models.decoded import as_object, as_text
from placet.models.retry_after import UNTIL, read_retry_after
from placet.ports import OnText

RETRIES: Final = 2
"""How often a request is sent again after a time-out, a lost connection, 408, 409, 429 or 5xx."""

NO_KEY: Final = "none"
"""Sent where a server asks for no key: the SDKs ask for one."""

CONNECT_SECONDS: Final = 5.0

_LATER: Final = frozenset({408, 409, 425, 429})
_NEVER: Final = (
    "invalid",
    "authentication",
    "permission",
    "not_found",
    "unsupported",
    "billing",
    "too_large",
    "context_length",
)
"""Words in the code of an error without a status that say that it will stay."""
_TRANSPORT_ERRORS: Final = (
    httpx2.HTTPError, httpx2.StreamError, httpx2.InvalidURL, ssl.SSLError, OSError, anyio.EndOfStream,
    anyio.ClosedResourceError, anyio.BrokenResourceError,
)  # fmt: skip
"""What the SDKs let through from below."""


class SdkClient(Protocol):
    """What the SDKs' asynchronous clients have in common, as far as it is used here."""

    async def post(self, path: str, *, cast_to: Any, content: Any, options: Any, stream: Any, stream_cls: Any) -> Any:
        """Send a request and return what came back."""
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...


class AnswerReader(Protocol):
    """What takes in the answer of one wire, whole or piece by piece."""

    def read(self, body: object, /) -> str:
        """Take in a whole answer; return its words."""
        ...

    def add(self, event: object, /) -> str:
        """Take in one event of a stream; return the words that are new in it."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Sdk:
    """One vendor's SDK.

    Attributes:
        connect: Makes a client.
        stream: Its stream of decoded JSON.
        root: Its root of all errors.
        status_error: Its error with a `status_code`.
        options: What every request carries, in the SDK's own words.
    """

    connect: Callable[[], SdkClient]
    stream: Any
    root: type[Exception]
    status_error: type[Exception]
    options: Mapping[str, Any]


class Connection:
    """Sends requests to one server and maps every foreign error.

    Args:
        sdk: The SDK that does it.
        path: Where requests go, below the base URL.
        target: What messages call the server.
        secret: The API key, which no message may show.
    """

    def __init__(self, sdk: Sdk, path: str, target: str, secret: str) -> None:
        self._sdk = sdk
        self._path = path
        self._target = target
        self._secret = secret
        self._foreign = (sdk.root, *_TRANSPORT_ERRORS, ValueError, RecursionError)
        # Connections belong to the event loop that opened them; one client may be used from several.
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, SdkClient] = WeakKeyDictionary()

    async def ask(self, body: bytes, limit: timedelta) -> object:
        """Send a request and return the whole answer, decoded.

        Args:
            body: The request, as JSON.
            limit: For the whole answer, with all that is sent again and the waits between.

        Raises:
            ModelUnavailableError: Out of reach or overloaded, after the retries; out of time; or the
                server asks for a longer wait than is left, which is not begun.
            ModelRequestError: The server refuses the request.
            ModelProtocolError: The answer is no JSON.
        """
        deadline = asyncio.timeout(limit.total_seconds())
        try:
            async with deadline:
                answer = await self._post(body, limit, deadline, stream=False)
        except TimeoutError as error:
            raise self._out_of_time(limit) from error
        except self._foreign as error:
            raise self._map(error) from error
        self._check_body(answer)
        return answer

    async def stream(self, body: bytes, limit: timedelta, take: Callable[[object], None]) -> None:
        """Send a request and hand over each event of the answer as it comes, decoded.

        Cancelling it closes the connection, so that the server stops.

        Args:
            body: The request, as JSON.
            limit: For the whole answer, with all that is sent again and the waits between.
            take: Is given each event. What it raises ends the stream, and is raised as it is.

        Raises:
            ModelUnavailableError: Out of reach or overloaded, after the retries; out of time; or
                the stream broke off, which is never retried: part of the answer was given out.
            ModelRequestError: The server refuses the request.
            ModelProtocolError: An event is no JSON.
        """
        deadline = asyncio.timeout(limit.total_seconds())
        try:
            async with deadline, aclosing(self._open_stream(body, limit, deadline)) as events:
                async for event in events:
                    self._check_body(event)
                    take(event)
        except TimeoutError as error:
            if deadline.expired():
                raise self._out_of_time(limit) from error
            raise

    async def hear(self, body: bytes, limit: timedelta, reader: AnswerReader, on_text: OnText | None) -> None:
        """Send a request and have a reader take in the answer.

        Args:
            body: The request, as JSON; that it asks for a stream is said in it where `on_text` is given.
            limit: For the whole answer, with all that is sent again and the waits between.
            reader: Takes in the answer.
            on_text: Told the words as they come; None for an answer that comes whole.

        Raises:
            ModelError: As `ask` and `stream` raise it, or as the reader does.
        """
        if on_text is None:
            reader.read(await self.ask(body, limit))
            return

        def take(event: object) -> None:
            words = reader.add(event)
            if words:
                on_text(words)

        await self.stream(body, limit, take)

    async def close(self) -> None:
        """Close the connections of the running event loop."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.close()

    async def _open_stream(
        self, body: bytes, limit: timedelta, deadline: asyncio.Timeout
    ) -> AsyncGenerator[object, None]:
        """Yield the events; only what the SDK raises is mapped, not what the taker raises."""
        try:
            stream = await self._post(body, limit, deadline, stream=True)
        except self._foreign as error:
            raise self._map(error) from error
        try:
            while True:
                try:
                    event = await anext(stream)
                except StopAsyncIteration:
                    return
                except self._foreign as error:
                    raise self._map(error) from error
                yield event
        finally:
            await stream.close()

    async def _post(self, body: bytes, limit: timedelta, deadline: asyncio.Timeout, *, stream: bool) -> Any:
        loop = asyncio.get_running_loop()
        client = self._clients.get(loop)
        if client is None:
            client = self._clients[loop] = self._sdk.connect()
        seconds = limit.total_seconds()
        timeout = httpx2.Timeout(seconds, connect=min(CONNECT_SECONDS, seconds))
        until = UNTIL.set(deadline.when())
        try:
            return await client.post(
                self._path,
                cast_to=object,
                content=body,
                options={**self._sdk.options, "timeout": timeout},
                stream=stream,
                stream_cls=self._sdk.stream,
            )
        finally:
            UNTIL.reset(until)

    def _out_of_time(self, limit: timedelta) -> ModelUnavailableError:
        return ModelUnavailableError(
            f"{self._target} did not answer within {limit.total_seconds():g} s; give the request a longer timeout"
        )

    def _map(self, error: Exception) -> ModelError:
        """Return our error for a foreign one."""
        body = getattr(error, "body", None)
        text = self._redact(_read_message(body) or str(error) or type(error).__name__)
        if isinstance(error, ValueError | RecursionError):
            return ModelProtocolError(f"{self._target} sent what is no JSON: {text}")
        status = getattr(error, "status_code", None) if isinstance(error, self._sdk.status_error) else None
        if isinstance(status, int) and status >= 400:
            response = getattr(error, "response", None)
            return self._judge(status, text, read_retry_after(response.headers) if response is not None else None)
        if body:
            return self._judge(_read_code(body), text)
        return ModelUnavailableError(f"{self._target} is out of reach: {text}")

    def _check_body(self, body: object) -> None:
        """Raise when an answer with status 200 is an error in disguise, as proxies send it."""
        error = _find_error(body)
        if error:
            raise self._judge(_read_code(error), self._redact(_read_message(error) or str(error)))

    def _judge(self, code: int | str, text: str, wait: timedelta | None = None) -> ModelError:
        if _is_passing(code):
            asked = f" (the server asks to wait {wait.total_seconds():g} s)" if wait is not None else ""
            return ModelUnavailableError(f"{self._target} cannot answer now: {text}{asked}", retry_after=wait)
        return ModelRequestError(f"{self._target} refuses the request: {text}")

    def _redact(self, text: str) -> str:
        text = text.replace(self._secret, "***") if len(self._secret) > 3 else text
        return text if len(text) <= 1000 else f"{text[:1000]}…"


def _is_passing(code: int | str) -> bool:
    """Whether the same request may do later. An error that says nothing of itself may pass."""
    if isinstance(code, int):
        return code in _LATER or code >= 500
    return not any(word in code for word in _NEVER)


def check_key(key: str) -> str:
    """Return an API key that can stand in a header.

    Raises:
        ConfigurationError: It cannot. The message does not show it.
    """
    if not key.isascii() or not key.isprintable() or key != key.strip():
        raise ConfigurationError(
            "the API key holds blanks, line ends or letters that no HTTP header takes; copy it again"
        )
    return key


def _find_error(body: object) -> object:
    """Return the error that a body or an event of a stream holds, or None."""
    whole = as_object(body) or {}
    if whole.get("type") == "error" and "error" not in whole:  # Responses says it flat
        return {key: value for key, value in whole.items() if key != "type"}
    return whole.get("error") or (as_object(whole.get("response")) or {}).get("error")


def _unwrap_error(body: object) -> Mapping[str, Any] | None:
    whole = as_object(body)
    return as_object(whole.get("error", whole)) if whole is not None else None


def _read_message(body: object) -> str:
    """Return the words of an error's body, or an empty text."""
    return as_text((_unwrap_error(body) or {}).get("message"))


def _read_code(body: object) -> int | str:
    """Return the status or the code that an error's body names, or an empty text."""
    error = _unwrap_error(body) or {}
    codes: list[object] = [error.get("code"), error.get("status"), error.get("type")]
    for code in codes:
        if isinstance(code, int) and not isinstance(code, bool) and code >= 400:
            return code
        if isinstance(code, str) and code.isdecimal() and len(code) == 3:
            return int(code)
    return " ".join(code for code in codes if isinstance(code, str)).lower()
