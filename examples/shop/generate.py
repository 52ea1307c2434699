"""Makes the shop: `python -m shop.generate`. Six months, 40,000 orders a month, in seconds.

The same seed and the same day give the same shop, row by row.
"""

import argparse
import contextlib
import os
import sqlite3
import sys
from collections.abc import Callable, Generator
from datetime import date, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Final, TypeAlias

from rich.console import Console
from rich.progress import Progress

from shop.catalogue import PRODUCTS
from shop.database import utc_now
from shop.errors import ShopDataError
from shop.invent import Batch, Plan, Row, invent_customers, invent_orders
from shop.people import CUSTOMERS, ORDERS, RICE_IN_STOCK, STAFF, KnownOrder, day_placed
from shop.places import COUNTRIES
from shop.settings import DATABASE
from shop.words import fold

SEED: Final = 8842
ORDERS_PER_MONTH: Final = 40_000
MONTHS: Final = 6

Report: TypeAlias = Callable[[int, int], None]
"""Told how many orders of how many are in."""

_HERE: Final = Path(__file__).parent
# No journal and no sync while it is made: a shop that is cut off here is thrown away whole.
_BULK: Final = """
    PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;
    PRAGMA temp_store = MEMORY; PRAGMA cache_size = -200000; PRAGMA page_size = 8192;
"""


def generate(
    path: str | Path,
    *,
    seed: int = SEED,
    today: date | None = None,
    orders_per_month: int = ORDERS_PER_MONTH,
    months: int = MONTHS,
    report: Report | None = None,
) -> None:
    """Make a shop in a new file. It appears there whole, or not at all.

    Args:
        path: Where. A shop that lies there is replaced.
        seed: Same seed and same day, same shop.
        today: The first day that is not in it; by default the day it is in UTC.
        orders_per_month: How many orders are invented for each month.
        months: How many months back from today.
        report: Told of the progress.

    Raises:
        ShopDataError: The file cannot be written, or something lies there that is no shop.
    """
    plan = Plan(seed=seed, today=today or utc_now().date(), orders_per_month=orders_per_month, months=months)
    path = Path(path)
    if path.exists() and not _is_shop(path):
        raise ShopDataError(f"{str(path)!r} is there already and is no shop; choose another name")
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.closing(sqlite3.connect(partial, isolation_level=None)) as connection:
            connection.executescript(_BULK + (_HERE / "schema.sql").read_text(encoding="utf-8"))
            connection.execute("BEGIN")
            _fill(connection, plan, report or _silent)
            connection.execute("COMMIT")
            connection.executescript((_HERE / "indexes.sql").read_text(encoding="utf-8") + "ANALYZE;")
        for leftover in ("-wal", "-shm"):  # of the shop that is replaced
            path.with_name(path.name + leftover).unlink(missing_ok=True)
        partial.replace(path)
    except (OSError, sqlite3.Error) as error:
        raise ShopDataError(f"no shop can be made at {str(path)!r}: {error}") from error
    finally:
        with contextlib.suppress(OSError):  # what went wrong before says more
            partial.unlink()


def _is_shop(path: Path) -> bool:
    try:
        with contextlib.closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            connection.execute("SELECT 1 FROM orders, emails_sent, effects LIMIT 1")
    except sqlite3.Error:
        return False
    return True


def _silent(done: int, total: int) -> None:
    pass


def _fill(connection: sqlite3.Connection, plan: Plan, report: Report) -> None:
    random = Random(f"{plan.seed} {plan.today}")  # noqa: S311 - an invented shop, not a secret
    _insert(connection, "products", _products())
    _insert(connection, "stock", _stock(random))
    _insert(connection, "staff", _staff())
    _insert(connection, "payroll", _payroll(plan, random))
    _insert(connection, "customers", _known_customers(plan))
    customers = invent_customers(plan, random)
    _insert(connection, "customers", customers)
    _insert_batch(connection, _known_orders(plan.today))
    done = 0
    report(done, plan.orders)
    for batch in invent_orders(plan, random, customers):
        _insert_batch(connection, batch)
        done += len(batch.orders)
        report(done, plan.orders)
    _tell_customers(connection, plan.today)


def _insert_batch(connection: sqlite3.Connection, batch: Batch) -> None:
    _insert(connection, "orders", batch.orders)
    _insert(connection, "order_items", batch.items)
    _insert(connection, "shipments", batch.shipments)
    _insert(connection, "refunds (order_id, amount, reason, refunded_at, refunded_by)", batch.refunds)


def _insert(connection: sqlite3.Connection, table: str, rows: list[Row]) -> None:
    if rows:
        places = ", ".join("?" * len(rows[0]))
        connection.executemany(f"INSERT INTO {table} VALUES ({places})", rows)  # noqa: S608 - names from this file


def _products() -> list[Row]:
    return [
        (p.sku, p.name_pt, p.name_ro, p.name_en, p.price_brl, p.price_ron,
         fold(f"{p.sku} {p.name_pt} {p.name_ro} {p.name_en}"))
        for p in PRODUCTS
    ]  # fmt: skip


