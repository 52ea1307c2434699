"""How often the embedded model is right on the shop's own questions: `python -m bench.local_model`.

The questions stand in `examples/shop/questions.jsonl`, one JSON object a line:

| member | what it holds |
|---|---|
| `id`, `language` | `"pt-07"`, `"pt-BR"` |
| `split` | `tune`: how the tools are shown was chosen by these; `test`: by these it was not |
| `question` | what the person says |
| `calls` | what is to be called, in this order; none for small talk |
| `before` | of a question that is understood only after others: those, with their calls |

In `arguments` a list holds all values that are right, null among them means that the argument may be
left out, and `"*"` is any text. An argument that says its own default counts as left out.
Texts are compared without regard to case and outer blanks.
"""

import argparse
import asyncio
import json
import random
import statistics
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from placet.models.local import LocalModel
from placet.models.open import open_model
from placet.ports import ModelClient, ModelRequest
from placet.values.call import ToolCall, ToolResult
from placet.values.message import AssistantMessage, Message, ToolMessage, Transcript, UserMessage
from placet.values.tool import ToolSpec, VisibleTools

EXAMPLES = Path(__file__).parent.parent / "examples"
QUESTIONS = EXAMPLES / "shop" / "questions.jsonl"
PATIENCE = timedelta(seconds=300)


@dataclass
class Score:
    """What came of the questions of one kind in one language."""

    asked: int = 0
    right_tool: int = 0
    right: int = 0
    wrong: int = 0
    seconds: list[float] = field(default_factory=list)

    def __add__(self, other: "Score") -> "Score":
        return Score(
            self.asked + other.asked,
            self.right_tool + other.right_tool,
            self.right + other.right,
            self.wrong + other.wrong,
            self.seconds + other.seconds,
        )


def read_questions(path: Path = QUESTIONS) -> list[dict[str, Any]]:
    """Return the questions."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def shop_tools() -> tuple[ToolSpec, ...]:
    """Return the tools of the shop, all of them."""
    sys.path.insert(0, str(EXAMPLES))
    from shop.tools import TOOLS  # noqa: PLC0415 - an example, on the path only now

    return tuple(tool.spec for tool in TOOLS)


# ── what is right ─────────────────────────────────────────────────────────────────────


def same_tools(calls: Sequence[ToolCall], wanted: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the calls name the tools that are wanted, in their order."""
    return [call.name for call in calls] == [one["name"] for one in wanted]


def same_calls(
    calls: Sequence[ToolCall], wanted: Sequence[Mapping[str, Any]], defaults: Mapping[str, Mapping[str, Any]]
) -> bool:
    """Whether the calls are the ones that are wanted, arguments included."""
    return same_tools(calls, wanted) and all(
        same_arguments(json.loads(call.arguments), one["arguments"], defaults.get(call.name, {}))
        for call, one in zip(calls, wanted, strict=True)
    )


def same_arguments(said: Mapping[str, Any], wanted: Mapping[str, Any], defaults: Mapping[str, Any]) -> bool:
    """Whether arguments are the ones that are wanted."""
    for name in said.keys() | wanted.keys():
        value = _plain(said.get(name))
        right = wanted.get(name, [None, defaults.get(name)])
        choices = [_plain(one) for one in (right if isinstance(right, list) else [right])]
        if "*" in choices and isinstance(value, str) and value:
            continue
        if not any(value == one and isinstance(value, bool) == isinstance(one, bool) for one in choices):
            return False
    return True


def _plain(value: object) -> object:
    return value.strip().casefold() if isinstance(value, str) else value


# ── asking ────────────────────────────────────────────────────────────────────────────


def conversation(question: Mapping[str, Any]) -> Transcript:
    """Return a question after what was said before it."""
    messages: list[Message] = []
    for place, earlier in enumerate(question.get("before", ())):
        calls = tuple(
            ToolCall(f"call_{place}_{index}", call["name"], json.dumps(call["arguments"]))
            for index, call in enumerate(earlier["calls"])
        )
        results = tuple(ToolResult(call.id, "found") for call in calls)
        messages += [UserMessage(earlier["question"]), AssistantMessage(calls=calls), ToolMessage(results)]
        messages.append(AssistantMessage("Here it is."))
    return Transcript([*messages, UserMessage(question["question"])])


