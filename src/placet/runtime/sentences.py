"""What a person reads while a call runs and after it, in their own language."""

from collections.abc import Mapping
from typing import Any

import jiter

from placet.tools.output import Shaped
from placet.values.decision import Reason
from placet.values.run import StopReason
from placet.values.tool import ToolSpec
from placet.words.catalog import say
from placet.words.messages import LAST_WORDS, REFUSALS
from placet.words.template import choose, fill


def progress_sentence(spec: ToolSpec, arguments: str, language: str) -> str:
    """Return the sentence for a call that runs, filled with its redacted arguments.

    Args:
        spec: The tool.
        arguments: JSON text, redacted.
        language: Of the person.
    """
    if not spec.progress:
        return ""
    return fill(choose(spec.progress, language), jiter.from_json(arguments.encode()), language=language)


def answer_sentence(spec: ToolSpec, shaped: Shaped, language: str) -> str:
    """Return the answer for the person, from the tool's template; without one, what the tool said."""
    if not spec.answer:
        return shaped.content
    values: Mapping[str, Any] = shaped.json if isinstance(shaped.json, Mapping) else {"result": shaped.json}
    return fill(choose(spec.answer, language), values, language=language)


def refusal_sentence(reason: Reason, language: str) -> str:
    """Return what a person reads for a call that was refused; it tells no more than the model was told."""
    return say(REFUSALS[reason], language)


def last_words(reason: StopReason, language: str) -> str:
    """Return what a person reads when a run ends short of an answer."""
    return say(LAST_WORDS[reason], language)


def nothing_to_say(language: str) -> str:
    """Return what a person reads when a model that writes no prose has chosen no tool either."""
    return say("I found nothing that I can do for this. Could you say it in other words?", language)
