"""A small weather service on loopback, for the shop's one tool that calls out.

It really speaks HTTP, and its forecasts are invented: the same city and day always give the
same weather. `python -m shop.weather_service` runs it alone; in code, `with WeatherService() as
service: service.url`.

```text
GET /v1/forecast?city=Oslo&days=3   200 {"city", "country", "days": [{"date", "low", "high", "rain", "condition"}]}
                                    400 {"error"}            no city, or days that are not 1 to 7
                                    404 {"error", "nearest"} a city that it does not know
```
"""

import json
import math
import sys
import threading
import time
from collections.abc import Callable
from datetime import date, timedelta
from difflib import get_close_matches
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, Self
from urllib.parse import parse_qs, urlsplit

from shop.database import utc_now
from shop.words import fold

DAYS_AHEAD: Final = 7
"""How far a forecast reaches, today included."""

# Latitude, and the country.
CITIES: Final = {
    "Amsterdam": (52.4, "NL"), "Arad": (46.2, "RO"), "Athens": (38.0, "GR"), "Bacău": (46.6, "RO"),
    "Baia Mare": (47.7, "RO"), "Barcelona": (41.4, "ES"), "Belo Horizonte": (-19.9, "BR"), "Belém": (-1.5, "BR"),
    "Berlin": (52.5, "DE"), "Bistrița": (47.1, "RO"), "Boston": (42.4, "US"), "Brasília": (-15.8, "BR"),
    "Brașov": (45.7, "RO"), "București": (44.4, "RO"), "Budapest": (47.5, "HU"), "Buenos Aires": (-34.6, "AR"),
    "Campinas": (-22.9, "BR"), "Chișinău": (47.0, "MD"), "Cluj-Napoca": (46.8, "RO"), "Constanța": (44.2, "RO"),
    "Copenhagen": (55.7, "DK"), "Craiova": (44.3, "RO"), "Curitiba": (-25.4, "BR"), "Dublin": (53.3, "IE"),
    "Florianópolis": (-27.6, "BR"), "Fortaleza": (-3.7, "BR"), "Galați": (45.4, "RO"), "Goiânia": (-16.7, "BR"),
    "Helsinki": (60.2, "FI"), "Iași": (47.2, "RO"), "Istanbul": (41.0, "TR"), "Lisboa": (38.7, "PT"),
    "London": (51.5, "GB"), "Madrid": (40.4, "ES"), "Manaus": (-3.1, "BR"), "New York": (40.7, "US"),
    "Niterói": (-22.9, "BR"), "Oradea": (47.1, "RO"), "Oslo": (59.9, "NO"), "Paris": (48.9, "FR"),
    "Ploiești": (44.9, "RO"), "Porto": (41.2, "PT"), "Porto Alegre": (-30.0, "BR"), "Prague": (50.1, "CZ"),
    "Recife": (-8.1, "BR"), "Reykjavík": (64.1, "IS"), "Rio de Janeiro": (-22.9, "BR"), "Rome": (41.9, "IT"),
    "Salvador": (-13.0, "BR"), "Santos": (-24.0, "BR"), "Satu Mare": (47.8, "RO"), "Sibiu": (45.8, "RO"),
    "Sofia": (42.7, "BG"), "Stockholm": (59.3, "SE"), "Suceava": (47.7, "RO"), "São Paulo": (-23.6, "BR"),
    "Timișoara": (45.8, "RO"), "Tokyo": (35.7, "JP"), "Târgu Mureș": (46.5, "RO"), "Vienna": (48.2, "AT"),
    "Vitória": (-20.3, "BR"), "Warsaw": (52.2, "PL"),
}  # fmt: skip

_ALSO_KNOWN_AS: Final = {
    "atena": "Athens", "atenas": "Athens", "berlim": "Berlin", "bucareste": "București", "bucharest": "București",
    "budapesta": "Budapest", "budapeste": "Budapest", "chisinau": "Chișinău", "cluj": "Cluj-Napoca",
    "cluj napoca": "Cluj-Napoca", "constanta": "Constanța", "copenhaga": "Copenhagen", "copenhague": "Copenhagen",
    "dublim": "Dublin", "estocolmo": "Stockholm", "iasi": "Iași", "istambul": "Istanbul", "lisabona": "Lisboa",
    "lisbon": "Lisboa", "londra": "London", "londres": "London", "madri": "Madrid", "nova york": "New York",
    "praga": "Prague", "rio": "Rio de Janeiro", "roma": "Rome", "toquio": "Tokyo", "tokio": "Tokyo",
    "varsovia": "Warsaw", "viena": "Vienna",
}  # fmt: skip

