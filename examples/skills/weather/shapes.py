"""What the skill needs, takes and gives."""

from collections.abc import Mapping
from datetime import date
from typing import Any, Literal, Protocol

from pydantic import BaseModel


class WeatherSource(Protocol):
    """Asks a weather service."""

    async def forecast(self, city: str, days: int) -> Mapping[str, Any]:
        """Return what the service says: `{"city", "country", "days"}`, or `{"error", "nearest"}`.

        Raises:
            OSError: It did not answer.
        """
        ...


class Office(Protocol):
    """What the application has to give to this skill."""

    @property
    def weather(self) -> WeatherSource:
        """The weather service."""
        ...


class Day(BaseModel):
    """The weather of one day, in °C."""

    date: date
    low: float
    high: float


class Forecast(BaseModel):
    """What a service says of a city that it knows."""

    city: str
    country: str
    days: list[Day]


class Weather(BaseModel):
    """What the model is told: the warmest of the first day, and each day."""

    city: str
    country: str
    temperature: float
    days: list[Day]


class NoWeather(BaseModel):
    """What the model is told when there is no forecast."""

    code: Literal["unknown_city", "no_answer"]
    message: str
    hint: str
    nearest: list[str] = []
