"""Secrets in free text: what an exception, a log line or a tool's own words may give away.

`db password=hunter2`, `Authorization: Bearer …`, `postgres://app:hunter2@db`, key blocks, and
the shapes in which providers issue keys. Each finder reads a text from left to right, once, so
that no text can make it slow; what is hidden is hidden to its end, rather too much than a part.
"""

import base64
import binascii
import re
from collections.abc import Callable
from typing import Final

from placet.redaction.keys import NAMES_TO_LOOK_FOR, Secrecy, secrecy
from placet.redaction.prefilter import prefilter

REDACTED: Final = "[redacted]"

_PASSES: Final = 6
"""Hiding one thing can lay another open to be found; a text is settled long before this."""

_MAY_HOLD_SECRET: Final = (
    NAMES_TO_LOOK_FOR
    + r"|://|PRIVATE KEY|(?i:basic|-u|--user)\s|[sr]k[-_]|gh[pousr]_|github_pat_|glpat-|xox[a-z]-|xapp-"
    r"|A[KS]IA|AIza|eyJ|ya29\.|hf_|npm_|pypi-|whsec_|SG\.|hvs\.|dop_v1_|xai-|[0-9]:AA|\\u00[2-7]|\\/"
)
may_hold_secret: Final = prefilter(_MAY_HOLD_SECRET)
"""Whether a text, or a JSON text with its escapes, may hold a secret."""

_KEY_BLOCK: Final = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?:.*?-----END [A-Z0-9 ]{0,40}-----|.*)", re.DOTALL
)
_ADDRESS: Final = re.compile(r"://[^\s\"'<>`]*")
_AUTHORITY: Final = re.compile(r"[^/?#]*")
_BEARER: Final = re.compile(r"\b(bearer\s+)([\w.~+/=-]{6,})", re.IGNORECASE)
_BASIC: Final = re.compile(r"\b(basic\s+)([A-Za-z0-9+/_-]{6,}={0,2})", re.IGNORECASE)
_CURL_USER: Final = re.compile(r"((?<!\S)(?:-u|--user)[\s=]\s*)[^\s:]+:\S*")
_ISSUED: Final = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"(?:sk|rk)[-_][\w-]{6,}"  # OpenAI, Anthropic, Stripe
    r"|gh[pousr]_\w{16,}|github_pat_\w{16,}|glpat-[\w-]{12,}"  # GitHub, GitLab
    r"|xox[a-z]-[\w-]{8,}|xapp-[\w-]{8,}"  # Slack
    r"|A[KS]IA[A-Z0-9]{12,}"  # AWS
    r"|AIza[\w-]{20,}|ya29\.[\w.-]{10,}"  # Google
    r"|eyJ[\w-]{4,}+(?:\.[\w.-]*)?"  # JSON Web Tokens, signed or encrypted
    r"|hf_\w{16,}|npm_\w{16,}|pypi-[\w-]{16,}|whsec_[\w+/=]{8,}|SG\.[\w.-]{16,}"
    r"|hvs\.[\w-]{16,}|dop_v1_\w{16,}|xai-\w{16,}|\d{6,12}:AA[\w-]{20,}"
    r")"
)
_NEEDS_A_MARK: Final = re.compile(r"[0-9A-Z]")

_NAMED: Final = re.compile(
    r"(?<![\w.\-])(?:"
    r"--?(?P<flag>[^\W\d][\w\-]*+)(?:=|\s{1,4})"
    r"|(?P<quote>\\*[\"'`])?(?P<name>\w[\w.\-]*+(?:\ \w[\w\-]*+)?)(?:\]|%5D)?"
    r"(?(quote)\\*[\"'`])\]?\s{0,4}(?:=>|:=|==?|::?)[ \t]{0,8}"
    r")",
    re.IGNORECASE,
)
"""A name and what ties it to a value: `=`, `:` and the like, or for a flag (`--password x`) a blank."""
_ELEMENT: Final = re.compile(r"(<(?:\w+:)?(\w[\w.\-]*)(?:\s[^<>]*)?>)([^<]+)")
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
_OPENING_QUOTE: Final = re.compile(r"(\\*)([\"'`])")
_BLANK_FREE: Final = re.compile(r"(?:(?:bearer|basic|token|digest|negotiate)[ \t]+)?\S+", re.IGNORECASE)
_LINE: Final = re.compile(r"[^\r\n]*")
_REST_OF_WORD: Final = re.compile(r"[^\s,;)}\]&>\"'`\\]*")
_WHOLE_LINE: Final = re.compile(r"authori[sz]ation|cookie|phrase|mnemonic", re.IGNORECASE)
_BRACKETS: Final = re.compile(r"[\[\]{}()]|\"(?:[^\"\\]|\\.)*(?:\"|\Z)", re.DOTALL)
_CLOSES: Final = {"]": "[", "}": "{", ")": "("}


