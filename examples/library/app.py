"""The library's application: what `placet.toml` names."""

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from library.people import Desk
from library.shelf import Shelf
from library.tools import TOOLS
from library.understudy import understudy
from placet import Agent
from placet.config import AppOptions
from placet.models.open import open_model
from placet.runtime.keys import Keys, read_or_make_secret
from placet.stores.url import open_store_from_url

AGENT_FILE: Final = Path(__file__).with_name("library.agent.md")
HOME_VARIABLE: Final = "LIBRARY_HOME"
"""Where books and runs are kept, if not beside this file in `.placet`."""


def make_agent(options: AppOptions) -> Agent:
    """Return the library's agent. Without `--model`, the understudy plays."""
    home = Path(os.environ.get(HOME_VARIABLE) or Path(__file__).with_name(".placet"))
    asked = options.model not in (None, "scripted:")
    return Agent(
        AGENT_FILE,
        tools=TOOLS,
        model=open_model(str(options.model), base_url=options.base_url) if asked else understudy(),
        store=options.store or demonstration_store(home / "placet.db"),
        deps=Shelf(home / "library.db"),
        directory=Desk(),
    )


def demonstration_store(path: Path) -> str:
    """Return the URL of a store that is marked as a demonstration: only there does `--as` count."""
    path.parent.mkdir(parents=True, exist_ok=True)
    url = f"sqlite:///{path}"
    with ThreadPoolExecutor(1) as elsewhere:  # an event loop may be running here already
        elsewhere.submit(asyncio.run, _mark(url, path)).result()
    return url


async def _mark(url: str, path: Path) -> None:
    secret = read_or_make_secret(path.with_name(path.name + ".key"))
    store = open_store_from_url(url, key=Keys.of(secret).audit)
    await store.open()
    try:
        await store.mark_demo()
    finally:
        await store.close()
