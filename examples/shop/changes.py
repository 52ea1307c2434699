"""Changing orders, on the version that was looked at.

Every change is one conditional statement that names the version on which the decision rests.
When the order has changed meanwhile, nothing happens and `ConflictError` says so.
"""

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from shop.database import ShopDatabase, to_text
from shop.effects import once
from shop.errors import ConflictError, NotPossibleError, UnknownError
from shop.orders import ORDER, Delivery, Order, OrderStatus, order_of
from shop.words import money

_OPEN: Final = (OrderStatus.PENDING, OrderStatus.PAID)
_WAREHOUSES: Final = {"BR": "São Paulo", "RO": "Cluj-Napoca"}


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderChange:
    """What a change has come to.

    Attributes:
        order_id: Which order.
        status: How far the money is now.
        refunded: What this change paid back, in minor units; 0 for none.
        currency: Of that.
        recalled: Whether a parcel on its way was called back.
        address: Where the parcel goes now.
        version: The order's version now.
    """

    order_id: int
    status: OrderStatus
    refunded: int
    currency: str
    recalled: bool
    address: str
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wish:
    """One change that somebody has decided on: to which order, and on which version of it."""

    verb: str
    order_id: int
    expected_version: int
    key: str | None
    arguments: Mapping[str, Any]


_Change: TypeAlias = Callable[[sqlite3.Connection, Order, str], dict[str, Any]]
"""Makes the change to an order at a time, and returns what differs in its `OrderChange`."""


def check_cancel(order: Order) -> None:
    """Say why an order cannot be cancelled, if so.

    Raises:
        NotPossibleError: It is cancelled or refunded already, or was delivered.
    """
    if order.status not in _OPEN:
        raise NotPossibleError(f"order {order.id} is {order.status} already")
    if order.delivery is Delivery.DELIVERED:
        raise NotPossibleError(f"order {order.id} was delivered; refund it instead")


def check_refund(order: Order, amount: int) -> None:
    """Say why so much of an order cannot be paid back, if so.

    Args:
        order: Which.
        amount: How much, in minor units.

    Raises:
        NotPossibleError: It is not paid, or less than that is left of it.
    """
    if order.status is not OrderStatus.PAID:
        raise NotPossibleError(f"order {order.id} is {order.status}; only a paid order can be refunded")
    if not 0 < amount <= order.left:
        raise NotPossibleError(f"at most {money(order.left, order.currency)} of order {order.id} can be refunded")


def check_address(order: Order) -> None:
    """Say why an order cannot be sent elsewhere, if so.

    Raises:
        NotPossibleError: Its parcel has left, or it is cancelled or refunded.
    """
    if order.status not in _OPEN:
        raise NotPossibleError(f"order {order.id} is {order.status}")
    if order.shipment is not None:
        raise NotPossibleError(f"the parcel of order {order.id} has left; its address cannot be changed")


async def cancel_order(
    database: ShopDatabase, order_id: int, *, expected_version: int, by: str, key: str | None = None
) -> OrderChange:
    """Cancel an order: what was paid is paid back, and the parcel stays here or is called back.

    Args:
        database: The shop.
        order_id: Which.
        expected_version: The version that was looked at when this was decided.
        by: Who decided it.
        key: Idempotency key: with the same one it is done once, and answered again.

    Raises:
        UnknownError: There is no such order.
        ConflictError: The order has changed since.
        NotPossibleError: It is cancelled or refunded already, or was delivered.
        KeyReusedError: The key was used for something else.
        ShopDataError: The database cannot be written.
    """

    def cancel(connection: sqlite3.Connection, order: Order, at: str) -> dict[str, Any]:
        check_cancel(order)
        due = order.left if order.status is OrderStatus.PAID else 0
        _update(connection, order, "status", OrderStatus.CANCELLED)
        _pay_back(connection, order, due, "cancelled", at, by)
        if order.shipment is None:
            _put_back(connection, order)
        else:
            connection.execute("UPDATE shipments SET recalled_at = ? WHERE order_id = ?", (at, order_id))
        return {"status": OrderStatus.CANCELLED, "refunded": due, "recalled": order.shipment is not None}

    wish = _Wish(verb="cancel_order", order_id=order_id, expected_version=expected_version, key=key, arguments={})
    return await _apply(database, wish, cancel)


