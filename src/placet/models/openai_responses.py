"""OpenAIResponses: OpenAI's own wire. Nothing is stored there; reasoning is carried encrypted.

Importing this module imports the SDK, which takes a while: `placet.models.open` does so only
when used.
"""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from placet.agent.fence import FENCE_RULE
from placet.models.call_ids import RESPONSES_CALL_IDS, collect_call_ids
from placet.models.connection import RETRIES
from placet.models.history import HistoryWriter, write_json
from placet.models.offers import Offer, OutputForms, json_schema_format, offer_tools
from placet.models.openai_sdk import connect_openai
from placet.models.own_state import NOBODY, ask_with_state
from placet.models.responses_history import ResponsesHistory
from placet.models.responses_reader import ResponsesReader
from placet.models.settings import check_settings
from placet.ports import ModelAnswer, ModelRequest, OnText
from placet.values.json import Json

_OURS: Final = frozenset(
    {
        "model", "input", "instructions", "tools", "tool_choice", "stream", "store", "include", "background",
        "previous_response_id", "conversation",
    }
)  # fmt: skip


class OpenAIResponses:
    """Asks a model over Responses, streamed or whole, with `store` off.

    Args:
        model: As the provider names it.
        base_url: Of a server that speaks Responses; None for OpenAI itself.
        api_key: None takes `OPENAI_API_KEY` for OpenAI itself; it is never sent to another
            server by itself.
        strict: Whether the provider is asked to keep to the schemas of tools and output.
        settings: What every request says, as `{"reasoning": {"effort": "low"}}`; a request's own
            settings go before.
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
        strict: bool = True,
        settings: Mapping[str, Json] | None = None,
        max_retries: int = RETRIES,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.name = f"openai-responses:{model}" if base_url is None else f"openai-responses:{model}@{base_url}"
        # No model can decrypt what another one has thought.
        self.provider = f"openai-responses@{urlsplit(base_url).netloc if base_url else 'api.openai.com'}/{model}"
        self._model = model
        self._strict = strict
        self._outputs = OutputForms("openai-responses", strict=strict)
        self._settings = check_settings(settings or {}, _OURS, self.name)
        self._connection = connect_openai(
            "/responses", self.name, base_url=base_url, api_key=api_key, max_retries=max_retries, headers=headers
        )
        self._history = HistoryWriter(ResponsesHistory(self.provider).write_turn, RESPONSES_CALL_IDS, self.provider)
        self._bare_history = HistoryWriter(ResponsesHistory(NOBODY).write_turn, RESPONSES_CALL_IDS, NOBODY)

    async def answer(self, request: ModelRequest, on_text: OnText | None = None) -> ModelAnswer:
        """Return what the model says; see `placet.ports.ModelClient.answer`.

        Raises:
            ModelUnavailableError: Out of reach or overloaded, after bounded retries.
            ModelRequestError: The provider refuses the request.
            ModelProtocolError: The answer cannot be understood.
            ConfigurationError: A setting of the request says what placet says.
        """
        offer = offer_tools(request.tools, "openai-responses", strict=self._strict)

        def write(own: bool) -> bytes:
            history = self._history if own else self._bare_history
            return self._write_body(request, offer, history, stream=on_text is not None)

        async def hear(body: bytes, tell: OnText | None) -> ResponsesReader:
            reader = ResponsesReader()
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
            "store": False,  # else the provider keeps the conversation for a month
            "include": ["reasoning.encrypted_content"],
        }
        if stream:
            fields["stream"] = True
        specs = request.tools.specs
        prompt = "\n\n".join(part for part in (request.system, FENCE_RULE if specs else "") if part.strip())
        if prompt:
            fields["instructions"] = prompt
        if specs and request.tool_choice != "auto":
            fields["tool_choice"] = request.tool_choice
        if request.output_schema is not None:
            form = json_schema_format(self._outputs.compile(request.output_schema))
            fields["text"] = {**(fields.get("text") or {}), "format": {"type": "json_schema", **form}}
        items = history.write(request.transcript)
        parts = [write_json(fields)[:-1], b',"input":[', b",".join(items), b"]"]
        if specs:
            parts += [b',"tools":', offer.content]
        return b"".join([*parts, b"}"])