def hide_secrets(text: str, declared: frozenset[str] = frozenset()) -> str:
    """Return a text without the secrets in it, `[redacted]` in their places.

    Args:
        text: Anything.
        declared: Further names, in lower case, whose values are secrets.
    """
    for _ in range(_PASSES):
        hidden = _hide_once(text, declared)
        if hidden == text:
            break
        text = hidden
    return text


def _hide_once(text: str, declared: frozenset[str]) -> str:
    def judge(name: str) -> Secrecy:
        return _names_secret(name, declared)

    text = _KEY_BLOCK.sub(REDACTED, text)
    text = _ADDRESS.sub(_hide_logins, text)
    text = _ELEMENT.sub(lambda found: _hide_element(found, judge), text)
    text = hide_named(text, judge)
    text = _hide_told(text)
    text = _CURL_USER.sub(rf"\g<1>{REDACTED}", text)
    text = _BEARER.sub(rf"\g<1>{REDACTED}", text)
    text = _BASIC.sub(_hide_basic, text)
    return _ISSUED.sub(_hide_issued, text)


def _names_secret(name: str, declared: frozenset[str]) -> Secrecy:
    if declared:
        lowered = name.lower()
        if lowered in declared or lowered.rpartition(".")[2] in declared or lowered.rpartition(" ")[2] in declared:
            return Secrecy.SECRET
    return secrecy(name)


def _hide_logins(found: re.Match[str]) -> str:
    """Return what follows a scheme (`://app:hunter2@db/x`) without user and password.

    Addresses may be strung together, and a password may hold a slash.
    """
    text = found[0]
    last = text.rfind("@")
    if last < 0:
        return text
    kept: list[str] = []
    place = 0
    while 0 <= place <= last:
        start = place + 3
        authority = _AUTHORITY.match(text, start)
        end = authority.end() if authority else start
        at = text.rfind("@", start, end)
        if at < 0 and ":" in text[start:end] and not text[start:end].rpartition(":")[2].isdecimal():
            at = last
        after = max(at, start)
        following = text.find("://", after)
        kept += [text[place:start], REDACTED if at >= 0 else ""]
        place = following if following >= 0 else len(text)
        kept.append(text[after:place])
    return "".join(kept) + text[place:]


def _hide_basic(found: re.Match[str]) -> str:
    """Hide what follows `Basic` if it reads `user:password`, as RFC 7617 has it."""
    coded = found[2].replace("-", "+").replace("_", "/").rstrip("=")
    try:
        login = base64.b64decode(coded + "=" * (-len(coded) % 4), validate=True)
    except (binascii.Error, ValueError):
        return found[0]
    return found[1] + REDACTED if b":" in login else found[0]


def _hide_issued(found: re.Match[str]) -> str:
    """Hide a provider's key, but no word that only begins like one."""
    key = found[0]
    if key.startswith(("sk-", "rk-")):
        return REDACTED if _NEEDS_A_MARK.search(key, 3) else key
    if key.startswith("eyJ"):
        return REDACTED if "." in key else key
    return REDACTED


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
        start, end = _inside_quotes(text, start, end)
        kept += [text[done:start], REDACTED if end > start else ""]
        done = search = max(end, found.end())
        kept.append(text[end:done])
    kept.append(text[done:])
    return "".join(kept)


def _hide_told(text: str) -> str:
    """Return a text without what a sentence tells: `the password is hunter2`."""
    kept: list[str] = []
    done = 0
    for found in _TOLD.finditer(text):
        if found.end() < done or _HARMLESS.match(text, found.end()):
            continue
        start, end = _inside_quotes(text, found.end(), _end_of_value(text, found.end(), quoted=False, line=False))
        kept += [text[done:start], REDACTED if end > start else ""]
        done = end
    kept.append(text[done:])
    return "".join(kept)


def _hide_element(found: re.Match[str], judge: Callable[[str], Secrecy]) -> str:
    """Hide what stands in an XML element that is named like a secret."""
    hidden = judge(found[2]) is not Secrecy.OPEN and not found[3].isspace()
    return found[1] + REDACTED if hidden else found[0]


def _end_of_value(text: str, start: int, *, quoted: bool, line: bool) -> int:
    """Return where the value ends that starts at a place; too late rather than too early."""
    if _NOTHING.match(text, start):
        return start
    opening = _OPENING_QUOTE.match(text, start)
    if opening:
        return _end_of_quoted(text, opening)
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


def _inside_quotes(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the place between a value's quotes, where it has them, so that they stay."""
    opening = _OPENING_QUOTE.match(text, start)
    if not opening or opening.end() > end:
        return start, end
    closing = opening[0]
    if end - len(closing) >= opening.end() and text.endswith(closing, start, end):
        return opening.end(), end - len(closing)
    return opening.end(), end
