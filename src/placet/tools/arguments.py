"""Arguments: what a model sent, read in one place, and written down as what will run.

The text of a call is parsed once, strictly: one object, no repeated key, no NaN, nothing
after it. What is not exactly that is refused and never repaired, because a repaired call
is one that nobody proposed. One level of quotes too many is no repair: around the whole, or
around an argument that is declared as a list or an object and cannot be text
(`placet.tools.quoted`). Then the arguments are validated against what the tool declares,
without coercion beyond what JSON needs, and written down again with their defaults: that
text is what an approver sees, what is digested, and what runs.
"""

# What a model sends may be anything; it is told apart here, on the way of every call, by its exact type:
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false

import json
import math
import re
from dataclasses import field
from typing import Any, Final, Protocol

import jiter

from placet.tools.quoted import unquote, write
from placet.values.construction import dataclass, made_quickly
from placet.values.decision import Deny, Reason
from placet.values.json import Json, JsonObject
from placet.values.limits import ARGUMENT_BYTES

MAX_DEPTH: Final = 64
"""How deep arguments may be nested; deeper is refused before anything is parsed."""

END_TOKENS: Final = ("<|eom_id|>", "<|eot_id|>", "<|im_end|>", "<|end|>", "<|endoftext|>", "</s>", "<|tool_call_end|>")
"""Tokens with which models end a turn, and which some servers leave behind a complete object."""

_NESTED: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]]')


@made_quickly
@dataclass(frozen=True, slots=True)
class Arguments:
    """The validated arguments of one call.

    Attributes:
        value: What the tool, its loader and its conditions get: every argument is an
            attribute of it.
        text: The same as JSON, defaults included: what will run. Equal arguments give
            equal texts, and reading the text gives the same arguments.
        note: What the reading had to take away (one level of quotes, an end token), or None.
    """

    value: Any = field(repr=False)
    text: str = field(repr=False)
    note: str | None = None

    @property
    def json(self) -> dict[str, Json]:
        """The arguments as a JSON object, made anew at each look."""
        parsed: dict[str, Json] = jiter.from_json(self.text.encode())
        return parsed


class ArgumentForm(Protocol):
    """What arguments must be like, made once when the tool is built."""

    @property
    def schema(self) -> JsonObject:
        """Its JSON Schema."""
        ...

    def check(self, text: bytes, parsed: dict[str, Any], note: str | None) -> Arguments | Deny:
        """Return the arguments, validated and written down, or why they are refused.

        Args:
            text: One JSON object, UTF-8, known to be well formed.
            parsed: The same, parsed.
            note: What was mended so far.
        """
        ...


@dataclass(frozen=True, slots=True)
class ArgumentReader:
    """Reads the arguments of one tool.

    Attributes:
        form: What they must be like.
    """

    form: ArgumentForm

    def read(self, text: str) -> Arguments | Deny:  # noqa: PLR0911 - one line a refusal
        """Return the arguments that a text says, or why it is refused. Never raises."""
        note = None
        try:
            raw = text.encode()
        except UnicodeEncodeError:
            return refuse("the arguments hold half of a character (a lone surrogate)", "send whole characters")
        if len(raw) > ARGUMENT_BYTES:
            return refuse(f"the arguments are {len(raw)} bytes long; at most {ARGUMENT_BYTES} are taken", "send less")
        if text.count("{") + text.count("[") > MAX_DEPTH and _depth(text) > MAX_DEPTH:
            return refuse(f"the arguments are nested deeper than {MAX_DEPTH} levels", "send flatter arguments")
        try:
            parsed = jiter.from_json(raw, catch_duplicate_keys=True, allow_inf_nan=False)
        except ValueError as error:
            mended = _mend(text)
            if mended is None:
                return _not_json(error)
            raw, parsed, note = mended
        if type(parsed) is not dict:
            unwrapped = _unwrap(parsed)
            if isinstance(unwrapped, Deny):
                return unwrapped
            raw, parsed, mended_note = unwrapped
            note = note or mended_note
        if not _is_finite(parsed):
            return refuse("a number is too large to be one", "send finite numbers")
        answer = self.form.check(raw, parsed, note)
        return self._read_quoted(parsed, note) or answer if isinstance(answer, Deny) else answer

    def _read_quoted(self, parsed: dict[str, Any], note: str | None) -> Arguments | None:
        """Return refused arguments, read once more without quotes around a list or an object, or None."""
        unquoted = unquote(parsed, self.form.schema)
        if unquoted is None or not _is_finite(unquoted[0]):
            return None
        raw = write(unquoted[0])
        if _depth(raw.decode()) > MAX_DEPTH:
            return None
        answer = self.form.check(raw, unquoted[0], f"{note}; {unquoted[1]}" if note else unquoted[1])
        return answer if isinstance(answer, Arguments) else None

    def read_json(self, arguments: JsonObject) -> Arguments | Deny:
        """Return stored or edited arguments, read by the same laws as a model's. Never raises."""
        try:
            text = json.dumps(arguments, ensure_ascii=False, allow_nan=False)
        except (TypeError, ValueError, RecursionError):
            return refuse("the arguments are not JSON", "send one JSON object")
        return self.read(text)


