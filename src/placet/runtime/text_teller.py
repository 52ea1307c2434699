"""TextTeller: tells pieces of a model's answer as events, while they stream."""

import jiter

from placet.runtime.site import Emit
from placet.values.event import OutputDelta, TextDelta


class TextTeller:
    """Tells pieces of text, and with structured output the object as far as it has come.

    Args:
        run_id: Which run.
        emit: Who watches.
        structured: Whether the text is to become an object.
    """

    __slots__ = ("_emit", "_run_id", "_so_far", "_structured")

    def __init__(self, run_id: str, emit: Emit, *, structured: bool) -> None:
        self._run_id = run_id
        self._emit = emit
        self._structured = structured
        self._so_far = ""

    def __call__(self, text: str) -> None:
        """Tell one more piece."""
        self._emit(TextDelta(self._run_id, text))
        if not self._structured:
            return
        self._so_far += text
        start = self._so_far.find("{")
        if start < 0:
            return
        try:
            partial = jiter.from_json(self._so_far[start:].encode("utf-8", "replace"), partial_mode="trailing-strings")
        except ValueError:
            return  # not JSON so far, or not any more: the validation at the end has the last word
        self._emit(OutputDelta(self._run_id, partial))
