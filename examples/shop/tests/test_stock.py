import pytest

from shop.database import ShopDatabase
from shop.stock import PRODUCT_CAP, StockLevel, check_stock


async def test_there_are_forty_two_bags_of_rice(shop: ShopDatabase) -> None:
    assert await check_stock(shop, "arroz", language="pt-BR") == [
        StockLevel(
            sku="ARROZ-5KG", name="Arroz branco 5 kg", available=42,
            warehouses={"Cluj-Napoca": 12, "São Paulo": 30}, price=2990, currency="BRL",
        )
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("product", "sku"),
    [
        ("ARROZ-5KG", "ARROZ-5KG"),
        ("rice", "ARROZ-5KG"),
        ("Orez", "ARROZ-5KG"),
        ("cafea", "CAFE-500G"),
        ("feijão", "FEIJAO-1KG"),
        ("ulei de măsline", "AZEITE-500"),
        ("blue backpack", "MOCHILA"),
        ("a mochila azul", "MOCHILA"),
        ("rucsacul albastru", "MOCHILA"),
    ],
)
async def test_a_product_is_found_by_what_people_call_it(shop: ShopDatabase, product: str, sku: str) -> None:
    assert [level.sku for level in await check_stock(shop, product)] == [sku]


@pytest.mark.parametrize("product", ["unobtainium", "%", "_", "", " ", "' OR 1=1 --"])
async def test_what_the_shop_does_not_sell_finds_nothing(shop: ShopDatabase, product: str) -> None:
    assert await check_stock(shop, product) == []


async def test_prices_are_those_of_the_country(shop: ShopDatabase) -> None:
    [level] = await check_stock(shop, "arroz", language="ro", country="RO")
    assert (level.name, level.price, level.currency) == ("Orez alb 5 kg", 3190, "RON")


async def test_a_word_that_many_products_have_is_cut_at_the_cap(shop: ShopDatabase) -> None:
    assert len(await check_stock(shop, "kg")) == PRODUCT_CAP
