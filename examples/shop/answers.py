"""What the tools answer: made for reading by a model and by the templates of `shop.sentences`.

Amounts are decimals in whole units of their currency. What is not there is null, so that a
template can ask for it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Literal

from shop.changes import OrderChange
from shop.customers import Customer
from shop.orders import Order, OrderStatus
from shop.stock import StockLevel
from shop.weather import Forecast


@dataclass(frozen=True, slots=True, kw_only=True)
class ParcelAnswer:
    """A parcel that has left.

    Attributes:
        on: The day.
        carrier: Who carries it.
        tracking: Under which number.
    """

    on: date
    carrier: str
    tracking: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderAnswer:
    """One order.

    Attributes:
        order_id: Its number.
        yours: Whether it belongs to the person who asks.
        status: How far the money is. Where the parcel is, `shipped` and `delivered_on` say.
        unpaid: Whether its payment is waited for.
        cancelled: Whether it was cancelled.
        items: How many things are in it.
        total: What it costs.
        refunded: What was paid back of it.
        currency: Of both.
        placed_on: The day of the order.
        shipped: The parcel, once it has left.
        delivered_on: The day of its arrival.
    """

    order_id: int
    yours: bool
    status: Literal["pending", "paid", "cancelled", "refunded"]
    unpaid: bool
    cancelled: bool
    items: int
    total: Decimal
    refunded: Decimal | None
    currency: str
    placed_on: date
    shipped: ParcelAnswer | None
    delivered_on: date | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OrdersAnswer:
    """Several orders, the newest first.

    Attributes:
        orders: Those that were found.
        more: Whether there may be more than these.
    """

    orders: list[OrderAnswer]
    more: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerAnswer:
    """One customer, as support needs them."""

    id: str
    name: str
    email: str
    plan: str
    status: Literal["active", "inactive", "trial"]
    language: str
    country: str
    county: str
    deleted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomersAnswer:
    """Several customers.

    Attributes:
        customers: Those that were found.
        more: Whether there may be more than these: narrow the query.
    """

    customers: list[CustomerAnswer]
    more: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductAnswer:
    """One product and how much of it there is."""

    sku: str
    name: str
    available: int
    warehouses: dict[str, int]
    price: Decimal
    currency: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StockAnswer:
    """The products that the words fit, the best stocked first; none when nothing does."""

    products: list[ProductAnswer]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeAnswer:
    """An order after a change.

    Attributes:
        order_id: Which.
        status: How far the money is now.
        refunded: What this change pays back.
        currency: Of that.
        recalled: Whether a parcel on its way is called back.
        address: Where the parcel goes.
    """

    order_id: int
    status: Literal["pending", "paid", "cancelled", "refunded"]
    refunded: Decimal | None
    currency: str
    recalled: bool
    address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EmailAnswer:
    """An e-mail that was sent."""

    customer_id: str
    subject: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DayAnswer:
    """The weather of one day; temperatures in °C, no rain is null."""

    date: date
    low: int
    high: int
    rain_mm: int | None
    condition: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WeatherAnswer:
    """The weather of a city, today first."""

    city: str
    country: str
    days: list[DayAnswer]


def units(minor: int) -> Decimal:
    """Return an amount of minor units in whole ones."""
    return Decimal(minor).scaleb(-2)


def describe_order(order: Order, reader: str) -> OrderAnswer:
    """Return an order as the principal with the id `reader` is told of it."""
    parcel = order.shipment
    return OrderAnswer(
        order_id=order.id,
        yours=order.customer_id == reader,
        status=order.status.value,
        unpaid=order.status is OrderStatus.PENDING,
        cancelled=order.status is OrderStatus.CANCELLED,
        items=order.items,
        total=units(order.total),
        refunded=units(order.refunded) if order.refunded else None,
        currency=order.currency,
        placed_on=order.placed_at.date(),
        shipped=ParcelAnswer(on=parcel.shipped_at.date(), carrier=parcel.carrier, tracking=parcel.tracking)
        if parcel
        else None,
        delivered_on=parcel.delivered_at.date() if parcel and parcel.delivered_at else None,
    )


def describe_orders(orders: Sequence[Order], reader: str, cap: int) -> OrdersAnswer:
    """Return several orders as the principal with the id `reader` is told of them."""
    return OrdersAnswer(orders=[describe_order(order, reader) for order in orders], more=len(orders) >= cap)


def describe_customers(customers: Sequence[Customer], cap: int) -> CustomersAnswer:
    """Return several customers as support is told of them."""
    described = [
        CustomerAnswer(
            id=customer.id,
            name=customer.name,
            email=customer.email,
            plan=customer.plan,
            status=customer.status.value,
            language=customer.language,
            country=customer.country,
            county=customer.county,
            deleted=customer.deleted,
        )
        for customer in customers
    ]
    return CustomersAnswer(customers=described, more=len(described) >= cap)


def describe_stock(levels: Sequence[StockLevel]) -> StockAnswer:
    """Return the stock of several products."""
    return StockAnswer(
        products=[
            ProductAnswer(
                sku=level.sku,
                name=level.name,
                available=level.available,
                warehouses=level.warehouses,
                price=units(level.price),
                currency=level.currency,
            )
            for level in levels
        ]
    )


def describe_change(change: OrderChange) -> ChangeAnswer:
    """Return what a change has come to."""
    return ChangeAnswer(
        order_id=change.order_id,
        status=change.status.value,
        refunded=units(change.refunded) if change.refunded else None,
        currency=change.currency,
        recalled=change.recalled,
        address=change.address,
    )


def describe_weather(forecast: Forecast) -> WeatherAnswer:
    """Return a forecast."""
    days = [
        DayAnswer(date=day.date, low=day.low, high=day.high, rain_mm=day.rain or None, condition=day.condition)
        for day in forecast.days
    ]
    return WeatherAnswer(city=forecast.city, country=forecast.country, days=days)
