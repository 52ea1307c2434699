from datetime import UTC, datetime

import pytest

from shop.database import ShopDatabase
from shop.orders import Delivery, Order, OrderFilter, OrderStatus, find_order, list_orders, search_orders_by_email


async def order(shop: ShopDatabase, order_id: int) -> Order:
    found = await find_order(shop, order_id)
    assert found is not None
    return found


async def test_an_order_is_found_with_its_parcel(shop: ShopDatabase) -> None:
    found = await order(shop, 8842)

    assert (found.customer_id, found.items, found.total_text) == ("c17", 3, "R$ 412,90")
    assert (found.status, found.delivery) == (OrderStatus.PAID, Delivery.SHIPPED)
    assert found.shipment is not None
    assert found.shipment.tracking == "BR123456789BR"
    assert found.shipment.shipped_at == datetime(2026, 11, 14, 14, 5, tzinfo=UTC)


@pytest.mark.parametrize("number", [0, -8842, 999_999_999, 2**63, 10**40])
async def test_a_number_that_no_order_has_finds_none(shop: ShopDatabase, number: int) -> None:
    assert await find_order(shop, number) is None


@pytest.mark.parametrize(
    ("number", "delivery"),
    [(8850, Delivery.NOT_SHIPPED), (8842, Delivery.SHIPPED), (8731, Delivery.DELIVERED)],
)
async def test_the_parcel_says_where_it_is(shop: ShopDatabase, number: int, delivery: Delivery) -> None:
    assert (await order(shop, number)).delivery is delivery


@pytest.mark.parametrize(
    ("status", "numbers"),
    [
        (None, [8850, 8842, 8731, 8615]),
        (OrderFilter.PAID, [8850, 8842, 8731]),
        (OrderFilter.CANCELLED, [8615]),
        (OrderFilter.NOT_SHIPPED, [8850]),
        (OrderFilter.SHIPPED, [8842]),
        (OrderFilter.DELIVERED, [8731]),
        (OrderFilter.NOT_DELIVERED, [8850, 8842]),
        (OrderFilter.REFUNDED, []),
        (OrderFilter.PENDING, []),
    ],
)
async def test_a_customers_orders_are_listed_newest_first(
    shop: ShopDatabase, status: OrderFilter | None, numbers: list[int]
) -> None:
    assert [found.id for found in await list_orders(shop, "c17", status)] == numbers


async def test_everybodys_orders_are_listed_up_to_the_cap(shop: ShopDatabase) -> None:
    found = await list_orders(shop, None, OrderFilter.DELIVERED, limit=1000)

    assert len(found) == 50
    assert len({one.customer_id for one in found}) > 10
    assert all(one.delivery is Delivery.DELIVERED for one in found)


async def test_a_status_that_is_none_is_refused_before_the_database(shop: ShopDatabase) -> None:
    with pytest.raises(ValueError, match="not a valid OrderFilter"):
        await list_orders(shop, "c17", "1=1 OR ''")  # type: ignore[arg-type]  # what an attacker would send


async def test_orders_are_found_by_the_exact_address(shop: ShopDatabase) -> None:
    found = await search_orders_by_email(shop, " Ana.Souza@Example.com ")
    assert [one.id for one in found] == [8850, 8842, 8731, 8615]


@pytest.mark.parametrize(
    "email", ["%", "ana.souza%", "ana_souza@example.com", "ana.souza@", "", "' OR 1=1 --", "*@example.com"]
)
async def test_a_part_or_a_pattern_of_an_address_finds_nothing(shop: ShopDatabase, email: str) -> None:
    assert await search_orders_by_email(shop, email) == []
