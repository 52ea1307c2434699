"""TextProtocolModel: calls as text, for models and servers without function calling.

It wraps any client: `TextProtocolModel(open_model("openai-compatible:…"), TextForm.SCHEMA)`.
The wrapped client is asked without tools; what it says is read by the narrow rules of
`placet.agent.text_protocol`, and the calls are marked as `Wire.TEXT` for the audit log.
"""

import secrets
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from placet.agent.fence import FENCE_RULE, fence_text
from placet.agent.text_protocol import (
    NO_TOOL,
    TextForm,
    describe_tools,
    may_be_call,
    read_cut_reply,
    read_reply,
    reply_schema,
    write_call,
)
from placet.errors import ConfigurationError
from placet.models.accumulator import CUT, FILTERED
from placet.models.call_arguments import read_object
from placet.models.call_ids import collect_call_ids, make_unique
from placet.models.offers import describe_output
from placet.ports import Finish, KeepsConnections, ModelAnswer, ModelClient, ModelRequest, OnText
from placet.values.call import ToolCall, Wire
from placet.values.json import JsonObject
from placet.values.message import AssistantMessage, Message, ToolMessage, Transcript, UserMessage
from placet.values.tool import VisibleTools

_KEPT: Final = 4096
_NO_TOOLS: Final = VisibleTools(())
_FAULTS: Final = {Finish.LENGTH: CUT, Finish.FILTER: FILTERED}


