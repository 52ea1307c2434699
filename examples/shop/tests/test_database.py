import asyncio
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from shop.database import ShopDatabase
from shop.errors import ConflictError, ShopDataError
from shop.orders import find_order


def test_a_missing_shop_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(ShopDataError, match=r"python -m shop\.generate"):
        ShopDatabase(tmp_path / "none.db")


def test_a_file_that_is_no_shop_says_how_to_make_one(tmp_path: Path) -> None:
    (tmp_path / "shop.db").write_text("this is no database, and it is longer than a header")
    with pytest.raises(ShopDataError, match=r"python -m shop\.generate"):
        ShopDatabase(tmp_path / "shop.db")


def test_reading_cannot_write(shop: ShopDatabase) -> None:
    with pytest.raises(ShopDataError, match="readonly"):
        shop.read("DELETE FROM orders")


async def test_searching_cannot_write(shop: ShopDatabase) -> None:
    with pytest.raises(ShopDataError, match="readonly"):
        await shop.search("DELETE FROM orders")


async def test_what_fails_in_the_middle_of_a_write_is_undone_whole(shop: ShopDatabase) -> None:
    def half(connection: sqlite3.Connection) -> None:
        connection.execute("UPDATE orders SET status = 'cancelled' WHERE id = 8842")
        connection.execute("UPDATE orders SET status = 'eaten' WHERE id = 8842")

    with pytest.raises(ShopDataError, match="CHECK constraint"):
        await shop.write(half)
    order = await find_order(shop, 8842)
    assert order is not None
    assert order.status == "paid"


async def test_an_error_of_the_work_itself_comes_out_and_undoes_it(shop: ShopDatabase) -> None:
    def stopped(connection: sqlite3.Connection) -> None:
        connection.execute("UPDATE orders SET status = 'cancelled' WHERE id = 8842")
        raise KeyError("what the work says")

    with pytest.raises(KeyError, match="what the work says"):
        await shop.write(stopped)
    assert shop.read("SELECT status FROM orders WHERE id = 8842")[0]["status"] == "paid"


async def test_the_loop_goes_on_while_the_database_is_busy(
    open_shop: Callable[[], ShopDatabase], shop_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shop.database.BUSY_SECONDS", 0.2)
    shop = open_shop()
    other = sqlite3.connect(shop_file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    begin = time.monotonic()
    writing = asyncio.create_task(shop.write(lambda connection: connection.execute("DELETE FROM effects").rowcount))
    ticks = 0
    while not writing.done():
        await asyncio.sleep(0.01)
        ticks += 1
    other.close()

    with pytest.raises(ConflictError, match="busy; nothing was changed"):
        writing.result()
    assert ticks >= 5
    assert time.monotonic() - begin < 2


async def test_readers_see_what_was_written_at_once(shop: ShopDatabase) -> None:
    await shop.write(lambda connection: connection.execute("UPDATE orders SET status = 'cancelled' WHERE id = 8842"))
    order = await find_order(shop, 8842)
    assert order is not None
    assert order.status == "cancelled"
