"""Text that came from outside, made safe to store, to send and to show; and cut to its cap."""

import re
from typing import Final

_UNSAFE: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
"""Control characters but tab and line ends, and halves of characters: databases, terminals
and encoders stumble over them."""

REPLACEMENT: Final = "\ufffd"


def make_safe(text: str) -> str:
    """Return the text with each control character and each half of a character replaced by U+FFFD."""
    if text.isascii() and text.isprintable():
        return text
    if not _UNSAFE.search(text):
        return text
    joined = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # two halves in a row are a whole
    return _UNSAFE.sub(REPLACEMENT, joined)


def cut(text: str, max_bytes: int, *, more: bool = False) -> tuple[str, int | None]:
    """Return safe text of at most so many bytes, and the size before it was cut, or None.

    The head and the tail stay, with a note between them of how much is missing. No
    character is cut in two.

    Args:
        text: What to cut.
        max_bytes: In UTF-8, the note included.
        more: Whether the text itself is only the beginning of something longer.
    """
    if len(text) * 4 <= max_bytes and not more:
        return make_safe(text), None
    size = len(text.encode("utf-8", "surrogatepass"))
    if size <= max_bytes and not more:
        safe = make_safe(text)
        if safe is text or len(safe.encode()) <= max_bytes:
            return safe, None
    note = f"\n[... cut: {'more than ' if more else ''}{size} bytes in all, the middle is left out ...]\n"
    room = max(0, min(max_bytes, size) - len(note))
    head = make_safe(text[: room + 1]).encode()[: room - room // 3].decode(errors="ignore")
    tail = make_safe(text[-room - 1 :]).encode()[-(room // 3) :].decode(errors="ignore") if room // 3 else ""
    return (head + note + tail).encode()[:max_bytes].decode(errors="ignore"), size


def words_of(value: object, max_bytes: int) -> tuple[str, int | None]:
    """Return what an object says of itself, as `cut` gives it. Never raises, whatever the object does when it is asked.

    Args:
        value: Anything, for instance an exception.
        max_bytes: As for `cut`.
    """
    try:
        said = str(value)
    except Exception:  # noqa: BLE001 - a stranger's object
        said = f"({type(value).__name__} that cannot be put into words)"
    return cut(said, max_bytes)
