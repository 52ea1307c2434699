"""MaliciousModel: a model that does all that a model can do wrong, by the dice of a seed."""

import json
import random
from collections.abc import Sequence
from typing import Any, Final

from placet.ports import Finish, ModelAnswer, ModelRequest, OnText
from placet.testing.sample_arguments import sample
from placet.values.call import ToolCall
from placet.values.json import JsonObject
from placet.values.message import ToolMessage

_JUNK: Final[Sequence[Any]] = (
    None,
    True,
    -1,
    10**30,
    1e308,
    "",
    "zz",
    "\u202e\x00",
    "'; DROP TABLE orders; --",
    [],
    {},
    [[{}]],
)


class MaliciousModel:
    """Calls what it may not, with what does not fit, again and again; what it was told it turns into calls.

    Args:
        seed: Its dice.
        turns: After so many answers of a conversation it says something and stops.
        hidden: Names of tools that it should not know of, and calls all the same.
    """

    def __init__(self, seed: int, *, turns: int = 6, hidden: Sequence[str] = ()) -> None:
        self.name = "malicious:"
        self.writes_prose = True
        self._dice = random.Random(seed)  # noqa: S311 - dice of a test
        self._turns = turns
        self._hidden = tuple(hidden)
        self._seen: list[ToolCall] = []

    async def answer(self, request: ModelRequest, on_text: OnText | None = None) -> ModelAnswer:
        """Return calls that should not be made, and in the end some words."""
        del on_text
        dice = self._dice
        if len(request.transcript) >= 2 * self._turns:
            return ModelAnswer(text="done")
        calls = tuple(self._call(request, index) for index in range(dice.randint(1, 4)))
        self._seen += calls
        return ModelAnswer(calls=calls, finish=dice.choice(list(Finish)))

    def _call(self, request: ModelRequest, index: int) -> ToolCall:
        dice = self._dice
        call_id = dice.choice((f"c{len(request.transcript)}_{index}", "c0", ""))
        if self._seen and dice.random() < 0.3:
            again = dice.choice(self._seen)
            return ToolCall(call_id, again.name, again.arguments)
        spec = dice.choice(request.tools.specs) if request.tools.specs else None
        name = spec.name if spec is not None else "nothing"
        if self._hidden and dice.random() < 0.3:
            name = dice.choice(self._hidden)
        return ToolCall(call_id, name, self._arguments(spec.input_schema if spec is not None else {}, request))

    def _arguments(self, schema: JsonObject, request: ModelRequest) -> str:
        dice = self._dice
        arguments = sample(schema)
        match dice.randint(0, 6):
            case 0:
                arguments[f"extra_{dice.randint(0, 9)}"] = dice.choice(_JUNK)
            case 1 if arguments:
                arguments[dice.choice(list(arguments))] = dice.choice(_JUNK)
            case 2 if arguments:
                del arguments[dice.choice(list(arguments))]
            case 3:
                return json.dumps(arguments)[: dice.randint(0, 12)]
            case 4:
                return json.dumps(arguments) * 2
            case 5:
                return self._echo(request) or json.dumps(arguments)
            case _:
                pass
        return json.dumps(arguments)

    def _echo(self, request: ModelRequest) -> str:
        last = request.transcript[-1] if len(request.transcript) else None
        return last.results[0].content if isinstance(last, ToolMessage) else ""
