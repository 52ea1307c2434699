"""The shop's settings, read once from the environment and checked whole.

| variable | default | meaning |
|---|---|---|
| `SHOP_DATABASE` | `.placet/shop.db` | the file with the shop, made by `python -m shop.generate` |
| `SHOP_WEATHER_URL` | none | where a weather service listens; without it the example starts its own |
| `SHOP_REFUND_LIMIT` | `50` | refunds above this amount, in reais or lei, wait for a person of finance |
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Final

from placet.errors import ConfigurationError

HOME: Final = Path(__file__).parents[2] / ".placet"
"""Where the shop and what is remembered of its agent are kept: in the checkout, out of version control."""
DATABASE: Final = HOME / "shop.db"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShopSettings:
    """What can be set of the shop.

    Attributes:
        database: The file with the shop.
        weather_url: Where a weather service listens, or None for one of our own.
        refund_limit: Refunds above this amount, in whole units of the order's currency, wait for finance.
    """

    database: Path = DATABASE
    weather_url: str | None = None
    refund_limit: Decimal = Decimal(50)


def read_settings(environment: Mapping[str, str] = os.environ) -> ShopSettings:
    """Return the settings that the environment says.

    Raises:
        ConfigurationError: A value cannot be one, or a variable is misspelt.
    """
    known = {"SHOP_DATABASE", "SHOP_WEATHER_URL", "SHOP_REFUND_LIMIT"}
    unknown = sorted(name for name in environment if name.startswith("SHOP_") and name not in known)
    if unknown:
        raise ConfigurationError(f"unknown settings {unknown}; there are {sorted(known)}")
    url = environment.get("SHOP_WEATHER_URL") or None
    if url is not None and not url.startswith(("http://", "https://")):
        raise ConfigurationError(f"SHOP_WEATHER_URL is {url!r}; write it as 'http://host:port'")
    return ShopSettings(
        database=Path(environment.get("SHOP_DATABASE") or DATABASE),
        weather_url=url,
        refund_limit=_amount(environment.get("SHOP_REFUND_LIMIT") or "50"),
    )


def _amount(text: str) -> Decimal:
    try:
        amount = Decimal(text)
    except InvalidOperation:
        amount = Decimal(-1)
    if not amount.is_finite() or amount < 0:
        raise ConfigurationError(f"SHOP_REFUND_LIMIT is {text!r}; write an amount such as '50' or '49.90'")
    return amount
