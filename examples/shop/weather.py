"""Asks a weather service over HTTP."""

import ipaddress
import ssl
from datetime import date
from http import HTTPStatus
from typing import Final, Literal
from urllib.parse import urlsplit

import httpx2
from pydantic import BaseModel, ConfigDict, ValidationError

from shop.errors import UnknownCityError, WeatherError

TIMEOUT: Final = 3.0
"""Seconds for each of connecting, sending and waiting. Below the five that a tool has."""


class Day(BaseModel):
    """The weather of one day.

    Attributes:
        date: Which.
        low: The lowest temperature, °C.
        high: The highest temperature, °C.
        rain: In millimetres.
        condition: In one word.
    """

    model_config = ConfigDict(frozen=True)

    date: date
    low: int
    high: int
    rain: int
    condition: Literal["sunny", "cloudy", "rain", "storm", "snow"]


class Forecast(BaseModel):
    """The weather of a city from today on.

    Attributes:
        city: As the service names it.
        country: ISO 3166-1.
        days: Today first.
    """

    model_config = ConfigDict(frozen=True)

    city: str
    country: str
    days: tuple[Day, ...]


class _Unknown(BaseModel):
    error: Literal["unknown city"]
    nearest: tuple[str, ...] = ()


class WeatherClient:
    """Asks one weather service. It keeps no connection, so that any event loop may use it.

    Args:
        url: Where the service listens, for instance `"http://127.0.0.1:8017"`.
        timeout: Seconds for each of connecting, sending and waiting.
    """

    def __init__(self, url: str, timeout: float = TIMEOUT) -> None:
        self._url = url
        self._timeout = timeout
        # A proxy from the environment serves the outside, and would look for this machine's
        # loopback on its own.
        self._outside = not _is_loopback(url)
        # Reading all authorities takes longer than a forecast. Without TLS none is needed, and none is trusted.
        secure = urlsplit(url).scheme == "https"
        self._authorities = httpx2.create_ssl_context() if secure else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)

    async def forecast(self, city: str, days: int = 1) -> Forecast:
        """Return the weather of a city.

        Args:
            city: In English or in the language of its country.
            days: From today on, 1 to 7.

        Raises:
            UnknownCityError: The service does not know the city.
            WeatherError: It did not answer in time, or not sensibly.
        """
        try:
            async with httpx2.AsyncClient(
                base_url=self._url, timeout=self._timeout, trust_env=self._outside, verify=self._authorities
            ) as client:
                answer = await client.get("/v1/forecast", params={"city": city, "days": days})
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise WeatherError(f"the weather service did not answer: {type(error).__name__}") from error
        try:
            if answer.status_code == HTTPStatus.NOT_FOUND:
                raise UnknownCityError(city, _Unknown.model_validate_json(answer.content).nearest)
            if answer.status_code != HTTPStatus.OK:
                raise WeatherError(f"the weather service answered {answer.status_code}")
            return Forecast.model_validate_json(answer.content)
        except ValidationError as error:
            raise WeatherError("the weather service answered something that is no forecast") from error


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
