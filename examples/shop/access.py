"""Who may do what to whose orders: loaders and rules for the gate.

The rules are pure. Where they say no, the gate answers as if nothing had been found, so that
nobody learns which numbers exist.
"""

from typing import Any, Final

from placet.tools.context import Context
from placet.values.principal import Principal
from shop.counter import Shop
from shop.customers import Customer, find_customer
from shop.orders import Order, find_order
from shop.settings import read_settings

REFUND_LIMIT: Final = read_settings().refund_limit
"""Refunds above this amount wait for a person of finance."""

STAFF: Final = frozenset({"support", "finance"})
READERS: Final = STAFF | {"customer"}


async def load_order(arguments: Any, context: Context[Shop]) -> Order | None:
    """Return the order that the arguments name, or None."""
    return await find_order(context.deps.database, arguments.order_id)


async def load_customer(arguments: Any, context: Context[Shop]) -> Customer | None:
    """Return the customer that the arguments name, or None."""
    found = await find_customer(context.deps.database, arguments.customer_id)
    return None if found is None or found.deleted else found


def own_order_or_staff(principal: Principal, order: Order, _arguments: Any) -> bool:
    """Return whether the order is the principal's own, or the principal may see all."""
    return order.customer_id == principal.id or not STAFF.isdisjoint(principal.roles)


def own_order_or_finance(principal: Principal, order: Order, _arguments: Any) -> bool:
    """Return whether the order is the principal's own, or the principal is of finance."""
    return order.customer_id == principal.id or "finance" in principal.roles


def own_orders_or_staff(principal: Principal, _resource: Any, arguments: Any) -> bool:
    """Return whether the principal asks for their own orders, or may see all."""
    return arguments.customer_id in (None, principal.id) or not STAFF.isdisjoint(principal.roles)


def above_refund_limit(arguments: Any) -> bool:
    """Return whether a refund is so large that a person of finance must approve it."""
    return bool(arguments.amount > REFUND_LIMIT)
