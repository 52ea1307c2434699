from pathlib import Path

import pytest

from placet.errors import ConfigurationError, StoreError
from shop.counter import ShopDirectory, open_shop
from shop.database import ShopDatabase
from shop.settings import ShopSettings, read_settings
from shop.weather_service import WeatherService


@pytest.mark.parametrize(
    ("who", "role", "language"),
    [("c17", "customer", "pt-BR"), ("c42", "customer", "ro"), ("s1", "support", "pt-BR"), ("f2", "finance", "ro"),
     ("a1", "analyst", "ro"), ("w1", "warehouse", "pt-BR")],
)  # fmt: skip
async def test_customers_and_staff_are_known(shop: ShopDatabase, who: str, role: str, language: str) -> None:
    principal = await ShopDirectory(shop).find(who)
    assert principal is not None
    assert principal.roles == {role}
    assert principal.attributes["language"] == language


@pytest.mark.parametrize("who", ["c99", "c", "c17 ", "C17", "%", "f3"])
async def test_closed_accounts_and_strangers_are_not(shop: ShopDatabase, who: str) -> None:
    assert await ShopDirectory(shop).find(who) is None


async def test_a_role_that_was_taken_away_counts_at_once(shop: ShopDatabase) -> None:
    directory = ShopDirectory(shop)
    await shop.write(lambda connection: connection.execute("UPDATE staff SET role = 'analyst' WHERE id = 's1'"))
    principal = await directory.find("s1")
    assert principal is not None
    assert principal.roles == {"analyst"}


async def test_a_shop_that_cannot_be_read_refuses_everybody(shop: ShopDatabase) -> None:
    await shop.write(lambda connection: connection.execute("ALTER TABLE staff RENAME TO people"))
    with pytest.raises(StoreError):
        await ShopDirectory(shop).find("s1")


async def test_the_shop_starts_a_weather_service_when_none_is_set(shop: ShopDatabase) -> None:
    with open_shop(ShopSettings(database=shop.path)) as opened:
        assert (await opened.weather.forecast("Oslo")).city == "Oslo"


async def test_a_weather_service_that_is_set_is_asked(shop: ShopDatabase, weather: WeatherService) -> None:
    with open_shop(ShopSettings(database=shop.path, weather_url=weather.url)) as opened:
        assert (await opened.weather.forecast("Oslo")).days[0].date.isoformat() == "2026-11-29"


def test_settings_come_from_the_environment() -> None:
    settings = read_settings({"SHOP_REFUND_LIMIT": "99.90", "SHOP_WEATHER_URL": "http://127.0.0.1:8017", "HOME": "/"})
    assert (str(settings.refund_limit), settings.weather_url) == ("99.90", "http://127.0.0.1:8017")


@pytest.mark.parametrize(
    "environment",
    [
        {"SHOP_REFUND_LIMIT": "much"},
        {"SHOP_REFUND_LIMIT": "-1"},
        {"SHOP_REFUND_LIMIT": "NaN"},
        {"SHOP_REFUND_LIMIT": "Infinity"},
        {"SHOP_WEATHER_URL": "127.0.0.1:8017"},
        {"SHOP_REFUND_LIMITS": "50"},
    ],
)
def test_a_setting_that_cannot_be_one_is_refused(environment: dict[str, str]) -> None:
    with pytest.raises(ConfigurationError, match=next(iter(environment))):
        read_settings(environment)


def test_a_shop_that_was_not_made_says_how_to_make_it(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"python -m shop\.generate"):
        open_shop(ShopSettings(database=tmp_path / "shop.db"))
