"""Invents customers and orders from a seed: pure, the same rows for the same plan.

Order numbers say nothing of time: each is dealt a moment of the six months at random, so that
nobody reads the shop's sales off two of them, and so that 8842 can be as fresh as any other.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from itertools import accumulate, islice
from random import Random
from typing import Any, Final, TypeAlias

from shop.catalogue import PRODUCTS
from shop.people import CUSTOMERS, ORDERS
from shop.places import COUNTRIES, Country
from shop.words import fold

DAY: Final = 86_400
BATCH: Final = 10_000
"""Orders that are handed over together."""

_WEEKDAYS: Final = (1.05, 1.0, 0.98, 1.0, 1.15, 1.12, 0.85)
_HOURS: Final = (2, 1, 1, 1, 1, 2, 4, 7, 10, 12, 13, 13, 14, 13, 12, 12, 12, 12, 13, 15, 16, 15, 10, 5)
_CLOCK: Final = [f" {hour:02}:{minute:02}:{second:02}" for hour in range(24) for minute in range(60)
                 for second in range(60)]  # fmt: skip
_LINES: Final = list(accumulate((27, 26, 20, 15, 12)))
_QUANTITIES: Final = list(accumulate((72, 18, 7, 3)))
_BR_IN_TEN: Final = 6

Row: TypeAlias = tuple[Any, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How large a shop is wanted.

    Attributes:
        seed: Same seed, same shop.
        today: The first day that is not in it.
        orders_per_month: Invented; those that the documentation speaks of come on top.
        months: How many, back from today.
    """

    seed: int
    today: date
    orders_per_month: int
    months: int

    @property
    def orders(self) -> int:
        """How many orders are invented."""
        return self.orders_per_month * self.months

    @property
    def customers(self) -> int:
        """How many customers are invented."""
        return max(120, self.orders_per_month // 2)


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows of some orders, table by table."""

    orders: list[Row] = field(default_factory=list[Row])
    items: list[Row] = field(default_factory=list[Row])
    shipments: list[Row] = field(default_factory=list[Row])
    refunds: list[Row] = field(default_factory=list[Row])


def months_before(day: date, months: int) -> date:
    """Return the same day some months earlier, or the last of that month when it is shorter."""
    year, month = divmod(day.year * 12 + day.month - 1 - months, 12)
    last = (date(year + (month == 11), (month + 1) % 12 + 1, 1) - timedelta(days=1)).day
    return date(year, month + 1, min(day.day, last))


def invent_customers(plan: Plan, random: Random) -> list[Row]:
    """Return the rows of all invented customers; the numbers of known ones are left out."""
    known = {customer.id for customer in CUSTOMERS}
    names = [f"c{number}" for number in range(1, plan.customers + len(known) + 1)]
    start = months_before(plan.today, plan.months)
    brazil, romania = COUNTRIES["BR"], COUNTRIES["RO"]
    counties = {country.code: _weighted_counties(country) for country in (brazil, romania)}
    rows: list[Row] = []
    for id_ in [name for name in names if name not in known][: plan.customers]:
        country = brazil if random.random() * 10 < _BR_IN_TEN else romania
        county = random.choices(*counties[country.code])[0]
        name = f"{random.choice(country.first_names)} {random.choice(country.last_names)}"
        email = f"{fold(name).replace(' ', '.')}.{id_[1:]}@example.{random.choice(('com', 'org', 'net'))}"
        street = random.choice(country.streets).format(random.randrange(1, 2000))
        created = start - timedelta(days=random.randrange(1, 1100))
        deleted = plan.today - timedelta(days=random.randrange(1, 30)) if random.random() < 0.015 else None
        rows.append(
            (
                id_, name, email,
                random.choices(("basic", "plus", "business"), (70, 24, 6))[0],
                "inactive" if deleted else random.choices(("active", "inactive", "trial"), (87, 8, 5))[0],
                country.language if random.random() < 0.95 else "en",
                country.code, county, f"{street}, {country.counties[county][1]}",
                f"{created} 12:00:00", f"{deleted} 12:00:00" if deleted else None, fold(f"{id_} {name} {email}"),
            )
        )  # fmt: skip
    return rows


def _weighted_counties(country: Country) -> tuple[list[str], list[int]]:
    return list(country.counties), [inhabitants for inhabitants, _ in country.counties.values()]


def invent_orders(plan: Plan, random: Random, customers: list[Row]) -> Iterator[Batch]:
    """Yield the rows of all invented orders in batches; the numbers of known ones are left out."""
    known = {order.id for order in ORDERS}
    numbers = [number for number in range(1, plan.orders + len(known) + 1) if number not in known][: plan.orders]
    start = months_before(plan.today, plan.months)
    moments = _moments(plan, random, start)
    # A few buy a lot, most of them little.
    buyers = [row for row in customers if row[4] != "inactive"]
    loyalty = list(accumulate(min(random.paretovariate(1.4), 40.0) for _ in buyers))
    inventor = _Inventor(random, start, (plan.today - start).days * DAY)
    for first in range(0, plan.orders, BATCH):
        batch = Batch()
        inventor.draw(len(numbers[first : first + BATCH]))
        chosen = random.choices(buyers, cum_weights=loyalty, k=len(numbers[first : first + BATCH]))
        for number, moment, buyer in zip(numbers[first:], moments[first:], chosen, strict=False):
            inventor.invent(batch, number, moment, buyer)
        yield batch


def _moments(plan: Plan, random: Random, start: date) -> list[int]:
    """Return when each order is placed, in seconds from the start: as many every month."""
    hours = list(accumulate(_HOURS))
    moments: list[int] = []
    for month in range(plan.months):
        begin = months_before(plan.today, plan.months - month)
        end = months_before(plan.today, plan.months - month - 1)
        days = range((begin - start).days, (end - start).days)
        weights = list(accumulate(_WEEKDAYS[(start + timedelta(days=day)).weekday()] for day in days))
        chosen = random.choices(days, cum_weights=weights, k=plan.orders_per_month)
        at = random.choices(range(24), cum_weights=hours, k=plan.orders_per_month)
        moments += [day * DAY + hour * 3600 + int(random.random() * 3600) for day, hour in zip(chosen, at, strict=True)]
    random.shuffle(moments)
    return moments


def _carriers(country: Country) -> list[tuple[int, str, str, int, str]]:
    """Return each carrier: up to which percent it is drawn, its name, and its tracking number in three parts."""
    shares = accumulate(share for share, _ in country.carriers.values())
    made: list[tuple[int, str, str, int, str]] = []
    for up_to, (name, (_, form)) in zip(shares, country.carriers.items(), strict=True):
        digits = form.count("#")
        before, _, after = form.partition("#" * digits)
        made.append((up_to, name, before, digits, after))
    return made


class _Inventor:
    """Invents one order after the other; holds what all of them need.

    What many orders draw alike is drawn for a whole batch: one draw of thousands costs a
    fifth of thousands of draws.
    """

    def __init__(self, random: Random, start: date, now: int) -> None:
        self._random = random
        self._now = now
        self._days = [str(start + timedelta(days=day)) for day in range(now // DAY + 1)]
        self._prices = {"BR": [p.price_brl for p in PRODUCTS], "RO": [p.price_ron for p in PRODUCTS]}
        # What costs four times as much is bought half as often.
        self._popularity = list(accumulate(cost**-0.5 for cost in self._prices["BR"]))
        self._carriers = {code: _carriers(country) for code, country in COUNTRIES.items()}
        self._lines: Iterator[int] = iter(())
        self._products: Iterator[int] = iter(())
        self._quantities: Iterator[int] = iter(())

    def draw(self, orders: int) -> None:
        """Draw what so many orders hold."""
        choices = self._random.choices
        lines = choices((1, 2, 3, 4, 5), cum_weights=_LINES, k=orders)
        total = sum(lines)
        self._lines = iter(lines)
        self._products = iter(choices(range(len(PRODUCTS)), cum_weights=self._popularity, k=total))
        self._quantities = iter(choices((1, 2, 3, 4), cum_weights=_QUANTITIES, k=total))

    def _text(self, seconds: int) -> str:
        return self._days[seconds // DAY] + _CLOCK[seconds % DAY]

    def invent(self, batch: Batch, number: int, moment: int, buyer: Row) -> None:
        """Add one order of a customer, and what became of it by now."""
        draw = self._random.random
        country = buyer[6]
        total = self._items(batch, number, country)
        age = self._now - moment
        luck = draw()
        if age < 3 * DAY and luck < (0.3 if age < DAY else 0.06):
            status = "pending"
        elif luck > 0.96:
            status = "cancelled"
        else:
            status = "paid"
            shipped = moment + int((0.3 + 2.5 * draw()) * DAY)
            if shipped < self._now:
                status = self._ship(batch, number, country, shipped, total)
        currency = COUNTRIES[country].currency
        batch.orders.append(
            (number, buyer[0], status, currency, total, country, buyer[7], buyer[8], self._text(moment), 1)
        )

    def _items(self, batch: Batch, number: int, country: str) -> int:
        chosen = sorted(set(islice(self._products, next(self._lines))))
        prices = self._prices[country]
        total = 0
        for line, product in enumerate(chosen, 1):
            price = prices[product]
            quantity = next(self._quantities)
            batch.items.append((number, line, PRODUCTS[product].sku, quantity, price))
            total += quantity * price
        return total

    def _ship(self, batch: Batch, number: int, country: str, shipped: int, total: int) -> str:
        """Add the parcel, and what was paid back after it arrived; return how far the money is."""
        draw = self._random.random
        share = draw() * 100
        _, carrier, before, digits, after = next(made for made in self._carriers[country] if share < made[0])
        tracking = f"{before}{int(draw() * 10**digits):0{digits}}{after}"
        arrived = shipped + int(((2 + 10 * draw()) if country == "BR" else (0.8 + 3 * draw())) * DAY)
        lost = draw() < 0.004
        delivered = None if lost or arrived >= self._now else arrived
        batch.shipments.append(
            (number, carrier, tracking, self._text(shipped), self._text(delivered) if delivered else None, None)
        )
        regret = draw()
        refunded = (delivered or self._now) + 4 * DAY
        if regret > 0.035 or refunded >= self._now:
            return "paid"
        whole = regret < 0.025
        amount = total if whole else max(1, total // 4)
        reason = "returned" if whole else "damaged item"
        batch.refunds.append((number, amount, reason, self._text(refunded), "f1" if country == "BR" else "f2"))
        return "refunded" if whole else "paid"