_BY_NAME: Final = {fold(name): name for name in CITIES} | _ALSO_KNOWN_AS


def forecast(city: str, days: int, today: date) -> dict[str, Any] | None:
    """Return the forecast for a city from today on, or None for a city that is not known.

    Args:
        city: In English or in the language of its country; case and accents do not count.
        days: 1 to `DAYS_AHEAD`.
        today: The first day of it.
    """
    name = _BY_NAME.get(fold(city))
    if name is None:
        return None
    latitude, country = CITIES[name]
    ahead = [today + timedelta(days=day) for day in range(days)]
    return {"city": name, "country": country, "days": [_day(name, latitude, day) for day in ahead]}


def nearest(city: str) -> list[str]:
    """Return the names of known cities that look like this one, the nearest first."""
    found = get_close_matches(fold(city)[:80], _BY_NAME, n=3, cutoff=0.6)
    return list(dict.fromkeys(_BY_NAME[name] for name in found))


def _day(city: str, latitude: float, day: date) -> dict[str, Any]:
    chance = [byte / 255 for byte in sha256(f"{city} {day}".encode()).digest()[:4]]
    # Warmest in the middle of July in the north, of January in the south; the farther from the equator, the more so.
    season = math.cos((day.timetuple().tm_yday - 197) / 365 * 2 * math.pi)
    mean = 25 - 0.0058 * latitude**2 + season * latitude * 0.22
    high = round(mean + 4 + 6 * (chance[0] - 0.5))
    low = high - 4 - round(7 * chance[1])
    rain = round(max(0.0, chance[2] - 0.55) * 60)
    if rain == 0:
        condition = "sunny" if chance[3] < 0.5 else "cloudy"
    else:
        condition = "snow" if high <= 1 else "rain" if rain < 20 else "storm"
    return {"date": day.isoformat(), "low": low, "high": high, "rain": rain, "condition": condition}


class WeatherService:
    """The service while it runs: starts on entering, ends on leaving.

    Args:
        port: On loopback; 0 takes a free one.
        today: Tells the first day of every forecast.
        delay: Seconds to wait before each answer, to try what a slow service does.
    """

    def __init__(
        self, port: int = 0, *, today: Callable[[], date] = lambda: utc_now().date(), delay: float = 0.0
    ) -> None:
        self._server = _Server(("127.0.0.1", port), _Answerer)
        self._server.today = today
        self._server.delay = delay
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), name="weather", daemon=True)

    @property
    def url(self) -> str:
        """Where it listens: `"http://127.0.0.1:49152"`."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    today: Callable[[], date]
    delay: float

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a client that has hung up; anything else is a fault of this service."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Answerer(BaseHTTPRequestHandler):
    server: _Server  # pyright: ignore[reportIncompatibleVariableOverride]  # only _Server makes one
    protocol_version = "HTTP/1.1"
    timeout = 30  # a silent connection does not stay for ever

    def do_GET(self) -> None:
        time.sleep(self.server.delay)
        asked = urlsplit(self.path)
        if asked.path != "/v1/forecast":
            self._answer(404, {"error": "ask for /v1/forecast?city=…&days=…"})
            return
        query = parse_qs(asked.query)
        city = query.get("city", [""])[0]
        days = query.get("days", ["1"])[0]
        if not city or days not in {str(number) for number in range(1, DAYS_AHEAD + 1)}:
            self._answer(400, {"error": f"city is needed, and days from 1 to {DAYS_AHEAD}"})
            return
        found = forecast(city, int(days), self.server.today())
        if found is None:
            self._answer(404, {"error": "unknown city", "nearest": nearest(city)})
        else:
            self._answer(200, found)

    def _answer(self, status: int, content: dict[str, Any]) -> None:
        body = json.dumps(content, ensure_ascii=False).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's own name
        """Say nothing: the shop keeps its own records."""


def main() -> None:
    """Run the service until Ctrl-C."""
    with WeatherService(port=8017) as service:
        print(f"weather at {service.url}/v1/forecast?city=Cluj-Napoca&days=3 (Ctrl-C ends it)")
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            print("closed")


if __name__ == "__main__":
    main()
