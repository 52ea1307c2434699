"""AnthropicMessages: Anthropic's own wire, with thinking carried from turn to turn.

The Anthropic SDK carries the requests; what is in them and what comes back is ours. Importing
this module imports the SDK, which takes a while: `placet.models.open` does so only when used.
"""

import os
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from anthropic import AnthropicError, APIStatusError, AsyncAnthropic, AsyncStream, DefaultAsyncHttpxClient

from placet.agent.fence import FENCE_RULE
from placet.errors import ConfigurationError
from placet.models.call_ids import ANTHROPIC_CALL_IDS, collect_call_ids
from placet.models.connection import NO_KEY, RETRIES, Connection, Sdk, check_key
from placet.models.history import OPENING, HistoryWriter, begins_with_user, write_json
from placet.models.messages_history import MessagesHistory
from placet.models.messages_reader import MessagesReader
from placet.models.offers import Offer, OutputForms, describe_output, offer_tools
from placet.models.own_state import NOBODY, ask_with_state
from placet.models.retry_after import hooked_client
from placet.models.settings import check_settings
from placet.ports import ModelAnswer, ModelRequest, OnText
from placet.tools.provider_schema import Strictness
from placet.values.json import Json, JsonObject

MAX_TOKENS: Final = 8192
"""The wire wants a limit. An answer that reaches it is cut, and its calls are not run."""

_OURS: Final = frozenset({"model", "messages", "system", "tools", "tool_choice", "stream"})
_CHOICES: Final = {"required": "any", "none": "none"}


class AnthropicMessages:
    """Asks a model over Anthropic Messages, streamed or whole.

    Args:
        model: As the provider names it.
        base_url: Of a server that speaks Messages; None for Anthropic itself.
        api_key: None takes `ANTHROPIC_API_KEY` for Anthropic itself; it is never sent to
            another server by itself.
        max_tokens: At most so many in one answer.
        strict: Whether the provider is asked to keep to the schemas of tools. It takes few strict
            tools in one request, and the least risky lose it first.
        settings: What every request says, as `{"thinking": {"type": "adaptive"}}`; a request's
            own settings go before. No temperature is set: the API refuses one.
        max_retries: How often a request that failed for the moment is sent again.
        headers: Further headers.

    Attributes:
        name: The id under which it was made.
        writes_prose: True.

    Raises:
        ConfigurationError: There is no API key, or one that cannot be sent; or a setting says
            what placet says.
    """

    writes_prose = True

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        max_tokens: int = MAX_TOKENS,
        strict: bool = False,
        settings: Mapping[str, Json] | None = None,
        max_retries: int = RETRIES,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.name = f"anthropic:{model}" if base_url is None else f"anthropic:{model}@{base_url}"
        self.provider = f"anthropic@{urlsplit(base_url).netloc if base_url else 'api.anthropic.com'}"
        self._model = model
        self._strict = strict
        self._outputs = OutputForms("anthropic", strict=True)
        self._settings = {"max_tokens": max_tokens, **check_settings(settings or {}, _OURS, self.name)}
        key = api_key if api_key is not None or base_url is not None else os.environ.get("ANTHROPIC_API_KEY")
        if not key and base_url is None:
            raise ConfigurationError(f"{self.name!r} needs an API key: set ANTHROPIC_API_KEY or pass api_key=…")
        key = check_key(key or NO_KEY)

        def connect() -> Any:
            return AsyncAnthropic(
                api_key=key,
                base_url=base_url or os.environ.get("ANTHROPIC_BASE_URL") or "https://api.anthropic.com",
                max_retries=max_retries,
                default_headers=headers,
                http_client=hooked_client(DefaultAsyncHttpxClient),
                open_telemetry=False,  # placet has spans of its own, which redact
            )

        sdk = Sdk(
            connect=connect,
            stream=AsyncStream[object],
            root=AnthropicError,
            status_error=APIStatusError,
            options={},
        )
        self._connection = Connection(sdk, "/v1/messages", self.name, key if key != NO_KEY else "")
        self._history = HistoryWriter(MessagesHistory(self.provider).write_turn, ANTHROPIC_CALL_IDS, self.provider)
        self._bare_history = HistoryWriter(MessagesHistory(NOBODY).write_turn, ANTHROPIC_CALL_IDS, NOBODY)

    async def answer(self, request: ModelRequest, on_text: OnText | None = None) -> ModelAnswer:
        """Return what the model says; see `placet.ports.ModelClient.answer`.

        Raises:
            ModelUnavailableError: Out of reach or overloaded, after bounded retries.
            ModelRequestError: The provider refuses the request.
            ModelProtocolError: The answer cannot be understood.
            ConfigurationError: A setting of the request says what placet says.
        """
        offer = offer_tools(request.tools, "anthropic", strict=self._strict)

        def write(own: bool) -> bytes:
            history = self._history if own else self._bare_history
            return self._write_body(request, offer, history, stream=on_text is not None)

        async def hear(body: bytes, tell: OnText | None) -> MessagesReader:
            reader = MessagesReader()
            await self._connection.hear(body, request.timeout, reader, tell)
            return reader

        reader = await ask_with_state(write, hear, on_text)
        answer = reader.finish(collect_call_ids(request.transcript), f"{len(request.transcript)}", self.provider)
        return self._outputs.restore(offer.restore(answer), request.output_schema)

    async def close(self) -> None:
        """Close the connections of the running event loop."""
        await self._connection.close()

    def _write_body(self, request: ModelRequest, offer: Offer, history: HistoryWriter, *, stream: bool) -> bytes:
        fields: dict[str, Any] = {
            "model": self._model,
            **self._settings,
            **check_settings(request.settings, _OURS, self.name),
        }
        if stream:
            fields["stream"] = True
        specs = request.tools.specs
        prompt = [request.system, FENCE_RULE if specs else ""]
        if request.output_schema is not None:
            prompt.append(self._ask_for_output(request.output_schema, fields))
        if any(prompt):
            fields["system"] = "\n\n".join(part for part in prompt if part.strip())
        if specs and request.tool_choice in _CHOICES:
            fields["tool_choice"] = {"type": _CHOICES[request.tool_choice]}
        messages = history.write(request.transcript)
        if not begins_with_user(request.transcript):
            messages.insert(0, OPENING)
        parts = [write_json(fields)[:-1], b',"messages":[', b",".join(messages), b"]"]
        if specs:
            parts += [b',"tools":', offer.content]
        return b"".join([*parts, b"}"])

    def _ask_for_output(self, schema: JsonObject, fields: dict[str, Any]) -> str:
        """Ask for structured output in the fields; return what the prompt has to say about it."""
        compiled = self._outputs.compile(schema)
        if compiled.strictness is not Strictness.STRICT:  # the wire takes no other schemas
            return describe_output(schema)
        form = {"type": "json_schema", "schema": compiled.schema}
        fields["output_config"] = {**(fields.get("output_config") or {}), "format": form}
        return ""
