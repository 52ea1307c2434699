"""The application of the skills: what `placet.toml` names.

The skills know nothing of the shop. Each says in its `shapes.py` what it needs of
`context.deps`, and `Office` has all of it.
"""

import asyncio
import atexit
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from placet import Agent
from placet.config import AppOptions
from placet.database.sqlite_runner import SqliteRunner
from placet.models.open import open_model
from placet.runtime.keys import Keys, read_or_make_secret
from placet.skills.index import discover
from placet.stores.url import open_store_from_url
from shop.counter import ShopDirectory, open_shop
from shop.customers import Customer, CustomerStatus, search_customers
from shop.database import ShopDatabase
from shop.errors import UnknownCityError, WeatherError
from shop.generate import generate
from shop.settings import ShopSettings
from shop.weather import WeatherClient
from skills.understudy import understudy

HERE: Final = Path(__file__).parent
HOME_VARIABLE: Final = "SKILLS_HOME"
"""Where the small shop and the runs are kept, if not beside this file in `.placet`."""


@dataclass(frozen=True)
class Weather:
    """The weather service, as the skill `weather` asks it."""

    client: WeatherClient

    async def forecast(self, city: str, days: int) -> Mapping[str, Any]:
        """Return what the service says of a city, or that it does not know it.

        Raises:
            OSError: It did not answer.
        """
        try:
            found = await self.client.forecast(city, days)
        except UnknownCityError as error:
            return {"error": "unknown city", "nearest": list(error.nearest)}
        except WeatherError as error:
            raise OSError(str(error)) from error
        return found.model_dump()


@dataclass(frozen=True)
class Customers:
    """The shop's customers, as the skill `customers` looks for them."""

    database: ShopDatabase

    async def search(
        self, query: str, status: Literal["active", "inactive", "trial"] | None, limit: int
    ) -> Sequence[Customer]:
        """Return customers by name, e-mail address or id."""
        return await search_customers(self.database, query, CustomerStatus(status) if status else None, limit)


@dataclass(frozen=True)
class Office:
    """What the skills find as `context.deps`."""

    weather: Weather
    customers: Customers
    runner: SqliteRunner


def make_agent(options: AppOptions) -> Agent:
    """Return the office's agent. Without `--model`, the understudy plays."""
    home = Path(os.environ.get(HOME_VARIABLE) or HERE / ".placet")
    home.mkdir(parents=True, exist_ok=True)
    path = home / "shop.db"
    if not path.is_file():
        generate(path, orders_per_month=250)
    shop = open_shop(ShopSettings(database=path))
    atexit.register(shop.close)
    asked = options.model not in (None, "scripted:")
    return Agent(
        HERE / "office.agent.md",
        tools=discover(HERE),
        model=open_model(str(options.model), base_url=options.base_url) if asked else understudy(),
        store=options.store or demonstration_store(home / "placet.db"),
        deps=Office(Weather(shop.weather), Customers(shop.database), SqliteRunner(path)),
        directory=ShopDirectory(shop.database),
    )


def demonstration_store(path: Path) -> str:
    """Return the URL of a store that is marked as a demonstration: only there does `--as` count."""
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
