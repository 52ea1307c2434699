"""Orders: what they are, and how they are found.

How far the money is (`OrderStatus`) and where the parcel is (`Delivery`) are two things: an
order that has left the house is still `paid`. `shop.changes` changes them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from shop.database import Row, ShopDatabase, to_time
from shop.words import money

LIST_CAP: Final = 50
"""How many orders are listed at most: the newest."""


class OrderStatus(StrEnum):
    """How far the money is."""

    PENDING = "pending"
    PAID = "paid"
    CANCELLED = "cancelled"
    REFUNDED = "refunded"


class Delivery(StrEnum):
    """Where the parcel is."""

    NOT_SHIPPED = "not_shipped"
    SHIPPED = "shipped"
    DELIVERED = "delivered"
    RECALLED = "recalled"


class OrderFilter(StrEnum):
    """Which orders are asked for: by money or by parcel."""

    PENDING = "pending"
    PAID = "paid"
    CANCELLED = "cancelled"
    REFUNDED = "refunded"
    NOT_SHIPPED = "not_shipped"
    SHIPPED = "shipped"
    DELIVERED = "delivered"
    NOT_DELIVERED = "not_delivered"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shipment:
    """A parcel.

    Attributes:
        carrier: Who carries it.
        tracking: Under which number.
        shipped_at: When it left. Aware, UTC, as all times here.
        delivered_at: When it arrived, or None.
        recalled_at: When the carrier was told to bring it back, or None.
    """

    carrier: str
    tracking: str
    shipped_at: datetime
    delivered_at: datetime | None = None
    recalled_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """One order, as it was when it was looked at.

    Attributes:
        id: Its number.
        customer_id: Whose it is.
        status: How far the money is.
        items: How many things are in it.
        total: In minor units.
        refunded: How much of it was paid back, in minor units.
        currency: `"BRL"` or `"RON"`.
        country: Where it goes.
        county: State or județ.
        address: Where the parcel goes.
        placed_at: When it was placed.
        shipment: The parcel, or None when nothing was sent.
        version: Grows with every change, the parcel's included.
    """

    id: int
    customer_id: str
    status: OrderStatus
    items: int
    total: int
    refunded: int
    currency: str
    country: str
    county: str
    address: str
    placed_at: datetime
    shipment: Shipment | None
    version: int

    @property
    def delivery(self) -> Delivery:
        """Where the parcel is."""
        if self.shipment is None:
            return Delivery.NOT_SHIPPED
        if self.shipment.recalled_at is not None:
            return Delivery.RECALLED
        return Delivery.SHIPPED if self.shipment.delivered_at is None else Delivery.DELIVERED

    @property
    def left(self) -> int:
        """How much of the total was not paid back yet, in minor units."""
        return self.total - self.refunded

    @property
    def total_text(self) -> str:
        """The total as its country writes it: `"R$ 412,90"`."""
        return money(self.total, self.currency)


ORDER: Final = """
    SELECT o.id, o.customer_id, o.status, o.currency, o.total, o.country, o.county, o.address, o.placed_at, o.version,
           s.carrier, s.tracking, s.shipped_at, s.delivered_at, s.recalled_at,
           (SELECT sum(quantity) FROM order_items i WHERE i.order_id = o.id) AS items,
           (SELECT coalesce(sum(amount), 0) FROM refunds r WHERE r.order_id = o.id) AS refunded
    FROM orders o LEFT JOIN shipments s ON s.order_id = o.id
"""
"""Everything about orders; what follows says which."""

_IS_OPEN: Final = "o.status IN ('pending', 'paid')"
_FILTERS: Final = {
    OrderFilter.PENDING: "o.status = 'pending'",
    OrderFilter.PAID: "o.status = 'paid'",
    OrderFilter.CANCELLED: "o.status = 'cancelled'",
    OrderFilter.REFUNDED: "o.status = 'refunded'",
    OrderFilter.NOT_SHIPPED: f"{_IS_OPEN} AND s.order_id IS NULL",
    OrderFilter.SHIPPED: f"{_IS_OPEN} AND s.order_id IS NOT NULL AND s.delivered_at IS NULL",
    OrderFilter.DELIVERED: "s.delivered_at IS NOT NULL",
    OrderFilter.NOT_DELIVERED: f"{_IS_OPEN} AND s.delivered_at IS NULL",
}
"""Every way to ask is a statement of its own: nothing that comes in is ever part of one."""


async def find_order(database: ShopDatabase, order_id: int) -> Order | None:
    """Return the order of this number, or None.

    Raises:
        ShopDataError: The database cannot be read.
    """
    if not 0 < order_id < 2**63:
        return None
    rows = database.read(ORDER + "WHERE o.id = ?", order_id)
    return order_of(rows[0]) if rows else None


async def list_orders(
    database: ShopDatabase, customer_id: str | None, status: OrderFilter | None = None, limit: int = LIST_CAP
) -> Sequence[Order]:
    """Return orders, the newest first.

    Args:
        database: The shop.
        customer_id: Whose, or None for everybody's.
        status: Only these, or None for all.
        limit: How many at most, up to `LIST_CAP`.

    Raises:
        ShopDataError: The database cannot be read.
    """
    wanted = _FILTERS[OrderFilter(status)] if status is not None else "1"
    newest = f"AND {wanted} ORDER BY o.placed_at DESC, o.id DESC LIMIT ?"
    most = max(1, min(limit, LIST_CAP))
    if customer_id is None:  # may have to pass over many of everybody's before enough are found
        rows = await database.search(f"{ORDER} WHERE 1 {newest}", most)
    else:
        rows = database.read(f"{ORDER} WHERE o.customer_id = ? {newest}", customer_id, most)
    return [order_of(row) for row in rows]


async def search_orders_by_email(database: ShopDatabase, email: str, limit: int = LIST_CAP) -> Sequence[Order]:
    """Return the orders of the customer with exactly this e-mail address, the newest first.

    Neither `%` nor `_` nor a part of an address finds anything.

    Raises:
        ShopDataError: The database cannot be read.
    """
    rows = database.read("SELECT id FROM customers WHERE email = ?", email.strip().lower())
    return await list_orders(database, rows[0]["id"], limit=limit) if rows else []


def order_of(row: Row) -> Order:
    """Return the order that a row of `ORDER` holds."""
    return Order(
        id=row["id"],
        customer_id=row["customer_id"],
        status=OrderStatus(row["status"]),
        items=row["items"],
        total=row["total"],
        refunded=row["refunded"],
        currency=row["currency"],
        country=row["country"],
        county=row["county"],
        address=row["address"],
        placed_at=to_time(row["placed_at"]),
        shipment=_shipment(row) if row["shipped_at"] is not None else None,
        version=row["version"],
    )


def _shipment(row: Row) -> Shipment:
    delivered, recalled = row["delivered_at"], row["recalled_at"]
    return Shipment(
        carrier=row["carrier"],
        tracking=row["tracking"],
        shipped_at=to_time(row["shipped_at"]),
        delivered_at=to_time(delivered) if delivered else None,
        recalled_at=to_time(recalled) if recalled else None,
    )
