"""Own state: what a provider wants back, and what is done when it does not take it any more.

Encrypted reasoning and signed thinking are bound to a model, an account, a key that is changed.
A provider that cannot read its own state refuses the whole request, and every further one of the
conversation (openai/codex#17541). So the question is asked once more without it: the words, the
calls and the results are all there, only what the model thought is lost.
"""

import re
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from placet.errors import ModelRequestError
from placet.ports import OnText

R = TypeVar("R")

NOBODY: Final = "nobody"
"""Name of a client that has said nothing itself: to it, nothing goes back with its state."""

_BLAMES: Final = re.compile(
    r"encrypted.content|thinking.{0,200}(?:signature|modified)|signature.{0,200}thinking", re.IGNORECASE | re.DOTALL
)


class _Listener:
    def __init__(self, on_text: OnText) -> None:
        self._on_text = on_text
        self.heard = False

    def __call__(self, text: str) -> None:
        self.heard = True
        self._on_text(text)


async def ask_with_state(
    write: Callable[[bool], bytes], hear: Callable[[bytes, OnText | None], Awaitable[R]], on_text: OnText | None
) -> R:
    """Return what is heard to a question; asked once more without own state if that is refused.

    Args:
        write: Writes the request, with what the provider wants back or without it.
        hear: Sends a request and reads the answer.
        on_text: Told each piece of text; once it was told one, nothing is asked again.

    Raises:
        ModelError: As `hear` raises it.
    """
    listener = _Listener(on_text) if on_text is not None else None
    body = write(True)
    try:
        return await hear(body, listener)
    except ModelRequestError as error:
        if _BLAMES.search(str(error)) is None or (listener is not None and listener.heard):
            raise
        bare = write(False)
        if bare == body:
            raise
        return await hear(bare, listener)
