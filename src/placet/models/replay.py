"""Recorded traffic: a client that writes down what a model said, and one that plays it again.

```python
model = RecordingModel(open_model("openai:…"), Path("orders.jsonl"))   # once, with a key
model = ReplayModel(Path("orders.jsonl"))                               # ever after, without
```

A recording is a file of JSON lines, one answer each: what was asked, as a digest, and what was
said. Arguments and words stand in it as the model wrote them: look at it before it is shared.
"""

import hashlib
import json
from collections import defaultdict, deque
from pathlib import Path
from typing import Any, Final

from placet.errors import ConfigurationError, ModelProtocolError
from placet.ports import Finish, KeepsConnections, ModelAnswer, ModelClient, ModelRequest, OnText
from placet.values.call import ToolCall
from placet.values.json import canonical
from placet.values.message import AssistantMessage, Message, ToolMessage, UserMessage
from placet.values.run import Usage

VERSION: Final = 1


class RecordingModel:
    """Asks another client, and adds each answer to a file.

    Args:
        model: The client that is asked.
        path: The file; it is made, or added to.

    Attributes:
        name: Of the client that is asked.
        writes_prose: As the client that is asked says.
    """

    def __init__(self, model: ModelClient, path: Path) -> None:
        self.name = model.name
        self.writes_prose = model.writes_prose
        self._model = model
        self._path = path

    async def answer(self, request: ModelRequest, on_text: OnText | None = None) -> ModelAnswer:
        """Return what the model says, and record it; errors are not recorded.

        Raises:
            ModelError: As the client that is asked raises it.
            ConfigurationError: The file cannot be written.
        """
        answer = await self._model.answer(request, on_text)
        line = {"version": VERSION, "asked": digest_request(request), "model": self.name, "said": _write(answer)}
        try:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line, ensure_ascii=True) + "\n")
        except OSError as error:
            raise ConfigurationError(f"the recording {str(self._path)!r} cannot be written: {error}") from error
        return answer

    async def close(self) -> None:
        """Close the connections of the client that is asked, if it holds any."""
        if isinstance(self._model, KeepsConnections):
            await self._model.close()


class ReplayModel:
    """Plays a recording: to the same question the same answer, in the order of the recording.

    Questions are compared by what the model could read: prompt, conversation, tools, output
    schema. Markers of fences and call ids are new in each run and do not count.

    Args:
        path: A file that `RecordingModel` has written.

    Attributes:
        name: `replay:` and the path.
        writes_prose: Whether the recorded model has said anything.

    Raises:
        ConfigurationError: The file cannot be read, or is no recording.
    """

    def __init__(self, path: Path) -> None:
        self.name = f"replay:{path}"
        self._answers: dict[str, deque[ModelAnswer]] = defaultdict(deque)
        try:
            for line in path.read_text("utf-8").splitlines():
                recorded = json.loads(line)
                if recorded["version"] != VERSION:
                    raise ConfigurationError(f"{str(path)!r} is a recording of version {recorded['version']!r}")
                self._answers[recorded["asked"]].append(_read(recorded["said"]))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ConfigurationError(f"{str(path)!r} is no recording that can be read: {error!r}") from error
        self.writes_prose = any(answer.text for answers in self._answers.values() for answer in answers)

    async def answer(self, request: ModelRequest, on_text: OnText | None = None) -> ModelAnswer:
        """Return what was said when this was asked; asked more often than recorded, the last answer.

        Raises:
            ModelProtocolError: It was never asked.
        """
        answers = self._answers.get(digest_request(request))
        if not answers:
            raise ModelProtocolError(
                f"{self.name!r} holds no answer to this question: prompt, tools or conversation differ from when it "
                "was recorded; record it again"
            )
        answer = answers.popleft() if len(answers) > 1 else answers[0]
        if on_text is not None and answer.text:
            on_text(answer.text)
        return answer


def digest_request(request: ModelRequest) -> str:
    """Return a digest of what the model could read, without what is new in each run."""
    readable = {
        "system": request.system,
        "messages": [_describe(message) for message in request.transcript],
        "tools": [[spec.name, spec.description, spec.input_schema] for spec in request.tools.specs],
        "output": request.output_schema,
        "choice": request.tool_choice,
    }
    return hashlib.sha256(canonical(readable).encode()).hexdigest()


def _describe(message: Message) -> list[Any]:
    match message:
        case UserMessage():
            return ["user", message.text]
        case AssistantMessage():
            return ["assistant", message.text, [[call.name, call.arguments] for call in message.calls]]
        case ToolMessage():
            return ["tool", [[result.content, result.is_error] for result in message.results]]


def _write(answer: ModelAnswer) -> dict[str, Any]:
    return {
        "text": answer.text,
        "calls": [
            {
                "id": call.id,
                "name": call.name,
                "arguments": call.arguments,
                "fault": call.fault,
                "provider_state": call.provider_state,
                "note": call.note,
            }
            for call in answer.calls
        ],
        "finish": answer.finish.value,
        "refusal": answer.refusal,
        "usage": {
            "input_tokens": answer.usage.input_tokens,
            "output_tokens": answer.usage.output_tokens,
            "cached_tokens": answer.usage.cached_tokens,
            "written_tokens": answer.usage.written_tokens,
            "reasoning_tokens": answer.usage.reasoning_tokens,
            "cost": str(answer.usage.cost),
        },
        "model": answer.model,
        "provider": answer.provider,
        "provider_state": answer.provider_state,
    }


def _read(said: dict[str, Any]) -> ModelAnswer:
    fields: dict[str, Any] = {**said, "finish": Finish(said["finish"]), "usage": Usage(**said["usage"])}
    fields["calls"] = tuple(ToolCall(**call) for call in said["calls"])
    return ModelAnswer(**fields)
