"""open_model: from the id of a model to the client that asks it.

| id | asks |
|---|---|
| `openai:NAME` | OpenAI, Chat Completions |
| `openai-responses:NAME` | OpenAI, Responses, nothing stored there |
| `anthropic:NAME` | Anthropic, Messages |
| `openai-compatible:NAME@URL` | any server that speaks Chat Completions |
| `local:needle-3` | the embedded demonstration model |

There is no default model: names are retired too fast to be written into a library.
"""

import importlib
from typing import Any, Final

from placet.errors import ConfigurationError
from placet.ports import ModelClient

_CLIENTS: Final = {
    "openai": ("placet.models.openai_chat", "OpenAIChat", "openai"),
    "openai-compatible": ("placet.models.openai_chat", "OpenAIChat", "openai"),
    "openai-responses": ("placet.models.openai_responses", "OpenAIResponses", "openai"),
    "anthropic": ("placet.models.anthropic_messages", "AnthropicMessages", "anthropic"),
}
"""For each kind: module, class, and the extra that brings its SDK. Imported only when asked for:
the SDKs take seconds to import."""


def open_model(name: str, *, base_url: str | None = None, api_key: str | None = None) -> ModelClient:
    """Return the client of a model.

    Args:
        name: Its id.
        base_url: Where its server is, if not where the vendor's is.
        api_key: Its key. Left out, the vendor's SDK reads its own environment variable.

    Raises:
        ConfigurationError: The id is none, or the extra that it needs is not installed.
    """
    kind, _, model = name.partition(":")
    if kind == "local":
        return _local(model)
    if kind not in _CLIENTS or not model:
        known = ", ".join(f"'{kind}:…'" for kind in (*_CLIENTS, "local"))
        raise ConfigurationError(f"not the id of a model: {name!r}; write one of {known}")
    if kind == "openai-compatible":
        model, at, url = model.rpartition("@")
        if not at or base_url:
            model, url = (url, base_url or "") if not at else (model, base_url or url)
        if not model or not url:
            raise ConfigurationError(f"{name!r} names no server: write 'openai-compatible:NAME@http://…/v1'")
        base_url = url
    return _load(kind)(model, base_url=base_url, api_key=api_key)


def _load(kind: str) -> Any:
    module, client, extra = _CLIENTS[kind]
    try:
        return getattr(importlib.import_module(module), client)
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"models of the kind {kind!r} need the package {error.name!r}: pip install 'placet[{extra}]'"
        ) from error


def _local(model: str) -> ModelClient:
    if model not in ("", "needle-3"):
        raise ConfigurationError(f"there is no embedded model {model!r}; write 'local:needle-3'")
    client: ModelClient = importlib.import_module("placet.models.local").LocalModel()
    return client
