import pytest

from shop.customers import CustomerStatus, find_customer, search_customers
from shop.database import ShopDatabase


async def test_a_customer_is_found_by_id(shop: ShopDatabase) -> None:
    found = await find_customer(shop, "c42")
    assert found is not None
    assert (found.name, found.county, found.language) == ("Ioana Pop", "Cluj", "ro")
    assert await find_customer(shop, "c%") is None


@pytest.mark.parametrize("query", ["Ana Souza", "souza ANA", "c17 souza", "ana.souza@example.com", "Aná SOUZA "])
async def test_every_word_counts_and_case_and_accents_do_not(shop: ShopDatabase, query: str) -> None:
    assert "c17" in [customer.id for customer in await search_customers(shop, query)]


async def test_whose_id_it_is_comes_first(shop: ShopDatabase) -> None:
    assert (await search_customers(shop, "c17"))[0].id == "c17"


@pytest.mark.parametrize("query", ["%", "_", "a%a", "an_ souza", "\\", "", "   ", "' OR ''='"])
async def test_wildcards_are_letters_like_any_other(shop: ShopDatabase, query: str) -> None:
    assert await search_customers(shop, query, limit=100, include_deleted=True) == []


async def test_closed_accounts_are_found_only_when_asked_for(shop: ShopDatabase) -> None:
    assert await search_customers(shop, "c99 ana lima") == []
    [closed] = await search_customers(shop, "c99 ana lima", include_deleted=True)
    assert (closed.id, closed.deleted) == ("c99", True)


async def test_a_status_narrows_it(shop: ShopDatabase) -> None:
    found = await search_customers(shop, "example", CustomerStatus.TRIAL, limit=100)
    assert found
    assert {customer.status for customer in found} == {CustomerStatus.TRIAL}


@pytest.mark.parametrize(("limit", "count"), [(3, 3), (0, 1), (-5, 1), (100_000, 100)])
async def test_no_search_returns_more_than_its_cap(shop: ShopDatabase, limit: int, count: int) -> None:
    assert len(await search_customers(shop, "example", limit=limit)) == count
