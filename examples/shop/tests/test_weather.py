import asyncio
import time
from collections.abc import Iterator
from datetime import date, timedelta

import httpx2
import pytest

from shop.errors import UnknownCityError, WeatherError
from shop.weather import WeatherClient
from shop.weather_service import CITIES, WeatherService, forecast, nearest

TODAY = date(2026, 11, 29)


@pytest.fixture(scope="module")
def service() -> Iterator[WeatherService]:
    with WeatherService(today=lambda: TODAY) as running:
        yield running


@pytest.fixture
def client(service: WeatherService) -> WeatherClient:
    return WeatherClient(service.url)


async def test_a_forecast_begins_today_and_has_as_many_days(client: WeatherClient) -> None:
    found = await client.forecast("São Paulo", 3)
    assert (found.city, found.country) == ("São Paulo", "BR")
    assert [day.date for day in found.days] == [TODAY + timedelta(days=number) for number in range(3)]


async def test_the_same_day_has_the_same_weather(client: WeatherClient) -> None:
    week = await client.forecast("Oslo", 7)
    assert (await client.forecast("Oslo", 1)).days[0] == week.days[0]


@pytest.mark.parametrize(
    ("asked", "city"),
    [
        ("cluj", "Cluj-Napoca"),
        ("CLUJ-NAPOCA", "Cluj-Napoca"),
        ("Bucharest", "București"),
        ("Lisbon", "Lisboa"),
        ("sao paulo", "São Paulo"),
        ("Timisoara", "Timișoara"),
        ("Londra", "London"),
    ],
)
async def test_a_city_is_known_by_its_other_names(client: WeatherClient, asked: str, city: str) -> None:
    assert (await client.forecast(asked)).city == city


async def test_an_unknown_city_says_what_looks_alike(client: WeatherClient) -> None:
    with pytest.raises(UnknownCityError, match="'Oslp'") as refused:
        await client.forecast("Oslp")
    assert "Oslo" in refused.value.nearest


@pytest.mark.parametrize("days", [0, 8, -1])
async def test_the_service_refuses_days_out_of_range(client: WeatherClient, days: int) -> None:
    with pytest.raises(WeatherError, match="answered 400"):
        await client.forecast("Oslo", days)


@pytest.mark.parametrize("query", ["", "city=", "city=Oslo&days=x", "city=Oslo&days=1.0", "city=Oslo&days=%2B1"])
async def test_a_malformed_question_is_answered_400(service: WeatherService, query: str) -> None:
    async with httpx2.AsyncClient(trust_env=False) as http:
        answer = await http.get(f"{service.url}/v1/forecast?{query}")
    assert answer.status_code == 400
    assert "city is needed" in answer.json()["error"]


async def test_another_path_is_answered_404(service: WeatherService) -> None:
    async with httpx2.AsyncClient(trust_env=False) as http:
        assert (await http.get(f"{service.url}/etc/passwd")).status_code == 404


async def test_a_service_that_is_not_there_is_a_weather_error() -> None:
    with WeatherService() as gone:
        url = gone.url
    client = WeatherClient(url)
    with pytest.raises(WeatherError, match="did not answer: ConnectError"):
        await client.forecast("Oslo")


async def test_a_slow_service_is_given_up_in_time() -> None:
    with WeatherService(delay=1.0) as slow:
        client = WeatherClient(slow.url, timeout=0.1)
        begin = time.monotonic()
        with pytest.raises(WeatherError, match="did not answer: ReadTimeout"):
            await client.forecast("Oslo")
        assert time.monotonic() - begin < 0.8


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"[]", b'{"city": "Oslo", "country": "NO", "days": [{"date": "today"}]}', b"\xff\xfe"]
)
async def test_an_answer_that_is_no_forecast_is_a_weather_error(body: bytes) -> None:
    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        client = WeatherClient(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        with pytest.raises(WeatherError, match="no forecast"):
            await client.forecast("Oslo")


async def test_a_proxy_in_the_environment_is_not_asked_for_loopback(
    service: WeatherService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    client = WeatherClient(service.url)
    assert (await client.forecast("Oslo")).city == "Oslo"


def test_january_is_cold_in_oslo_and_warm_in_sao_paulo() -> None:
    def high(city: str) -> float:
        found = forecast(city, 7, date(2026, 1, 15))
        assert found is not None
        return sum(float(day["high"]) for day in found["days"]) / 7

    assert high("Oslo") < 3
    assert high("São Paulo") > 25


def test_every_city_has_sane_weather_every_day_of_a_year() -> None:
    for city in CITIES:
        for day in range(0, 365, 7):
            found = forecast(city, 7, date(2026, 1, 1) + timedelta(days=day))
            assert found is not None
            assert all(-35 < one["low"] < one["high"] < 45 and 0 <= one["rain"] < 60 for one in found["days"])


def test_a_very_long_name_is_nobodys_neighbour() -> None:
    assert nearest("x" * 100_000) == []


def test_a_client_serves_one_event_loop_after_the_other(service: WeatherService) -> None:
    client = WeatherClient(service.url)
    for _ in range(2):
        assert asyncio.run(client.forecast("Oslo")).city == "Oslo"
