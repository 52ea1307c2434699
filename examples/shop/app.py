"""The shop's application: what `placet.toml` names, `shop.app:make_agent`.

The model is the embedded one unless another is asked for: `--model openai:…`, or the
environment variable `OPENAI_API_KEY`. Where it cannot be loaded, that is said, and the
understudy plays.
"""

import asyncio
import atexit
import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from placet.config import AppOptions
from placet.errors import ConfigurationError
from placet.models.open import open_model
from placet.ports import ModelClient
from placet.runtime.keys import Keys, read_or_make_secret
from placet.stores.url import open_store_from_url
from placet.wiring import Agent
from shop.analysis import analysis_tools
from shop.counter import ShopDirectory, open_shop
from shop.settings import HOME, read_settings
from shop.tools import TOOLS
from shop.understudy import understudy

AGENT_FILE: Final = Path(__file__).with_name("shop.agent.md")
EMBEDDED: Final = "local:needle-3"
HOSTED: Final = "openai:gpt-6-luna"
"""What `OPENAI_API_KEY` alone asks; `--model openai:…` names another."""

_FALLBACK: Final = {
    "en": "The embedded model cannot be loaded here ({why}); a script of a few rules plays in its place.",
    "pt-BR": "O modelo embutido não pode ser carregado aqui ({why}); um roteiro de poucas regras toma o seu lugar.",
    "ro": "Modelul inclus nu poate fi încărcat aici ({why}); un scenariu cu câteva reguli îi ține locul.",
}


def make_agent(options: AppOptions) -> Agent:
    """Return the shop's agent.

    Raises:
        ConfigurationError: There is no shop yet, or the model cannot be opened.
    """
    settings = read_settings()
    shop = open_shop(settings)
    atexit.register(shop.close)
    return Agent(
        AGENT_FILE,
        tools=[*TOOLS, *analysis_tools(settings.database)],
        model=choose_model(options, os.environ),
        store=options.store or demonstration_store(HOME / "placet.db"),
        deps=shop,
        directory=ShopDirectory(shop.database),
    )


def choose_model(options: AppOptions, environment: Mapping[str, str], embedded: str = EMBEDDED) -> ModelClient:
    """Return the model that was asked for, or the one that is at hand.

    Raises:
        ConfigurationError: The model that was asked for cannot be opened.
    """
    if options.model == "scripted:":
        return understudy()
    wanted = options.model or (HOSTED if environment.get("OPENAI_API_KEY") else None)
    if wanted is not None:
        return open_model(wanted, base_url=options.base_url)
    if options.base_url is not None:
        raise ConfigurationError("a base URL needs a model beside it: --model openai:NAME --base-url URL")
    try:
        return open_model(embedded)
    except (ConfigurationError, ImportError) as error:
        options.tell(_FALLBACK.get(options.language or "en", _FALLBACK["en"]).replace("{why}", str(error)))
        return understudy()


def demonstration_store(path: Path) -> str:
    """Return the URL of the store beside the shop, made and marked as a demonstration on first use.

    Only on such a store does `--as` count: anybody can type it. A store that is named
    elsewhere is left as it is.

    Raises:
        StoreError: It cannot be made.
    """
    url = f"sqlite:///{path}"
    path.parent.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(1) as elsewhere:  # an event loop may be running here already
        elsewhere.submit(asyncio.run, _mark(url, path)).result()
    return url


async def _mark(url: str, path: Path) -> None:
    secret = read_or_make_secret(path.with_name(path.name + ".key"))
    store = open_store_from_url(url, key=Keys.of(secret).audit)
    await store.open()
    try:
        if not await store.is_demo():
            await store.mark_demo()
    finally:
        await store.close()