def refuse(message: str, hint: str | None = None) -> Deny:
    """Return the refusal of arguments."""
    return Deny(Reason.INVALID_ARGUMENTS, message, hint=hint)


def _not_json(error: ValueError) -> Deny:
    said = str(error)
    if said.startswith("Detected duplicate key"):
        return refuse("the arguments hold one key twice", "send each key once")
    where = re.search(r"at line \d+ column \d+$", said)
    return refuse(
        f"the arguments are not valid JSON{f' ({where[0]})' if where else ''}",
        "send exactly one JSON object and nothing else",
    )


def _mend(text: str) -> tuple[bytes, Any, str | None] | None:
    """Return what stands in a text that is blank, or in front of a known end token; else None."""
    stripped = text.strip()
    if not stripped:
        return b"{}", {}, None
    for token in END_TOKENS:
        if stripped.endswith(token):
            raw = stripped.removesuffix(token).encode()
            try:
                parsed = jiter.from_json(raw, catch_duplicate_keys=True, allow_inf_nan=False)
            except ValueError:
                return None
            return (raw, parsed, f"the end token {token} was removed") if isinstance(parsed, dict) else None
    return None


def _unwrap(parsed: Any) -> tuple[bytes, dict[str, Any], str | None] | Deny:
    """Return the object that stands in one further level of quotes, or the empty one for null."""
    if parsed is None:
        return b"{}", {}, None
    if isinstance(parsed, str):
        raw = parsed.encode()
        try:
            inner = jiter.from_json(raw, catch_duplicate_keys=True, allow_inf_nan=False) if raw.strip() else {}
        except ValueError as error:
            return _not_json(error)
        if isinstance(inner, dict):
            if _depth(parsed) > MAX_DEPTH:
                return refuse(f"the arguments are nested deeper than {MAX_DEPTH} levels", "send flatter arguments")
            return raw if raw.strip() else b"{}", inner, "one level of quotes was unwrapped"
    return refuse("the arguments must be one JSON object", 'send an object such as {} or {"name": value}')


def _depth(text: str) -> int:
    depth = deepest = 0
    for token in _NESTED.finditer(text):
        if token[0] in "{[":
            depth += 1
            deepest = max(deepest, depth)
        elif token[0] in "}]":
            depth -= 1
    return deepest


def _is_finite(value: dict[str, Any]) -> bool:
    """Whether no number overflowed: JSON may say 1e999, which parses to an infinity."""
    pending: list[Any] = [value]
    while pending:
        item = pending.pop()
        for inner in item.values() if type(item) is dict else item:
            kind = type(inner)
            if kind is float:
                if not math.isfinite(inner):
                    return False
            elif kind is dict or kind is list:
                pending.append(inner)
    return True
