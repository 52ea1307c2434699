import sqlite3
from datetime import date, timedelta
from pathlib import Path

import pytest

from shop.database import ShopDatabase
from shop.errors import ShopDataError
from shop.generate import generate
from shop.invent import months_before
from shop.people import the_14th

TABLES = (
    "customers", "products", "stock", "orders", "order_items", "shipments", "refunds", "emails_sent", "staff",
    "payroll",
)  # fmt: skip


def rows(path: Path, sql: str) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(path)
    found = connection.execute(sql).fetchall()
    connection.close()
    return found


def content(path: Path) -> list[list[tuple[object, ...]]]:
    return [rows(path, f"SELECT * FROM {table} ORDER BY 1, 2") for table in TABLES]  # noqa: S608 - names from this file


def make(path: Path, *, seed: int = 7, today: date = date(2026, 3, 31)) -> Path:
    generate(path, seed=seed, today=today, orders_per_month=60, months=3)
    return path


def test_the_same_seed_and_day_make_the_same_shop(tmp_path: Path) -> None:
    assert content(make(tmp_path / "a.db")) == content(make(tmp_path / "b.db"))


def test_another_seed_makes_another_shop(tmp_path: Path) -> None:
    assert content(make(tmp_path / "a.db")) != content(make(tmp_path / "b.db", seed=8))


def test_every_month_has_as_many_orders_and_none_lies_in_the_future(tmp_path: Path) -> None:
    path = make(tmp_path / "a.db")

    dealt = rows(
        path,
        """
        SELECT CASE WHEN placed_at < '2026-01-31' THEN 1 WHEN placed_at < '2026-02-28' THEN 2 ELSE 3 END AS month,
               min(placed_at) >= '2025-12-31', max(placed_at) < '2026-03-31', count(*)
        FROM orders o JOIN customers c ON c.id = o.customer_id
        WHERE c.id NOT IN ('c17', 'c18', 'c42', 'c77', 'c99') GROUP BY 1
        """,
    )
    assert dealt == [(1, 1, 1, 60), (2, 1, 1, 60), (3, 1, 1, 60)]


def test_an_order_costs_what_its_items_cost(made_once: Path) -> None:
    wrong = "SELECT o.id FROM orders o JOIN order_items i ON i.order_id = o.id GROUP BY 1"
    assert rows(made_once, f"{wrong} HAVING o.total <> sum(i.quantity * i.unit_price)") == []


def test_a_refunded_order_is_paid_back_whole_and_no_other_is(made_once: Path) -> None:
    wrong = """
        SELECT o.id FROM orders o LEFT JOIN refunds r ON r.order_id = o.id GROUP BY 1
        HAVING (o.status = 'refunded') <> (coalesce(sum(r.amount), 0) = o.total) OR sum(r.amount) > o.total
    """
    assert rows(made_once, wrong) == []


def test_parcels_leave_after_the_order_and_arrive_before_today(made_once: Path) -> None:
    wrong = """
        SELECT * FROM shipments s JOIN orders o ON o.id = s.order_id
        WHERE s.shipped_at <= o.placed_at OR s.shipped_at >= '2026-11-29' OR s.delivered_at >= '2026-11-29'
           OR o.status IN ('pending', 'cancelled')
    """
    assert rows(made_once, wrong) == []


def test_the_foreign_keys_of_a_made_shop_hold(made_once: Path) -> None:
    assert rows(made_once, "PRAGMA foreign_key_check") == []
    assert rows(made_once, "PRAGMA integrity_check") == [("ok",)]


def test_order_8842_is_paid_and_left_on_the_14th(made_once: Path) -> None:
    found = rows(
        made_once,
        """
        SELECT o.customer_id, o.status, o.total, o.currency, sum(i.quantity), s.carrier, s.tracking,
               date(s.shipped_at), s.delivered_at
        FROM orders o JOIN order_items i ON i.order_id = o.id JOIN shipments s ON s.order_id = o.id WHERE o.id = 8842
        """,
    )
    assert found == [("c17", "paid", 41290, "BRL", 3, "Correios", "BR123456789BR", "2026-11-14", None)]


def test_the_14th_is_always_over_and_never_more_than_a_month_ago() -> None:
    for day in (date(2026, 1, 1) + timedelta(days=number) for number in range(800)):
        sent = the_14th(day)
        assert sent.day == 14
        assert timedelta(0) < day - sent <= timedelta(days=31)


@pytest.mark.parametrize(
    ("day", "months", "before"),
    [
        (date(2026, 11, 29), 6, date(2026, 5, 29)),
        (date(2026, 3, 31), 1, date(2026, 2, 28)),
        (date(2026, 1, 15), 1, date(2025, 12, 15)),
        (date(2028, 8, 31), 6, date(2028, 2, 29)),
        (date(2026, 12, 31), 0, date(2026, 12, 31)),
    ],
)
def test_months_before_stays_in_the_month(day: date, months: int, before: date) -> None:
    assert months_before(day, months) == before


def test_customers_live_in_both_countries_and_some_in_cluj(made_once: Path) -> None:
    lives = {(country, county) for country, county in rows(made_once, "SELECT country, county FROM customers")}
    assert {("RO", "Cluj"), ("BR", "São Paulo")} <= lives


def test_progress_is_told_up_to_the_whole(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []

    def report(done: int, total: int) -> None:
        told.append((done, total))

    generate(tmp_path / "a.db", today=date(2026, 3, 31), orders_per_month=30, months=2, report=report)
    assert told == [(0, 60), (60, 60)]


def test_a_shop_is_replaced_whole(shop_file: Path) -> None:
    ShopDatabase(shop_file).close()
    make(shop_file)
    assert rows(shop_file, "SELECT max(placed_at) < '2026-03-31' FROM orders") == [(1,)]
    assert [path.name for path in shop_file.parent.iterdir()] == ["shop.db"]


def test_a_file_that_is_no_shop_is_not_replaced(tmp_path: Path) -> None:
    letter = tmp_path / "letter.txt"
    letter.write_text("Dear Ana")
    with pytest.raises(ShopDataError, match="no shop; choose another name"):
        make(letter)
    assert letter.read_text() == "Dear Ana"


def test_what_cannot_be_written_is_said_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ShopDataError, match="no shop can be made"):
        make(tmp_path / "file" / "shop.db")
