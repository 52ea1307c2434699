"""The open shop: what its tools find as `context.deps`, and who is known in it."""

import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass

from placet.errors import StoreError
from placet.values.principal import Principal
from shop.customers import find_customer
from shop.database import ShopDatabase
from shop.errors import ShopDataError
from shop.settings import ShopSettings
from shop.weather import WeatherClient
from shop.weather_service import WeatherService


@dataclass(frozen=True, slots=True)
class Shop:
    """What the tools work on.

    Attributes:
        database: Customers, orders and stock.
        weather: The weather service outside.
    """

    database: ShopDatabase
    weather: WeatherClient


@contextlib.asynccontextmanager
async def open_shop(settings: ShopSettings) -> AsyncGenerator[Shop]:
    """Open the shop for as long as the block lasts, with a weather service of its own if none is set.

    Raises:
        ShopDataError: There is no shop in that file.
    """
    with contextlib.ExitStack() as stack:
        database = ShopDatabase(settings.database)
        stack.callback(database.close)
        url = settings.weather_url or stack.enter_context(WeatherService()).url
        weather = WeatherClient(url)
        try:
            yield Shop(database, weather)
        finally:
            await weather.close()


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
