"""open_model: from the id of a model to the client that asks it.

| id | asks |
|---|---|
| `openai:NAME` | OpenAI, Chat Completions |
| `openai-responses:NAME` | OpenAI, Responses, nothing stored there |
| `anthropic:NAME` | Anthropic, Messages |
| `openai-compatible:NAME@URL` | any server that speaks Chat Completions |
| `local:needle-3` | the embedded demonstration model |
| `text-plain:ID` | a model without function calling, by the text protocol; `text-fenced:`, `text-schema:` |
| `replay:PATH` | a recording, see `placet.models.replay` |
| `scripted:` | nobody: a script without steps, where no model is needed |

There is no default model: names are retired too fast to be written into a library.
"""

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Final

from placet.agent.text_protocol import TextForm
from placet.errors import ConfigurationError
from placet.models.replay import ReplayModel
from placet.models.scripted import ScriptedModel
from placet.models.text_protocol import TextProtocolModel
from placet.ports import ModelClient

_CLIENTS: Final = {
    "openai": ("placet.models.openai_chat", "OpenAIChat", "openai"),
    "openai-compatible": ("placet.models.openai_chat", "OpenAIChat", "openai"),
    "openai-responses": ("placet.models.openai_responses", "OpenAIResponses", "openai"),
    "anthropic": ("placet.models.anthropic_messages", "AnthropicMessages", "anthropic"),
}
"""For each kind: module, class, and the extra that brings its SDK. Imported only when asked for:
the SDKs take seconds to import."""

_TEXT_FORMS: Final = {f"text-{form.value}": form for form in TextForm}
"""Calls as text are off unless the id says so: see `placet.models.text_protocol`."""


def open_model(name: str, *, base_url: str | None = None, api_key: str | None = None) -> ModelClient:
    """Return the client of a model.

    Args:
        name: Its id.
        base_url: Where its server is, if not where the vendor's is.
        api_key: Its key. Left out, it is the vendor's own environment variable, for the vendor's
            own server alone.

    Raises:
        ConfigurationError: The id is none, the extra that it needs is not installed, or there
            is no key.
    """
    kind, colon, model = name.partition(":")
    if kind in _TEXT_FORMS and model:
        return TextProtocolModel(open_model(model, base_url=base_url, api_key=api_key), _TEXT_FORMS[kind])
    if kind == "scripted" and colon and not model:
        return ScriptedModel()
    if kind == "replay" and model:
        return ReplayModel(Path(model))
    if kind == "local":
        return _open_local(model)
    if kind not in _CLIENTS or not model:
        known = ", ".join(f"'{kind}:…'" for kind in (*_CLIENTS, "local", "replay", *_TEXT_FORMS))
        raise ConfigurationError(f"not the id of a model: {name!r}; write one of {known}")
    if kind == "openai-compatible":
        model, at, url = model.partition("@http")  # a model's name may hold an @
        base_url = f"http{url}" if at else base_url
        if not model or not base_url:
            raise ConfigurationError(f"{name!r} names no server: write 'openai-compatible:NAME@http://…/v1'")
    return _find_client(kind)(model, base_url=base_url, api_key=api_key)


def _find_client(kind: str) -> Callable[..., ModelClient]:
    module, client, extra = _CLIENTS[kind]
    try:
        found: Callable[..., ModelClient] = getattr(importlib.import_module(module), client)
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"models of the kind {kind!r} need the package {error.name!r}: pip install 'placet[{extra}]'"
        ) from error
    return found


def _open_local(model: str) -> ModelClient:
    if model not in ("", "needle-3"):
        raise ConfigurationError(f"there is no embedded model {model!r}; write 'local:needle-3'")
    client: ModelClient = importlib.import_module("placet.models.local").LocalModel()
    return client
