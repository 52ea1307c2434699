"""Values that a free text names: `password=hunter2`, `"token": "…"`, `the PIN is 1234`.

A value is hidden to its end, and where the end is in doubt, rather too much than a part: a
text in quotes to the closing quote, a list or an object to its bracket, anything else to the
next blank, a header or a phrase to the end of its line.
"""

import re
from collections.abc import Callable
from typing import Final

from placet.redaction.keys import LOOSE_NAMES, Secrecy
from placet.redaction.prefilter import prefilter

REDACTED: Final = "[redacted]"
"""What stands for what was taken out."""

may_name_secret: Final = prefilter(
    rf"(?i:{LOOSE_NAMES})[\w.\-]*(?: \w[\w\-]*)?(?:\]|%5D)?\\*[\"'`]?\]?\s{{0,16}}(?:[:=,]|->|→)"
    rf"|--?[\w\-]*(?i:{LOOSE_NAMES})"
)
"""Whether a text may hold the name of a secret with a value after it."""
_may_tell: Final = prefilter(
    r"(?i:password|passwd|passphrase|passcode|pin|token|secret|key|senha|parola)\s+(?i:is|was|é|era|este|e|=>)\s"
)

_NAMED: Final = re.compile(
    r"(?<![\w.\-])(?:"
    r"--?(?P<flag>[^\W\d][\w\-]*+)(?:=|\s{1,4})"
    r"|(?P<quote>b?\\*[\"'`])?(?P<name>\w[\w.\-]*+(?:\ \w[\w\-]*+)?)(?:\]|%5D)?"
    r"(?(quote)\\*[\"'`])\]?\s{0,16}(?:=>|:=|==?|::?|->|→"
    r"|,\s{0,4}\\*[\"'`]?(?:value|val|content)\\*[\"'`]?\s{0,4}[:=]"  # name='token', value='…'
    r"|(?(quote)(?<=[\"'`]),(?=\s{0,4}b?\\*[\"'`])|(?!)))"  # ('token', '…')
    r"(?(quote)\s{0,16}|[^\S\r\n]{0,8})"
    r")",
    re.IGNORECASE,
)
"""A name and what ties it to a value: `=`, `:` and the like, or for a flag (`--password x`) a blank."""
_TOLD: Final = re.compile(
    r"\b(?:password|passwd|passphrase|passcode|pin|token|secret|(?:api|access|private|secret)\ key|senha|parola)\s+"
    r"(?:is|was|é|era|este|e|=>)\s+",
    re.IGNORECASE,
)
_HARMLESS: Final = re.compile(
    r"(?:an?|the|not|no|too|now|already|only|invalid|incorrect|wrong|expired|required|missing|empty|blank|unknown|revoked|"
    r"set|unset|ok|valid|correct|short|long|weak|used|needed|null|none|optional|disabled|enabled|inválid[ao]|incorret[ao]|"
    r"obrigatóri[ao]|errad[ao]|expirad[ao]|não|greșit[ăa]?|invalid[ăa]|expirat[ăa]?|obligatori[eu])\b",
    re.IGNORECASE,
)
_NOTHING: Final = re.compile(r"(?:None|null|true|false|True|False)(?![^\s,;)}\]])")
_JSON_NUMBER: Final = re.compile(r"-?\d[\d.eE+-]*(?=[\s,}\]]|\Z)")
_BLOCK: Final = re.compile(r"[|>][+\-\d]{0,2}[^\S\n]*(?:\n[^\S\n]+[^\n]*)+")
"""A text of several lines, as YAML writes it."""
_OPENING_QUOTE: Final = re.compile(r"[bBrRuUfF]{0,2}(\\*)([\"'`])")
_BLANK_FREE: Final = re.compile(r"(?:(?:bearer|basic|token|digest|negotiate)[ \t]+)?\S+", re.IGNORECASE)
_LINE: Final = re.compile(r"[^\r\n]*")
_REST_OF_WORD: Final = re.compile(r"[^\s,;)}\]&>]*")
_WHOLE_LINE: Final = re.compile(r"authori[sz]ation|cookie|phrase|mnemonic", re.IGNORECASE)
_BRACKETS: Final = re.compile(r"[\[\]{}()]|\"(?:[^\"\\]|\\.)*(?:\"|\Z)", re.DOTALL)
_CLOSES: Final = {"]": "[", "}": "{", ")": "("}


