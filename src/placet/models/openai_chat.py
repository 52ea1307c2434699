"""OpenAIChat: Chat Completions, the wire that every compatible server speaks.

The OpenAI SDK carries the requests; what is in them and what comes back is ours. Importing
this module imports the SDK, which takes a while: `placet.models.open` does so only when used.
"""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from placet.agent.fence import EMPTY, FENCE_RULE
from placet.models.accumulator import ChatAccumulator
from placet.models.call_ids import collect_call_ids
from placet.models.chat_messages import ChatMessages
from placet.models.connection import RETRIES
from placet.models.history import OPENING, HistoryWriter, begins_with_user, write_json
from placet.models.offers import Offer, OutputForms, describe_output, json_schema_format, offer_tools
from placet.models.openai_sdk import connect_openai
from placet.models.quirks import Quirks, find_quirks
from placet.models.settings import check_settings
from placet.ports import ModelAnswer, ModelRequest, OnText
from placet.values.json import Json, JsonObject

_OURS: Final = frozenset(
    {"model", "messages", "tools", "tool_choice", "stream", "stream_options", "n", "functions", "function_call"}
)
"""What a setting must not say: these are said by placet, from what the gate knows."""


class OpenAIChat:
    """Asks a model over Chat Completions, streamed or whole.

    Args:
        model: As the server names it.
        base_url: Of a compatible server, as `"http://127.0.0.1:8080/v1"`; None for OpenAI itself.
        api_key: None takes `OPENAI_API_KEY` for OpenAI itself. A key for OpenAI is never sent
            to another server by itself.
        quirks: How the server differs: its name, or your own; None finds out by the address.
        settings: What every request says, as `{"reasoning_effort": "low"}`; a request's own
            settings go before. No temperature is set: many models refuse one.
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
        quirks: Quirks | str | None = None,
        settings: Mapping[str, Json] | None = None,
        max_retries: int = RETRIES,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.name = f"openai:{model}" if base_url is None else f"openai-compatible:{model}@{base_url}"
        self.quirks = find_quirks(quirks, base_url)
        # Behind one address there may be models of many vendors, and none reads what another wants back.
        self.provider = f"openai-chat@{urlsplit(base_url).netloc}/{model}" if base_url else "openai-chat@api.openai.com"
        self._model = model
        self._settings = check_settings(settings or {}, _OURS, self.name)
        self._connection = connect_openai(
            "/chat/completions", self.name, base_url=base_url, api_key=api_key, max_retries=max_retries, headers=headers
        )
        writer = ChatMessages(self.quirks, self.provider)
        self._outputs = OutputForms("openai-chat", strict=self.quirks.strict)
        between = write_json({"role": "assistant", "content": EMPTY}) if self.quirks.speaks_after_results else b""
        self._history = HistoryWriter(writer.write_turn, self.quirks.call_ids, self.provider, between=between)

    async def answer(self, request: ModelRequest, on_text: OnText | None = None) -> ModelAnswer:
        """Return what the model says; see `placet.ports.ModelClient.answer`.

        Raises:
            ModelUnavailableError: Out of reach or overloaded, after bounded retries.
            ModelRequestError: The server refuses the request.
            ModelProtocolError: The answer cannot be understood.
            ConfigurationError: A setting of the request says what placet says.
        """
        offer = offer_tools(request.tools, "openai-chat", strict=self.quirks.strict)
        body = self._write_body(request, offer, stream=on_text is not None)
        accumulator = ChatAccumulator(offer.names)
        await self._connection.hear(body, request.timeout, accumulator, on_text)
        answer = accumulator.finish(collect_call_ids(request.transcript), f"{len(request.transcript)}", self.provider)
        return self._outputs.restore(offer.restore(answer), request.output_schema)

    async def close(self) -> None:
        """Close the connections of the running event loop."""
        await self._connection.close()

    def _write_body(self, request: ModelRequest, offer: Offer, *, stream: bool) -> bytes:
        settings = {**self._settings, **check_settings(request.settings, _OURS, self.name)}
        fields: dict[str, Any] = {"model": self._model, **settings}
        if stream:
            fields["stream"] = True
            if self.quirks.stream_usage:
                fields["stream_options"] = {"include_usage": True}
        specs = request.tools.specs
        if specs and request.tool_choice != "auto":
            fields["tool_choice"] = request.tool_choice
        if specs and self.quirks.parallel is not None:
            fields.setdefault("parallel_tool_calls", self.quirks.parallel)
        system = [request.system, FENCE_RULE if specs else ""]
        if request.output_schema is not None:
            system.append(self._ask_for_output(request.output_schema, fields))
        messages = self._history.write(request.transcript)
        if self.quirks.opens_with_user and not begins_with_user(request.transcript):
            messages.insert(0, OPENING)
        prompt = "\n\n".join(part for part in system if part.strip())
        if prompt:
            messages.insert(0, write_json({"role": self.quirks.system_role, "content": prompt}))
        parts = [write_json(fields)[:-1], b',"messages":[', b",".join(messages), b"]"]
        if specs:
            parts += [b',"tools":', offer.content]
        return b"".join([*parts, b"}"])

    def _ask_for_output(self, schema: JsonObject, fields: dict[str, Any]) -> str:
        """Ask for structured output in the fields; return what the prompt has to say about it."""
        if self.quirks.structured == "json_schema":
            form = json_schema_format(self._outputs.compile(schema))
            fields["response_format"] = {"type": "json_schema", "json_schema": form}
            return ""
        if self.quirks.structured == "json_object":
            fields["response_format"] = {"type": "json_object"}
        return describe_output(schema)
