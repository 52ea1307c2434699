"""Customers: found by id, or by a part of their name or e-mail address."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from shop.database import Row, ShopDatabase
from shop.words import fold

SEARCH_CAP: Final = 100
"""How many customers one search returns at most."""


class CustomerStatus(StrEnum):
    """Whether somebody is a customer."""

    ACTIVE = "active"
    INACTIVE = "inactive"
    TRIAL = "trial"


@dataclass(frozen=True, slots=True, kw_only=True)
class Customer:
    """One customer.

    Attributes:
        id: For instance `"c17"`.
        name: In full.
        email: In lower case.
        plan: `"basic"`, `"plus"` or `"business"`.
        status: Whether they are a customer.
        language: What they read.
        country: `"BR"` or `"RO"`.
        county: State or județ.
        deleted: Whether the account was closed.
    """

    id: str
    name: str
    email: str
    plan: str
    status: CustomerStatus
    language: str
    country: str
    county: str
    deleted: bool


_CUSTOMER: Final = "SELECT id, name, email, plan, status, language, country, county, deleted_at FROM customers "


async def find_customer(database: ShopDatabase, customer_id: str) -> Customer | None:
    """Return the customer with this id, or None.

    Raises:
        ShopDataError: The database cannot be read.
    """
    rows = database.read(_CUSTOMER + "WHERE id = ?", customer_id)
    return _customer(rows[0]) if rows else None


async def search_customers(
    database: ShopDatabase,
    query: str,
    status: CustomerStatus | None = None,
    limit: int = 10,
    *,
    include_deleted: bool = False,
) -> Sequence[Customer]:
    """Return the customers whose name, e-mail address or id holds every word of a query.

    Case and accents do not count; `%` and `_` stand for themselves alone.

    Args:
        database: The shop.
        query: One or more words. None of them finds nobody.
        status: Only these, or None for all.
        limit: How many at most, 1 to `SEARCH_CAP`.
        include_deleted: Closed accounts too.

    Returns:
        Whose id it is first, then by name.

    Raises:
        ShopDataError: The database cannot be read.
    """
    words = fold(query).split()
    if not words:
        return []
    conditions = ["search LIKE ? ESCAPE '\\'"] * len(words)
    values: list[str | int] = [f"%{_escaped(word)}%" for word in words]
    if status is not None:
        conditions.append("status = ?")
        values.append(CustomerStatus(status))
    if not include_deleted:
        conditions.append("deleted_at IS NULL")
    rows = await database.search(
        f"{_CUSTOMER} WHERE {' AND '.join(conditions)} ORDER BY id <> ?, name, id LIMIT ?",
        *values, words[0], max(1, min(limit, SEARCH_CAP)),
    )  # fmt: skip
    return [_customer(row) for row in rows]


def _escaped(word: str) -> str:
    for letter in ("\\", "%", "_"):
        word = word.replace(letter, "\\" + letter)
    return word


def _customer(row: Row) -> Customer:
    return Customer(
        id=row["id"],
        name=row["name"],
        email=row["email"],
        plan=row["plan"],
        status=CustomerStatus(row["status"]),
        language=row["language"],
        country=row["country"],
        county=row["county"],
        deleted=row["deleted_at"] is not None,
    )
