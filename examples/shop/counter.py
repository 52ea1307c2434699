"""The open shop: what its tools find as `context.deps`, and who is known in it."""

import contextlib
from dataclasses import dataclass, field
from typing import Self

from placet.errors import ConfigurationError, StoreError
from placet.values.principal import Principal
from shop.customers import find_customer
from shop.database import ShopDatabase
from shop.errors import ShopDataError
from shop.settings import ShopSettings
from shop.weather import WeatherClient
from shop.weather_service import WeatherService


@dataclass(frozen=True, slots=True)
class Shop:
    """What the tools work on. Made by `open_shop`.

    Attributes:
        database: Customers, orders and stock.
        weather: The weather service outside.
    """

    database: ShopDatabase
    weather: WeatherClient
    _opened: contextlib.ExitStack = field(default_factory=contextlib.ExitStack, repr=False, compare=False)

    def close(self) -> None:
        """Close what `open_shop` has opened."""
        self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def open_shop(settings: ShopSettings) -> Shop:
    """Open the shop, with a weather service of its own if none is set.

    Raises:
        ConfigurationError: There is no shop in that file.
    """
    with contextlib.ExitStack() as opened:
        try:
            database = ShopDatabase(settings.database)
        except ShopDataError as error:
            raise ConfigurationError(str(error)) from error
        opened.callback(database.close)
        url = settings.weather_url or opened.enter_context(WeatherService()).url
        return Shop(database, WeatherClient(url), opened.pop_all())


class ShopDirectory:
    """Who somebody is today, by the shop's own tables: a customer, or one of the staff.

    A closed account is nobody any more, from the next decision on.
    """

    def __init__(self, database: ShopDatabase) -> None:
        self._database = database

    async def find(self, principal_id: str) -> Principal | None:
        """Return the principal with today's role, or None for an unknown id.

        Raises:
            StoreError: The shop cannot be read.
        """
        try:
            customer = await find_customer(self._database, principal_id)
            staff = self._database.read("SELECT role, language, country FROM staff WHERE id = ?", principal_id)
        except ShopDataError as error:
            raise StoreError(str(error)) from error
        if staff:
            role, language, country = staff[0]
        elif customer is not None and not customer.deleted:
            role, language, country = "customer", customer.language, customer.country
        else:
            return None
        return Principal(principal_id, {role}, {"language": language, "country": country})
