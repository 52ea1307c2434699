"""ScriptedModel: a model client that says what it was told to say. For tests, demos and benches.

```python
model = ScriptedModel().calls("check_stock", product="rice").says("We have 42 units.")
```

Each step of the script is one answer. It costs no network, no key and no surprise: when
the script is at its end it says so instead of inventing an answer.
"""

import asyncio
import inspect
import json
import re
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final, TypeAlias

from placet.errors import ConfigurationError, ModelError, ModelProtocolError
from placet.ports import Finish, ModelAnswer, ModelRequest, OnText
from placet.values.call import ToolCall
from placet.values.message import AssistantMessage, Transcript, UserMessage
from placet.values.run import Usage

AnswerFunction: TypeAlias = Callable[[ModelRequest], ModelAnswer | Awaitable[ModelAnswer]]
"""One step that looks at the question first. May wait."""

KEPT_REQUESTS: Final = 1000
"""How many requests are remembered, so that a long bench does not fill the memory."""

_PIECE: Final = re.compile(r"\S+\s*|\s+")


class ScriptedModel:
    """A model that plays a script, one step an answer.

    The methods add steps and return the model itself, so a script reads from left to right.
    Call ids are made from where the answer stands in its conversation, `call_<message>_<index>`,
    so they never repeat within one history.

    Args:
        per_run: One script for any number of interleaved runs: the step is chosen by how often
            the model has answered since the person spoke last. Without it, every answer takes
            the next step, whoever asks.
        cycle: Start again at the first step when the script is at its end.
        usage: What every answer says it has cost, unless it says so itself.
        delay: How long every answer takes.
        writes_prose: What the client says about itself; False makes answer templates speak.
        name: The id under which it appears.

    Attributes:
        name: The id under which it appears.
        writes_prose: Whether it can word an answer.
    """

    def __init__(
        self,
        *,
        per_run: bool = False,
        cycle: bool = False,
        usage: Usage | None = None,
        delay: timedelta | None = None,
        writes_prose: bool = True,
        name: str = "scripted:",
    ) -> None:
        self.name = name
        self.writes_prose = writes_prose
        self._per_run = per_run
        self._cycle = cycle
        self._usage = usage or Usage()
        self._delay = delay.total_seconds() if delay is not None else None
        self._steps: list[_Spoken | ModelError | AnswerFunction] = []
        self._position = 0
        self._requests: deque[ModelRequest] = deque(maxlen=KEPT_REQUESTS)

    # ── writing the script ────────────────────────────────────────────────────────────

    def says(self, text: str) -> "ScriptedModel":
        """Add an answer of words."""
        return self.answers(ModelAnswer(text=text))

    def calls(self, tool: str, arguments: Mapping[str, Any] | None = None, /, **more: Any) -> "ScriptedModel":
        """Add an answer of one call: `.calls("check_stock", product="rice")`.

        Args:
            tool: Name of the tool, as the model writes it.
            arguments: Arguments as a mapping, for names that are no Python identifiers.
            **more: Arguments by name.

        Raises:
            ConfigurationError: The arguments are not JSON; use `calls_raw` for broken ones.
        """
        return self.calls_raw(tool, _write_arguments(tool, {**(arguments or {}), **more}))

    def also_calls(self, tool: str, arguments: Mapping[str, Any] | None = None, /, **more: Any) -> "ScriptedModel":
        """Add one more call to the answer before it, so that both are made in one turn.

        Raises:
            ConfigurationError: The step before is no answer, or the arguments are not JSON.
        """
        return self.also_calls_raw(tool, _write_arguments(tool, {**(arguments or {}), **more}))

    def calls_all(self, calls: Sequence[tuple[str, Mapping[str, Any]]]) -> "ScriptedModel":
        """Add an answer of several calls: `.calls_all([("a", {"x": 1}), ("b", {})])`.

        Raises:
            ConfigurationError: There are no calls, or the arguments are not JSON.
        """
        if not calls:
            raise ConfigurationError("calls_all needs at least one call; use says('') for an empty answer")
        (first, arguments), *others = calls
        self.calls(first, arguments)
        for tool, arguments in others:
            self.also_calls(tool, arguments)
        return self

    def calls_raw(self, tool: str, arguments: str, *, id: str = "", fault: str | None = None) -> "ScriptedModel":  # noqa: A002 - the word of the wire
        """Add an answer of one call whose arguments are exactly this text, broken or not.

        Args:
            tool: Name of the tool, as the model writes it.
            arguments: The text as the model writes it.
            id: The call id; made up when empty.
            fault: Why the call cannot be known, as a client would say it.
        """
        return self.answers(ModelAnswer(calls=(ToolCall(id, tool, arguments, fault),), finish=Finish.CALLS))

    def also_calls_raw(self, tool: str, arguments: str, *, id: str = "", fault: str | None = None) -> "ScriptedModel":  # noqa: A002 - the word of the wire
        """Add one more call, with exactly this text, to the answer before it.

        Raises:
            ConfigurationError: The step before is no answer.
        """
        last = self._steps[-1] if self._steps else None
        if not isinstance(last, _Spoken):
            raise ConfigurationError(f"also_calls({tool!r}) needs an answer before it; use calls({tool!r}) first")
        calls = (*last.answer.calls, ToolCall(id, tool, arguments, fault))
        self._steps[-1] = _Spoken(replace(last.answer, calls=calls, finish=Finish.CALLS))
        return self

    def answers(self, answer: ModelAnswer) -> "ScriptedModel":
        """Add an answer exactly as given; only calls without an id get one."""
        if answer.usage == Usage():
            answer = replace(answer, usage=self._usage)
        self._steps.append(_Spoken(answer))
        return self

    def fails(self, error: ModelError) -> "ScriptedModel":
        """Add a step at which asking the model raises this error."""
        self._steps.append(error)
        return self

    def does(self, function: AnswerFunction) -> "ScriptedModel":
        """Add a step whose answer is computed from the question, at once or awaited."""
        self._steps.append(function)
        return self

    # ── playing it ────────────────────────────────────────────────────────────────────

    @property
    def requests(self) -> tuple[ModelRequest, ...]:
        """The questions that were asked, oldest first, at most the last 1000."""
        return tuple(self._requests)

    @property
    def position(self) -> int:
        """How many steps were played; stays 0 with `per_run`."""
        return self._position

    def fresh(self) -> "ScriptedModel":
        """Return a model with the same script, at its beginning, with no requests."""
        other = ScriptedModel(per_run=self._per_run, cycle=self._cycle, usage=self._usage)
        other.name, other.writes_prose, other._delay = self.name, self.writes_prose, self._delay
        other._steps = list(self._steps)
        return other

    async def answer(self, request: ModelRequest, on_text: OnText | None = None) -> ModelAnswer:
        """Return the next answer of the script; see `placet.ports.ModelClient.answer`.

        Raises:
            ModelProtocolError: The script is at its end.
            ModelError: As scripted with `fails`.
        """
        self._requests.append(request)
        step = self._take_step(request.transcript)
        if self._delay is not None:
            await asyncio.sleep(self._delay)
        if isinstance(step, _Spoken):
            answer = step.speak(len(request.transcript))
        elif isinstance(step, ModelError):
            raise step.with_traceback(None)  # one error object for many runs must not pile up their frames
        else:
            computed = step(request)
            answer = await computed if inspect.isawaitable(computed) else computed
        if on_text is not None and answer.text:
            for piece in _PIECE.findall(answer.text):
                on_text(piece)
        return answer

    def _take_step(self, transcript: Transcript) -> "_Spoken | ModelError | AnswerFunction":
        position = _count_answers(transcript) if self._per_run else self._position
        steps = self._steps
        if position >= len(steps):
            if not self._cycle or not steps:
                raise ModelProtocolError(
                    f"the script of {self.name!r} is at its end after {len(steps)} answers; "
                    "add a step (says, calls, fails, does) or find out why the model is asked again"
                )
            position %= len(steps)
        if not self._per_run:
            self._position += 1
        return steps[position]


@dataclass(slots=True)
class _Spoken:
    """One scripted answer, and the last form of it that was given out."""

    answer: ModelAnswer
    length: int = -1
    spoken: ModelAnswer | None = None

    def speak(self, length: int) -> ModelAnswer:
        """Return the answer with call ids for a conversation of this length."""
        if not self.answer.calls:
            return self.answer
        if self.spoken is None or self.length != length:
            calls = tuple(
                call if call.id else replace(call, id=f"call_{length}_{index}")
                for index, call in enumerate(self.answer.calls)
            )
            self.length, self.spoken = length, replace(self.answer, calls=calls)
        return self.spoken


def _count_answers(transcript: Transcript) -> int:
    count = 0
    for index in range(len(transcript) - 1, -1, -1):
        message = transcript[index]
        if isinstance(message, AssistantMessage):
            count += 1
        elif isinstance(message, UserMessage):
            break
    return count


def _write_arguments(tool: str, arguments: Mapping[str, Any]) -> str:
    try:
        return json.dumps(arguments, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ConfigurationError(
            f"the scripted arguments of {tool!r} are not JSON ({error}); use calls_raw for broken text"
        ) from error