def visible_tools(specs: Sequence[ToolSpec], question: Mapping[str, Any], many: int) -> VisibleTools:
    """Return the tools that are shown: all, or the right ones and some others, by chance but always the same."""
    right = {call["name"] for call in question["calls"]}
    others = [spec.name for spec in specs if spec.name not in right]
    chance = random.Random(question["id"])  # noqa: S311 - no secret
    shown = right | set(chance.sample(others, max(0, min(len(others), many - len(right)))))
    return VisibleTools(tuple(spec for spec in specs if spec.name in shown))


async def ask_all(
    model: ModelClient, questions: Iterable[Mapping[str, Any]], specs: tuple[ToolSpec, ...], many: int, *, loud: bool
) -> dict[tuple[str, str, str], Score]:
    """Ask all questions; return scores by split, language and kind."""
    scores: dict[tuple[str, str, str], Score] = {}
    everything = VisibleTools(specs)
    defaults = {spec.name: _defaults(spec) for spec in specs}
    for question in questions:
        tools = everything if many >= len(specs) else visible_tools(specs, question, many)
        request = ModelRequest(
            system="", transcript=conversation(question), tools=tools, language=question["language"], timeout=PATIENCE
        )
        start = time.perf_counter()
        calls = (await model.answer(request)).calls
        seconds = time.perf_counter() - start
        wanted = question["calls"]
        kind = "follow-ups" if "before" in question else "questions" if wanted else "small talk"
        right = same_calls(calls, wanted, defaults)
        score = scores.setdefault((question["split"], question["language"], kind), Score())
        score.asked += 1
        score.right_tool += same_tools(calls, wanted)
        score.right += right
        score.wrong += bool(calls) and not right
        score.seconds.append(seconds)
        if loud and not right:
            said = ", ".join(f"{call.name}({call.arguments})" for call in calls) or "nothing"
            print(f"{question['id']} {question['question']}\n      {said}")
    return scores


def _defaults(spec: ToolSpec) -> dict[str, Any]:
    properties = spec.input_schema.get("properties")
    assert isinstance(properties, Mapping)
    return {name: one.get("default") for name, one in properties.items() if isinstance(one, Mapping)}


# ── telling ───────────────────────────────────────────────────────────────────────────


def report(scores: Mapping[tuple[str, str, str], Score]) -> None:
    """Print a table."""
    print(f"{'':22}{'asked':>7}{'right tool':>12}{'and arguments':>15}{'wrong call':>12}{'ms (median)':>13}")
    for split in ("tune", "test"):
        for kind in ("questions", "follow-ups", "small talk"):
            total = Score()
            for (its_split, language, its_kind), score in scores.items():
                if (its_split, its_kind) == (split, kind):
                    _line(f"{split} {kind} {language}", score, talk=kind == "small talk")
                    total += score
            if total.asked:
                _line(f"{split} {kind}", total, talk=kind == "small talk")


def _line(title: str, score: Score, *, talk: bool) -> None:
    tool = f"{score.right_tool}" if not talk else f"{score.right} none"
    print(
        f"{title:22}{score.asked:>7}{tool:>12}{score.right if not talk else '':>15}{score.wrong:>12}"
        f"{1000 * statistics.median(score.seconds):>13.0f}"
    )


async def main() -> None:
    """Ask, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--model", default="local:needle-3")
    parser.add_argument("--split", choices=["tune", "test"], help="only these questions")
    parser.add_argument("--tools", type=int, default=100, help="how many tools are shown with each question")
    parser.add_argument("--wrong", action="store_true", help="print what was not right")
    options = parser.parse_args()
    model = open_model(options.model)
    questions = [one for one in read_questions() if options.split in (None, one["split"])]
    scores = await ask_all(model, questions, shop_tools(), options.tools, loud=options.wrong)
    report(scores)
    if isinstance(model, LocalModel):
        print("isolation:", ", ".join(f"{measure}: {state}" for measure, state in model.isolation.items()))
        await model.close()


if __name__ == "__main__":
    asyncio.run(main())
