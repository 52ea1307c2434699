import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from shop.changes import OrderChange, cancel_order, change_address, refund_order
from shop.database import ShopDatabase
from shop.errors import ConflictError, KeyReusedError, NotPossibleError, UnknownError
from shop.orders import Delivery, Order, OrderStatus, find_order


async def order(shop: ShopDatabase, order_id: int) -> Order:
    found = await find_order(shop, order_id)
    assert found is not None
    return found


def paid_back(shop: ShopDatabase, order_id: int) -> list[tuple[Any, ...]]:
    rows = shop.read("SELECT amount, reason, refunded_by FROM refunds WHERE order_id = ?", order_id)
    return [tuple(row) for row in rows]


async def test_cancelling_pays_back_and_recalls_the_parcel(shop: ShopDatabase) -> None:
    change = await cancel_order(shop, 8842, expected_version=1, by="s1")

    assert change == OrderChange(
        order_id=8842, status=OrderStatus.CANCELLED, refunded=41290, currency="BRL", recalled=True,
        address="Rua das Flores, 120, Campinas", version=2,
    )  # fmt: skip
    assert (await order(shop, 8842)).delivery is Delivery.RECALLED
    assert paid_back(shop, 8842) == [(41290, "cancelled", "s1")]


async def test_cancelling_what_was_not_sent_puts_it_back_on_the_shelf(shop: ShopDatabase) -> None:
    shelf = "SELECT available FROM stock WHERE sku = 'ARROZ-5KG' ORDER BY warehouse"
    assert [row[0] for row in shop.read(shelf)] == [12, 30]
    await cancel_order(shop, 8850, expected_version=1, by="s1")
    assert [row[0] for row in shop.read(shelf)] == [12, 32]


async def test_cancelling_what_was_not_paid_pays_nothing_back(shop: ShopDatabase) -> None:
    change = await cancel_order(shop, 13, expected_version=1, by="s1")
    assert (change.status, change.refunded, paid_back(shop, 13)) == (OrderStatus.CANCELLED, 0, [])


async def test_cancelling_pays_back_only_what_is_left(shop: ShopDatabase) -> None:
    await refund_order(shop, 8842, 1290, "dented", expected_version=1, by="f1")
    change = await cancel_order(shop, 8842, expected_version=2, by="s1")
    assert change.refunded == 40000


@pytest.mark.parametrize(
    ("number", "why"),
    [(8615, "is cancelled already"), (7001, "is refunded already"), (8731, "was delivered; refund it instead")],
)
async def test_what_is_over_cannot_be_cancelled(shop: ShopDatabase, number: int, why: str) -> None:
    with pytest.raises(NotPossibleError, match=why):
        await cancel_order(shop, number, expected_version=1, by="s1")
    assert (await order(shop, number)).version == 1


async def test_a_part_is_refunded_and_the_order_stays_paid(shop: ShopDatabase) -> None:
    change = await refund_order(shop, 8842, 4990, "broken cup", expected_version=1, by="f1")

    assert (change.status, change.refunded) == (OrderStatus.PAID, 4990)
    assert (await order(shop, 8842)).refunded == 4990
    assert paid_back(shop, 8842) == [(4990, "broken cup", "f1")]


async def test_refunding_the_rest_makes_it_refunded(shop: ShopDatabase) -> None:
    await refund_order(shop, 8842, 290, "", expected_version=1, by="f1")
    change = await refund_order(shop, 8842, 41000, "", expected_version=2, by="f1")
    assert change.status is OrderStatus.REFUNDED


@pytest.mark.parametrize("amount", [0, -1, 41291, 10**30])
async def test_no_more_than_the_order_and_no_less_than_something_is_refunded(shop: ShopDatabase, amount: int) -> None:
    with pytest.raises(NotPossibleError, match=r"at most R\$ 412,90"):
        await refund_order(shop, 8842, amount, "", expected_version=1, by="f1")
    assert paid_back(shop, 8842) == []


@pytest.mark.parametrize("number", [13, 8615, 7001])
async def test_only_a_paid_order_is_refunded(shop: ShopDatabase, number: int) -> None:
    with pytest.raises(NotPossibleError, match="only a paid order"):
        await refund_order(shop, number, 100, "", expected_version=1, by="f1")


