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
from placet.redaction.named import REDACTED, hide_named, hide_told, may_name_secret
from placet.redaction.prefilter import prefilter

_PASSES: Final = 6
"""Hiding one thing can lay another open to be found; a text is settled long before this."""

_ISSUED_STARTS: Final = (
    r"[sr]k[-_]|gh[pousr]_|github_pat_|glpat-|xox[a-z]-|xapp-|A[KS]IA|AIza|eyJ|ya29\.|hf_|npm_|pypi-|whsec_|SG\.|hvs\."
    r"|dop_v1_|xai-|[0-9]:AA"
)
_LOGIN_STARTS: Final = r"(?i:bearer|basic)\s|(?:-u|--user)[\s=]"

SECRET_STARTS: Final = rf"{NAMES_TO_LOOK_FOR}|{_ISSUED_STARTS}|{_LOGIN_STARTS}|://|PRIVATE KEY|\\u00[2-7]|\\/"
"""What a text must hold for it to be worth looking for secrets."""
may_hold_secret: Final = prefilter(SECRET_STARTS)
"""Whether a text, or a JSON text with its escapes, may hold a secret."""
_may_hold_issued: Final = prefilter(_ISSUED_STARTS)
_may_hold_login: Final = prefilter(_LOGIN_STARTS)

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

_ELEMENT: Final = re.compile(r"(<(?:\w+:)?(\w[\w.\-]*)(?:\s[^<>]*)?>)([^<]+)")


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
    """Return a text after each finder has gone over it once, where it may find anything."""

    def judge(name: str) -> Secrecy:
        return _names_secret(name, declared)

    if "PRIVATE KEY" in text:
        text = _KEY_BLOCK.sub(REDACTED, text)
    if "://" in text and "@" in text:
        text = _ADDRESS.sub(_hide_logins, text)
    if "</" in text:
        text = _ELEMENT.sub(lambda found: _hide_element(found, judge), text)
    if declared or may_name_secret(text):
        text = hide_named(text, judge)
    text = hide_told(text)
    if _may_hold_login(text):
        text = _CURL_USER.sub(rf"\g<1>{REDACTED}", text)
        text = _BEARER.sub(rf"\g<1>{REDACTED}", text)
        text = _BASIC.sub(_hide_basic, text)
    return _ISSUED.sub(_hide_issued, text) if _may_hold_issued(text) else text


def _names_secret(name: str, declared: frozenset[str]) -> Secrecy:
    if declared:
        lowered = name.lower()
        if lowered in declared or lowered.rpartition(".")[2] in declared or lowered.rpartition(" ")[2] in declared:
            return Secrecy.SECRET
    return secrecy(name)


def _hide_element(found: re.Match[str], judge: Callable[[str], Secrecy]) -> str:
    """Hide what stands in an XML element that is named like a secret."""
    hidden = judge(found[2]) is not Secrecy.OPEN and not found[3].isspace()
    return found[1] + REDACTED if hidden else found[0]


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
