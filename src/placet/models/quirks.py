"""Quirks: where servers that speak Chat Completions differ from each other."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias
from urllib.parse import urlsplit

from placet.errors import ConfigurationError
from placet.models.call_ids import MISTRAL_CALL_IDS, OPENAI_CALL_IDS, CallIdRule
from placet.values.json import Json

EmptyContent: TypeAlias = Literal["null", "empty", "absent"]
StructuredOutput: TypeAlias = Literal["json_schema", "json_object", "prompt"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Quirks:
    """How one server wants its requests.

    Attributes:
        empty_content: What stands for the words of an answer that has only calls: `null`, an
            empty text, or nothing at all.
        call_ids: What it takes as a call id.
        strict: Whether it understands `strict` in tool and output schemas.
        structured: How it is asked for structured output: by JSON Schema, by JSON mode with the
            schema in the prompt, or by the prompt alone. Whatever it is, the full validation runs.
        parallel: What `parallel_tool_calls` says; None says nothing.
        stream_usage: Whether it takes `stream_options`, so that a streamed answer is counted.
        system_role: What it calls the prompt's role.
        speaks_after_results: Whether after results only the model may speak, so that its word is
            put in where a run was stopped before it came.
        opens_with_user: Whether a conversation has to begin with the user, so that a trimmed
            one gets an opening.
        foreign_calls: What stands beside the first call of an answer that somebody else gave, where
            the server wants back what it would have put there itself.
    """

    empty_content: EmptyContent = "null"
    call_ids: CallIdRule = OPENAI_CALL_IDS
    strict: bool = False
    structured: StructuredOutput = "json_schema"
    parallel: bool | None = None
    stream_usage: bool = True
    system_role: Literal["system", "developer"] = "system"
    speaks_after_results: bool = False
    opens_with_user: bool = False
    foreign_calls: Mapping[str, Json] = field(default_factory=dict[str, Json])


QUIRKS: Final = {
    "openai": Quirks(strict=True),
    "compatible": Quirks(),
    "gemini": Quirks(
        opens_with_user=True,
        # Without a signature Gemini 3 refuses the request; this word stands for calls that it has not made.
        foreign_calls={"extra_content": {"google": {"thought_signature": "skip_thought_signature_validator"}}},
    ),
    "mistral": Quirks(empty_content="absent", call_ids=MISTRAL_CALL_IDS, stream_usage=False, speaks_after_results=True),
    "llama.cpp": Quirks(empty_content="empty", parallel=True),
    "ollama": Quirks(empty_content="empty"),
    "vllm": Quirks(),
    "deepseek": Quirks(empty_content="empty", structured="json_object"),
}
"""By the server's name."""

_HOSTS: Final = {
    "api.openai.com": "openai",
    "generativelanguage.googleapis.com": "gemini",
    "api.mistral.ai": "mistral",
    "api.deepseek.com": "deepseek",
    "ollama.com": "ollama",
}
_OLLAMA_PORT: Final = 11434


def find_quirks(quirks: Quirks | str | None, base_url: str | None) -> Quirks:
    """Return the quirks that are meant: as given, by the server's name, or by its address.

    Raises:
        ConfigurationError: There are none of this name.
    """
    if isinstance(quirks, Quirks):
        return quirks
    if quirks is None:
        if base_url is None:
            return QUIRKS["openai"]
        address = urlsplit(base_url)
        by_port = "ollama" if address.port == _OLLAMA_PORT else "compatible"
        return QUIRKS[_HOSTS.get(address.hostname or "", by_port)]
    if quirks not in QUIRKS:
        raise ConfigurationError(
            f"no quirks are known for {quirks!r}; take one of {sorted(QUIRKS)} or your own Quirks(…)"
        )
    return QUIRKS[quirks]