class TextProtocolModel:
    """Asks a model that only writes text, and reads its calls from the text.

    Args:
        model: The client that is asked.
        form: How calls are written. `SCHEMA` needs a server that holds the model to a JSON Schema.
        new_marker: Makes the marker of a run, for the fenced form.

    Attributes:
        name: `text-`, the form, and the id of the client that is asked.
        writes_prose: As the client that is asked says.
    """

    def __init__(
        self,
        model: ModelClient,
        form: TextForm = TextForm.PLAIN,
        *,
        new_marker: Callable[[], str] = lambda: secrets.token_hex(8),
    ) -> None:
        self.name = f"text-{form.value}:{model.name}"
        self.writes_prose = model.writes_prose
        self._model = model
        self._form = form
        self._new_marker = new_marker
        # Keyed by identity, which is safe while the message itself is kept beside what was made of it.
        self._markers: dict[int, tuple[Message, str]] = {}
        self._told: dict[int, tuple[Message, str, Message]] = {}

    async def answer(self, request: ModelRequest, on_text: OnText | None = None) -> ModelAnswer:
        """Return what the model says; see `placet.ports.ModelClient.answer`.

        Raises:
            ModelError: As the client that is asked raises it.
            ConfigurationError: A tool has the name that stands for no tool.
        """
        if not request.tools.specs:
            return await self._model.answer(replace(request, transcript=self._tell(request.transcript, "")), on_text)
        marker = self._find_marker(request.transcript) if self._form is TextForm.FENCED else ""
        asked, names = self._ask(request, marker)
        words = _Words(on_text, self._form) if on_text is not None else None
        answer = await self._model.answer(asked, words.hear if words is not None else None)
        if answer.calls or answer.refusal is not None or request.tool_choice == "none":
            if words is not None:
                words.say_rest(answer.text)
            return answer
        heard = (text for message in request.transcript for text in _texts_heard(message))
        reply = read_reply(answer.text, names, self._form, marker, heard)
        if self._form is TextForm.SCHEMA and answer.finish in _FAULTS and reply.text == answer.text:
            reply = read_cut_reply(answer.text, names)
        if reply.call is None:
            if words is not None:
                words.say_rest(reply.text)
            return replace(answer, text=reply.text)
        place = f"text_{len(request.transcript)}"
        call = ToolCall(
            id=make_unique("", collect_call_ids(request.transcript), place),
            name=reply.call.name,
            arguments=reply.call.arguments,
            fault=reply.call.fault or _FAULTS.get(answer.finish),
            wire=Wire.TEXT,
        )
        finish = answer.finish if answer.finish in _FAULTS else Finish.CALLS
        return replace(answer, text="", calls=(call,), finish=finish)

    async def close(self) -> None:
        """Close the connections of the client that is asked, if it holds any."""
        if isinstance(self._model, KeepsConnections):
            await self._model.close()

    def _ask(self, request: ModelRequest, marker: str) -> tuple[ModelRequest, frozenset[str]]:
        """Return the question as the wrapped client is asked it, and the names of the tools."""
        specs = request.tools.specs
        names = frozenset(spec.name for spec in specs)
        prompt = [request.system, FENCE_RULE]
        schema = request.output_schema
        if request.tool_choice != "none":
            prompt.append(describe_tools(specs, self._form, marker))
            if request.tool_choice == "required":
                prompt.append("This time you must call a tool.")
            if self._form is TextForm.SCHEMA:
                if NO_TOOL in names:
                    raise ConfigurationError(f"a tool cannot be named {NO_TOOL!r} here: the name stands for no tool")
                schema = self._find_schema(request)
            elif schema is not None:
                prompt.append(f"When you call no tool: {describe_output(schema)}")
                schema = None
        asked = replace(
            request,
            system="\n\n".join(part for part in prompt if part.strip()),
            transcript=self._tell(request.transcript, marker),
            tools=_NO_TOOLS,
            tool_choice="auto",
            output_schema=schema,
        )
        return asked, names

    def _find_schema(self, request: ModelRequest) -> JsonObject:
        """Return the schema of a reply; the same object for the same tools, so that it is compiled once."""
        if request.output_schema is not None:
            return reply_schema(request.tools.specs, request.output_schema)
        schema: JsonObject | None = request.tools.wire.get("text:schema")
        if schema is None:
            schema = request.tools.wire["text:schema"] = reply_schema(request.tools.specs)
        return schema

    def _find_marker(self, transcript: Transcript) -> str:
        """Return the marker of the run, which begins with what the person said last; another run, another marker."""
        began = next((message for message in reversed(transcript) if _is_question(message)), None)
        if began is None:  # a nested run, which begins with what its tool has asked
            began = transcript[0] if transcript else UserMessage("")
        kept = self._markers.get(id(began))
        if kept is None:
            while len(self._markers) >= _KEPT:
                self._markers.pop(next(iter(self._markers)))
            kept = self._markers[id(began)] = (began, self._new_marker())
        return kept[1]

    def _tell(self, transcript: Transcript, marker: str) -> Transcript:
        """Return a history as a model reads it that knows no tools: calls and results are text."""
        return Transcript(self._tell_message(message, marker) for message in transcript)

    def _tell_message(self, message: Message, marker: str) -> Message:
        if isinstance(message, UserMessage) or (isinstance(message, AssistantMessage) and not message.calls):
            return message
        kept = self._told.get(id(message))
        if kept is None or kept[1] != marker:
            while len(self._told) >= _KEPT:
                self._told.pop(next(iter(self._told)))
            kept = self._told[id(message)] = (message, marker, self._translate(message, marker))
        return kept[2]

    def _translate(self, message: Message, marker: str) -> Message:
        match message:
            case AssistantMessage():
                calls = [
                    write_call(call.name, read_object(call.arguments), self._form, marker) for call in message.calls
                ]
                text = "\n".join([message.text, *calls] if message.text else calls)
                return AssistantMessage(text, (), message.provider, message.provider_state)
            case ToolMessage():
                results = "\n".join(fence_text(result, say_error=True) for result in message.results)
                return UserMessage(f"What the tool returned:\n{results}")
            case UserMessage():
                return message


class _Words:
    """Passes words on as they come, unless they may turn out to be a call."""

    def __init__(self, on_text: OnText, form: TextForm) -> None:
        self._on_text = on_text
        self._begun = ""
        self._held = True
        self._hold_all = form is TextForm.SCHEMA

    def hear(self, piece: str) -> None:
        """Take in a piece; pass it on as soon as it is known to be words."""
        if not self._held:
            self._on_text(piece)
            return
        self._begun += piece
        if not self._hold_all and not may_be_call(self._begun):
            self._held = False
            self._on_text(self._begun)

    def say_rest(self, text: str) -> None:
        """Pass on what was held back and turned out to be words."""
        if self._held and text:
            self._on_text(text)


def _is_question(message: Message) -> bool:
    return isinstance(message, UserMessage) and message.by_person


def _texts_heard(message: Message) -> list[str]:
    match message:
        case UserMessage():
            return [message.text]
        case ToolMessage():
            return [result.content for result in message.results]
        case AssistantMessage():
            return []