async def test_an_address_is_changed_while_the_parcel_is_here(shop: ShopDatabase) -> None:
    change = await change_address(shop, 8850, "Rua da Paz, 8, Niterói", expected_version=1)
    assert change.address == "Rua da Paz, 8, Niterói"
    assert (await order(shop, 8850)).address == "Rua da Paz, 8, Niterói"


@pytest.mark.parametrize(("number", "why"), [(8842, "has left"), (8615, "is cancelled")])
async def test_an_address_is_not_changed_when_it_is_too_late(shop: ShopDatabase, number: int, why: str) -> None:
    with pytest.raises(NotPossibleError, match=why):
        await change_address(shop, number, "Rua da Paz, 8", expected_version=1)


Change = Callable[[ShopDatabase, int, int], Awaitable[OrderChange]]


def cancel(shop: ShopDatabase, number: int, version: int) -> Awaitable[OrderChange]:
    return cancel_order(shop, number, expected_version=version, by="s1")


def refund(shop: ShopDatabase, number: int, version: int) -> Awaitable[OrderChange]:
    return refund_order(shop, number, 100, "", expected_version=version, by="f1")


def move(shop: ShopDatabase, number: int, version: int) -> Awaitable[OrderChange]:
    return change_address(shop, number, "Rua da Paz, 8", expected_version=version)


CHANGES: list[Change] = [cancel, refund, move]


@pytest.mark.parametrize("change", CHANGES)
async def test_a_change_that_rests_on_an_older_version_is_a_conflict(shop: ShopDatabase, change: Change) -> None:
    await change_address(shop, 8850, "Rua Tiradentes, 1", expected_version=1)
    with pytest.raises(ConflictError, match="has changed meanwhile"):
        await change(shop, 8850, 1)
    assert (await order(shop, 8850)).version == 2


@pytest.mark.parametrize("change", CHANGES)
async def test_an_order_that_is_not_there_cannot_be_changed(shop: ShopDatabase, change: Change) -> None:
    with pytest.raises(UnknownError, match="there is no order 999999999"):
        await change(shop, 999_999_999, 1)


async def test_of_many_who_refund_at_once_one_wins(open_shop: Callable[[], ShopDatabase]) -> None:
    shops = [open_shop() for _ in range(4)]
    ends = await asyncio.gather(
        *(refund_order(shop, 8842, 41290, "", expected_version=1, by="f1") for shop in shops for _ in range(3)),
        return_exceptions=True,
    )
    assert sum(isinstance(end, OrderChange) for end in ends) == 1
    assert sum(isinstance(end, ConflictError) for end in ends) == 11
    assert paid_back(shops[0], 8842) == [(41290, "", "f1")]


async def test_what_has_the_same_key_is_done_once_and_answered_again(shop: ShopDatabase) -> None:
    first = await refund_order(shop, 8842, 500, "late", expected_version=1, by="f1", key="k")
    again = await refund_order(shop, 8842, 500, "late", expected_version=1, by="f1", key="k")
    assert again == first
    assert paid_back(shop, 8842) == [(500, "late", "f1")]


async def test_a_key_counts_for_nothing_else(shop: ShopDatabase) -> None:
    await refund_order(shop, 8842, 500, "late", expected_version=1, by="f1", key="k")
    with pytest.raises(KeyReusedError, match="'k' was used for another refund_order"):
        await refund_order(shop, 8842, 600, "late", expected_version=1, by="f1", key="k")
    with pytest.raises(KeyReusedError):
        await cancel_order(shop, 8842, expected_version=2, by="s1", key="k")


async def test_a_refused_change_does_not_use_up_its_key(shop: ShopDatabase) -> None:
    with pytest.raises(ConflictError):
        await cancel_order(shop, 8842, expected_version=7, by="s1", key="k")
    assert (await cancel_order(shop, 8842, expected_version=1, by="s1", key="k")).status is OrderStatus.CANCELLED


async def test_a_wish_repeated_under_its_key_is_answered_whatever_version_is_seen_by_then(shop: ShopDatabase) -> None:
    first = await cancel_order(shop, 8842, expected_version=1, by="s1", key="k")
    assert await cancel_order(shop, 8842, expected_version=2, by="s1", key="k") == first