def hide_named(text: str, judge: Callable[[str], Secrecy]) -> str:
    """Return a text without the values of what is named in it: `name=value`, `"name": "value"`.

    Args:
        text: Anything.
        judge: What a name says about its value.
    """
    kept: list[str] = []
    done = search = 0
    while found := _NAMED.search(text, search):
        name, start = found["flag"] or found["name"], found.end()
        judged = judge(name)
        if judged is Secrecy.OPEN or (judged is Secrecy.SECRET_TEXT and not _OPENING_QUOTE.match(text, start)):
            second = name.find(" ")  # the second word may itself begin a name: "invalid api key: x"
            search = found.start("name") + second + 1 if second > 0 else start
            continue
        end = _end_of_value(text, start, quoted=bool(found["quote"]), line=bool(_WHOLE_LINE.search(name)))
        kept += [text[done:start], _hidden(text, start, end)]
        done = search = end
    kept.append(text[done:])
    return "".join(kept)


def hide_told(text: str) -> str:
    """Return a text without what a sentence tells: `the password is hunter2`."""
    if not _may_tell(text):
        return text
    kept: list[str] = []
    done = 0
    for found in _TOLD.finditer(text):
        start = found.end()
        if start < done or _HARMLESS.match(text, start):
            continue
        end = _end_of_value(text, start, quoted=False, line=False)
        kept += [text[done:start], _hidden(text, start, end)]
        done = end
    kept.append(text[done:])
    return "".join(kept)


def _hidden(text: str, start: int, end: int) -> str:
    """Return what stands for a value; it is in quotes where the value was, and they are closed."""
    if start == end:
        return ""
    opening = _OPENING_QUOTE.match(text, start)
    return f"{opening[0]}{REDACTED}{opening[1]}{opening[2]}" if opening else REDACTED


def _end_of_value(text: str, start: int, *, quoted: bool, line: bool) -> int:
    """Return where the value ends that starts at a place; too late rather than too early."""
    if _NOTHING.match(text, start):
        return start
    opening = _OPENING_QUOTE.match(text, start)
    if opening:
        return _end_of_quoted(text, opening)
    block = _BLOCK.match(text, start)
    if block:
        return block.end()
    if text[start : start + 1] in ("[", "{", "("):
        return _end_of_bracketed(text, start)
    if quoted:
        number = _JSON_NUMBER.match(text, start)
        if number:
            return number.end()
    found = (_LINE if line else _BLANK_FREE).match(text, start)
    return found.end() if found else start


def _end_of_quoted(text: str, opening: re.Match[str]) -> int:
    """Return the end of a text in quotes, both included; what is never closed ends with the text."""
    slashes, quote = len(opening[1]), opening[2]
    place = opening.end()
    while True:
        place = text.find(quote, place)
        if place < 0:
            return len(text)
        before = place
        while before > opening.end() and text[before - 1] == "\\":
            before -= 1
        escapes = place - before
        place += 1
        if escapes % 2 == 0 if slashes == 0 else escapes <= slashes:
            rest = _REST_OF_WORD.match(text, place)
            return rest.end() if rest else place


def _end_of_bracketed(text: str, start: int) -> int:
    """Return the end of a list or an object, its brackets included; one never closed ends with the text."""
    stack: list[str] = []
    for found in _BRACKETS.finditer(text, start):
        sign = found[0]
        if sign in "[{(":
            stack.append(sign)
        elif sign in _CLOSES:
            if stack and stack[-1] == _CLOSES[sign]:
                stack.pop()
            if not stack:
                rest = _REST_OF_WORD.match(text, found.end())
                return rest.end() if rest else found.end()
    return len(text)
