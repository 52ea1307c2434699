import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from shop.counter import Shop
from shop.database import ShopDatabase
from shop.generate import generate
from shop.tests.asking import Counter
from shop.weather import WeatherClient
from shop.weather_service import WeatherService

TODAY = date(2026, 11, 29)
NOW = datetime(2026, 11, 29, 10, 0, tzinfo=UTC)


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("shop") / "shop.db"
    generate(path, seed=1, today=TODAY, orders_per_month=250, months=6)
    return path


@pytest.fixture
def shop_file(made_once: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(made_once, tmp_path / "shop.db"))


@pytest.fixture
def open_shop(shop_file: Path) -> Iterator[Callable[[], ShopDatabase]]:
    opened: list[ShopDatabase] = []

    def open_it() -> ShopDatabase:
        opened.append(ShopDatabase(shop_file, now=lambda: NOW))
        return opened[-1]

    yield open_it
    for shop in opened:
        shop.close()


@pytest.fixture
def shop(open_shop: Callable[[], ShopDatabase]) -> ShopDatabase:
    return open_shop()


@pytest.fixture(scope="session")
def weather() -> Iterator[WeatherService]:
    with WeatherService(today=lambda: TODAY) as running:
        yield running


@pytest.fixture
def counter(shop: ShopDatabase, weather: WeatherService) -> Counter:
    return Counter(Shop(shop, WeatherClient(weather.url)))