def _stock(random: Random) -> list[Row]:
    rice = PRODUCTS[0].sku
    return [
        (product.sku, warehouse, rice_here if product.sku == rice else max(0, random.randrange(-10, 300)))
        for product in PRODUCTS
        for warehouse, rice_here in RICE_IN_STOCK.items()
    ]


def _staff() -> list[Row]:
    return [
        (s.id, s.name, f"{fold(s.name).replace(' ', '.')}@shop.example", s.role, s.language, s.country) for s in STAFF
    ]


def _payroll(plan: Plan, random: Random) -> list[Row]:
    return [
        (s.id, f"{plan.today.replace(day=1) - timedelta(days=1):%Y-%m}", s.salary, COUNTRIES[s.country].currency,
         f"{s.country}{random.randrange(10**14, 10**15)}")
        for s in STAFF
    ]  # fmt: skip


def _known_customers(plan: Plan) -> list[Row]:
    created = f"{plan.today - timedelta(days=900)} 09:30:00"
    deleted = f"{plan.today - timedelta(days=20)} 16:00:00"
    return [
        (c.id, c.name, c.email, c.plan, c.status, c.language, c.country, c.county, c.address, created,
         deleted if c.deleted else None, fold(f"{c.id} {c.name} {c.email}"))
        for c in CUSTOMERS
    ]  # fmt: skip


def _known_orders(today: date) -> Batch:
    people = {customer.id: customer for customer in CUSTOMERS}
    products = {product.sku: product for product in PRODUCTS}
    batch = Batch()
    for order in ORDERS:
        person = people[order.customer]
        prices = [
            products[sku].price_brl if person.country == "BR" else products[sku].price_ron for sku, _ in order.items
        ]
        lines = list(enumerate(zip(order.items, prices, strict=True), 1))
        batch.items.extend((order.id, line, sku, quantity, price) for line, ((sku, quantity), price) in lines)
        total = sum(quantity * price for _, ((_, quantity), price) in lines)
        batch.orders.append(
            (order.id, order.customer, order.status, COUNTRIES[person.country].currency, total, person.country,
             person.county, person.address, f"{day_placed(order, today)} 10:24:00", 1)
        )  # fmt: skip
        _known_parcel(batch, order, today, total)
    return batch


def _known_parcel(batch: Batch, order: KnownOrder, today: date, total: int) -> None:
    if order.shipped is None:
        return
    sent = day_placed(order, today) + timedelta(days=order.shipped)
    arrived = sent + timedelta(days=order.delivered) if order.delivered else None
    batch.shipments.append(
        (order.id, order.carrier, order.tracking, f"{sent} 14:05:00", f"{arrived} 11:40:00" if arrived else None, None)
    )
    if order.status == "refunded" and arrived:
        batch.refunds.append((order.id, total, "returned", f"{arrived + timedelta(days=5)} 15:00:00", "f1"))


def _tell_customers(connection: sqlite3.Connection, today: date) -> None:
    """Record the e-mails about parcels of the last seven days; older ones are not kept."""
    connection.execute(
        """
        INSERT INTO emails_sent (customer_id, recipient, subject, body, sent_at, sent_by)
        SELECT c.id, c.email,
               CASE c.language WHEN 'pt-BR' THEN 'Pedido ' || o.id || ' enviado'
                               WHEN 'ro' THEN 'Comanda ' || o.id || ' a fost expediată'
                               ELSE 'Order ' || o.id || ' has been shipped' END,
               s.carrier || ': ' || s.tracking, s.shipped_at, 'shop'
        FROM shipments s JOIN orders o ON o.id = s.order_id JOIN customers c ON c.id = o.customer_id
        WHERE s.shipped_at >= ? ORDER BY s.shipped_at, o.id
        """,
        (str(today - timedelta(days=7)),),
    )


@contextlib.contextmanager
def progress_bar() -> Generator[Report]:
    """Show a bar on standard error while the shop is made."""
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("making the shop")
        yield lambda done, total: progress.update(task, completed=done, total=total)


def main() -> None:
    """Make a shop from the command line."""
    parser = argparse.ArgumentParser(prog="python -m shop.generate", description=__doc__)
    parser.add_argument("path", nargs="?", default=DATABASE, type=Path, help="the file (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--today", type=date.fromisoformat, default=None, metavar="YYYY-MM-DD")
    parser.add_argument("--orders-per-month", type=int, default=ORDERS_PER_MONTH)
    parser.add_argument("--months", type=int, default=MONTHS)
    wanted = parser.parse_args()
    begin = datetime.now().astimezone()
    try:
        with progress_bar() as report:
            generate(
                wanted.path, seed=wanted.seed, today=wanted.today, orders_per_month=wanted.orders_per_month,
                months=wanted.months, report=report,
            )  # fmt: skip
    except ShopDataError as error:
        sys.exit(str(error))
    seconds = (datetime.now().astimezone() - begin).total_seconds()
    print(
        f"{wanted.path}: {wanted.orders_per_month * wanted.months:,} orders in {seconds:.1f} s, "
        f"{wanted.path.stat().st_size / 1e6:.0f} MB"
    )


if __name__ == "__main__":
    main()
