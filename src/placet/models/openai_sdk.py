"""The OpenAI SDK as a transport, for OpenAI itself and for every server that speaks like it."""

import os
from collections.abc import Mapping
from typing import Any

from openai import APIStatusError, AsyncOpenAI, AsyncStream, DefaultAsyncHttpxClient, Omit, OpenAIError

from placet.errors import ConfigurationError
from placet.models.connection import NO_KEY, Connection, Sdk, check_key
from placet.models.retry_after import hooked_client


def connect_openai(
    path: str,
    name: str,
    *,
    base_url: str | None,
    api_key: str | None,
    max_retries: int,
    headers: Mapping[str, str] | None,
) -> Connection:
    """Return a connection to OpenAI or to a server that speaks like it.

    Args:
        path: Where requests go, below the base URL.
        name: What messages call the model.
        base_url: Another server, or None for what `OPENAI_BASE_URL` says, else OpenAI's own.
        api_key: None for what `OPENAI_API_KEY` says, but for no key where `base_url` names another server.
        max_retries: How often a request is sent again at most; 0 for never.
        headers: What every request carries besides.

    Raises:
        ConfigurationError: There is no API key, or one that cannot be sent.
    """
    key = api_key if api_key is not None or base_url is not None else os.environ.get("OPENAI_API_KEY")
    if not key and base_url is None:
        raise ConfigurationError(f"{name!r} needs an API key: set OPENAI_API_KEY or pass api_key=…")
    key = check_key(key or NO_KEY)
    extra: dict[str, Any] = dict(headers or {})
    if base_url is not None:  # what the environment says of an OpenAI account is no other server's business
        extra = {"OpenAI-Organization": Omit(), "OpenAI-Project": Omit(), **extra}

    def connect() -> Any:
        return AsyncOpenAI(
            api_key=key,
            base_url=base_url or os.environ.get("OPENAI_BASE_URL") or "https://api.openai.com/v1",
            max_retries=max_retries,
            default_headers=extra,
            http_client=hooked_client(DefaultAsyncHttpxClient),
        )

    sdk = Sdk(
        connect=connect,
        stream=AsyncStream[object],
        root=OpenAIError,
        status_error=APIStatusError,
        options={"security": {"bearer_auth": True}},
    )
    return Connection(sdk, path, name, key if key != NO_KEY else "")
