"""What the shop itself refuses, in one tree. None of it knows of models or tools.

```text
ShopError
├── ShopDataError        the database is missing or cannot be used
├── UnknownError         there is no such order or customer
├── NotPossibleError     the order is past the point where this could be done
├── ConflictError        it has changed since it was looked at; look again
├── KeyReusedError       the idempotency key was used for something else
├── UnknownCityError     the weather service does not know the city
└── WeatherError         the weather service did not answer, or not sensibly
```
"""


class ShopError(Exception):
    """The root of everything that the shop raises. In all of them: nothing was changed."""


class ShopDataError(ShopError):
    """The shop's database is missing or cannot be used. The message says how to make it."""


class UnknownError(ShopError):
    """There is no such order or customer."""


class NotPossibleError(ShopError):
    """The order is past the point where this could be done, for instance already delivered."""


class ConflictError(ShopError):
    """The order has changed since it was looked at, so what was decided may no longer hold."""


class KeyReusedError(ShopError):
    """The idempotency key was used before, for something else."""


class UnknownCityError(ShopError):
    """The weather service does not know the city.

    Attributes:
        nearest: Names that it knows and that look alike, the nearest first.
    """

    def __init__(self, city: str, nearest: tuple[str, ...] = ()) -> None:
        super().__init__(f"no forecast for the city {city!r}")
        self.city = city
        self.nearest = nearest


class WeatherError(ShopError):
    """The weather service did not answer in time, or not sensibly."""