async def refund_order(
    database: ShopDatabase,
    order_id: int,
    amount: int,
    reason: str,
    *,
    expected_version: int,
    by: str,
    key: str | None = None,
) -> OrderChange:
    """Pay an order back, in part or in whole.

    Args:
        database: The shop.
        order_id: Which.
        amount: How much, in minor units of the order's currency.
        reason: Why, for the books.
        expected_version: The version that was looked at when this was decided.
        by: Who decided it.
        key: Idempotency key: with the same one it is done once, and answered again.

    Raises:
        UnknownError: There is no such order.
        ConflictError: The order has changed since.
        NotPossibleError: It is not paid, or less than that is left of it.
        KeyReusedError: The key was used for something else.
        ShopDataError: The database cannot be written.
    """

    def refund(connection: sqlite3.Connection, order: Order, at: str) -> dict[str, Any]:
        check_refund(order, amount)
        status = OrderStatus.REFUNDED if amount == order.left else OrderStatus.PAID
        _update(connection, order, "status", status)
        _pay_back(connection, order, amount, reason, at, by)
        return {"status": status, "refunded": amount}

    wish = _Wish(
        verb="refund_order",
        order_id=order_id,
        expected_version=expected_version,
        key=key,
        arguments={"amount": amount, "reason": reason},
    )
    return await _apply(database, wish, refund)


async def change_address(
    database: ShopDatabase, order_id: int, address: str, *, expected_version: int, key: str | None = None
) -> OrderChange:
    """Send an order elsewhere, as long as its parcel is still here.

    Args:
        database: The shop.
        order_id: Which.
        address: Where to.
        expected_version: The version that was looked at when this was decided.
        key: Idempotency key: with the same one it is done once, and answered again.

    Raises:
        UnknownError: There is no such order.
        ConflictError: The order has changed since.
        NotPossibleError: The parcel has left, or the order is cancelled or refunded.
        KeyReusedError: The key was used for something else.
        ShopDataError: The database cannot be written.
    """

    def change(connection: sqlite3.Connection, order: Order, _at: str) -> dict[str, Any]:
        check_address(order)
        _update(connection, order, "address", address)
        return {"address": address}

    wish = _Wish(
        verb="change_address",
        order_id=order_id,
        expected_version=expected_version,
        key=key,
        arguments={"address": address},
    )
    return await _apply(database, wish, change)


async def _apply(database: ShopDatabase, wish: _Wish, change: _Change) -> OrderChange:
    at = to_text(database.now())
    # The version is no part of what is wished: a wish that is repeated under its key finds the order changed by itself.
    arguments = {"order_id": wish.order_id, **wish.arguments}

    def transaction(connection: sqlite3.Connection) -> dict[str, Any]:
        def work() -> dict[str, Any]:
            order = _look(connection, wish)
            return {
                "order_id": order.id,
                "status": order.status,
                "refunded": 0,
                "currency": order.currency,
                "recalled": False,
                "address": order.address,
                "version": order.version + 1,
                **change(connection, order, at),
            }

        return once(connection, wish.key, wish.verb, arguments, at, work)

    done = await database.write(transaction)
    done["status"] = OrderStatus(done["status"])
    return OrderChange(**done)


def _look(connection: sqlite3.Connection, wish: _Wish) -> Order:
    row = connection.execute(ORDER + "WHERE o.id = ?", (wish.order_id,)).fetchone()
    if row is None:
        raise UnknownError(f"there is no order {wish.order_id}")
    order = order_of(row)
    if order.version != wish.expected_version:
        raise _changed(order)
    return order


def _changed(order: Order) -> ConflictError:
    return ConflictError(f"order {order.id} has changed meanwhile; look at it again")


def _update(connection: sqlite3.Connection, order: Order, column: str, value: str) -> None:
    """Set one column on the version that was looked at, or refuse."""
    done = connection.execute(
        f"UPDATE orders SET {column} = ?, version = version + 1 WHERE id = ? AND version = ?",  # noqa: S608 - columns from this file
        (value, order.id, order.version),
    )
    if done.rowcount != 1:
        raise _changed(order)


def _pay_back(connection: sqlite3.Connection, order: Order, amount: int, reason: str, at: str, by: str) -> None:
    if amount:
        connection.execute(
            "INSERT INTO refunds (order_id, amount, reason, refunded_at, refunded_by) VALUES (?, ?, ?, ?, ?)",
            (order.id, amount, reason, at, by),
        )


def _put_back(connection: sqlite3.Connection, order: Order) -> None:
    connection.execute(
        "UPDATE stock SET available = available + (SELECT quantity FROM order_items i WHERE i.order_id = ?1 "
        "AND i.sku = stock.sku) WHERE warehouse = ?2 AND sku IN (SELECT sku FROM order_items WHERE order_id = ?1)",
        (order.id, _WAREHOUSES[order.country]),
    )
