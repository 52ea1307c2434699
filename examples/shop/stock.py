"""Stock: how many of a thing are on the shelves."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from shop.database import Row, ShopDatabase
from shop.words import fold

PRODUCT_CAP: Final = 5
"""How many products one question is answered for at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StockLevel:
    """How many of a product there are.

    Attributes:
        sku: The product's number.
        name: Its name in the language that was asked in.
        available: In all warehouses together.
        warehouses: In each of them.
        price: In minor units of the currency.
        currency: Of the country that was asked for.
    """

    sku: str
    name: str
    available: int
    warehouses: dict[str, int]
    price: int
    currency: str


_SHELVES: Final = """
    SELECT p.*, s.warehouse, s.available FROM products p JOIN stock s ON s.sku = p.sku
    WHERE p.sku = ? ORDER BY s.warehouse
"""
_NAMES: Final = {"pt-BR": "name_pt", "ro": "name_ro"}
_PRICES: Final = {"BR": ("price_brl", "BRL"), "RO": ("price_ron", "RON")}


async def check_stock(
    database: ShopDatabase, product: str, language: str = "en", country: str = "BR"
) -> Sequence[StockLevel]:
    """Return the stock of what somebody calls a product, in Portuguese, Romanian or English.

    Products that have every word in their number or names are answered. When there are none,
    those that share most of the words are, endings aside: `"blue backpack"` finds the backpack,
    and so does `"rucsacul"`.

    Args:
        database: The shop.
        product: A SKU, or a name or a part of it.
        language: In which the names are answered.
        country: Whose prices are answered, `"BR"` or `"RO"`.

    Returns:
        `PRODUCT_CAP` at most, the best stocked first; none when there is no such product.

    Raises:
        ShopDataError: The database cannot be read.
    """
    names = {row["sku"]: row["search"].split() for row in database.read("SELECT sku, search FROM products")}
    chosen = _choose(names, fold(product).split())
    levels = [_level(database.read(_SHELVES, sku), language, country) for sku in chosen]
    levels.sort(key=lambda level: (-level.available, level.sku))
    return levels[:PRODUCT_CAP]


def _choose(products: Mapping[str, Sequence[str]], words: Sequence[str]) -> list[str]:
    if not words:
        return []
    exact = {sku: _shared(names, words) for sku, names in products.items()}
    if len(words) in exact.values():
        return [sku for sku, count in exact.items() if count == len(words)]
    stems = [word[: max(4, len(word) - 2)] for word in words if len(word) > 3]
    alike = {sku: _shared(names, stems) for sku, names in products.items()}
    most = max(alike.values(), default=0)
    return [sku for sku, count in alike.items() if count == most > 0]


def _shared(names: Sequence[str], words: Sequence[str]) -> int:
    return sum(any(name.startswith(word) for name in names) for word in words)


def _level(shelves: Sequence[Row], language: str, country: str) -> StockLevel:
    price, currency = _PRICES[country]
    return StockLevel(
        sku=shelves[0]["sku"],
        name=shelves[0][_NAMES.get(language, "name_en")],
        available=sum(row["available"] for row in shelves),
        warehouses={row["warehouse"]: row["available"] for row in shelves},
        price=shelves[0][price],
        currency=currency,
    )
