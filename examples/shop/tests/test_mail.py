import pytest

from shop.database import ShopDatabase
from shop.errors import KeyReusedError, UnknownError
from shop.mail import Email, send_email


def sent(shop: ShopDatabase) -> list[tuple[str, str, str, str]]:
    rows = shop.read("SELECT customer_id, subject, body, sent_by FROM emails_sent WHERE sent_by <> 'shop'")
    return [(row[0], row[1], row[2], row[3]) for row in rows]


async def test_an_email_goes_to_the_address_that_the_shop_has(shop: ShopDatabase) -> None:
    email = await send_email(shop, "c17", "Atraso", "Chega na segunda.", by="s1")

    assert email == Email(
        id=email.id, customer_id="c17", recipient="ana.souza@example.com", subject="Atraso",
        sent_at="2026-11-29 10:00:00",
    )  # fmt: skip
    assert sent(shop) == [("c17", "Atraso", "Chega na segunda.", "s1")]


@pytest.mark.parametrize("customer", ["c999999", "c99", "ana.souza@example.com", ""])
async def test_nobody_writes_to_who_is_no_customer(shop: ShopDatabase, customer: str) -> None:
    with pytest.raises(UnknownError, match="there is no customer"):
        await send_email(shop, customer, "Hi", "Hello", by="s1")
    assert sent(shop) == []


async def test_the_same_key_sends_once(shop: ShopDatabase) -> None:
    first = await send_email(shop, "c17", "Hi", "Hello", by="s1", key="k")
    assert await send_email(shop, "c17", "Hi", "Hello", by="s1", key="k") == first
    with pytest.raises(KeyReusedError):
        await send_email(shop, "c18", "Hi", "Hello", by="s1", key="k")
    assert len(sent(shop)) == 1
