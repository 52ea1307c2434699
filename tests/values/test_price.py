"""Prices: exact, given by whoever pays, and never a guess."""

from decimal import Decimal
from typing import Any

import pytest

from placet.errors import ConfigurationError
from placet.values.limits import Budget
from placet.values.price import Price, charge, find_price, has_price, is_free
from placet.values.run import Usage

PRICE = Price.per_million(input="2", output="8", cached="0.20", written="2.50")


def test_each_kind_of_token_has_its_price() -> None:
    usage = Usage(input_tokens=1_000_000, cached_tokens=600_000, written_tokens=100_000, output_tokens=250_000)

    assert PRICE.of(usage) == Decimal("0.6") + Decimal("0.12") + Decimal("0.25") + Decimal(2)


def test_reasoning_is_part_of_what_is_written() -> None:
    assert PRICE.of(Usage(output_tokens=500_000, reasoning_tokens=400_000)) == Decimal(4)


def test_what_has_no_price_of_its_own_costs_as_much_as_other_input() -> None:
    usage = Usage(input_tokens=1_000_000, cached_tokens=500_000, written_tokens=500_000)

    assert Price.per_million(input="2", output="8").of(usage) == 2


def test_a_million_small_amounts_lose_nothing() -> None:
    tenth = Usage(cost=Decimal("0.1"))

    assert sum((tenth for _ in range(30)), Usage()).cost == 3


@pytest.mark.parametrize("amount", ["-1", "NaN", "Infinity", "much", 0.25, True])
def test_what_is_no_exact_amount_is_no_price(amount: Any) -> None:
    with pytest.raises(ConfigurationError, match="price"):
        Price.per_million(input=amount, output="1")


@pytest.mark.parametrize("amount", ["0", "-1", "NaN", Decimal("NaN"), "Infinity", "much", True])
def test_what_is_no_amount_is_no_budget(amount: Any) -> None:
    with pytest.raises(ConfigurationError, match="budget"):
        Budget(cost=amount)


def test_the_text_protocol_costs_what_its_model_costs() -> None:
    prices = {"openai:m": PRICE, "openai:own": None}

    assert find_price(prices, "text-fenced:openai:m") is PRICE
    assert find_price(prices, "openai:m2") is None
    assert has_price(prices, "text-plain:openai:own")
    assert not has_price(prices, "text-plain:openai:other")


@pytest.mark.parametrize(
    ("model", "free"),
    [("local:needle-3", True), ("scripted:", True), ("replay:a.jsonl", True), ("text-plain:local:x", True),
     ("openai:local", False), ("locals:x", False)],
)  # fmt: skip
def test_only_what_nobody_charges_for_is_free(model: str, free: bool) -> None:
    assert is_free(model) is free


@pytest.mark.parametrize(
    ("usage", "price", "expected"),
    [
        pytest.param(Usage(input_tokens=10), PRICE, (Decimal("0.00002"), 0, 0), id="priced"),
        pytest.param(Usage(input_tokens=10), None, (0, 0, 1), id="without a price"),
        pytest.param(Usage(), PRICE, (0, 1, 1), id="nothing was counted"),
        pytest.param(Usage(output_tokens=10), PRICE, (Decimal("0.00008"), 1, 1), id="what was read was not counted"),
        pytest.param(Usage(input_tokens=10, cost=Decimal("0.5")), None, (Decimal("0.5"), 0, 0), id="as charged"),
        pytest.param(Usage(input_tokens=10, cost=Decimal("0.5")), PRICE, (Decimal("0.00002"), 0, 0), id="as given"),
    ],
)
def test_what_nobody_knows_is_counted_as_such(
    usage: Usage, price: Price | None, expected: tuple[Decimal, int, int]
) -> None:
    charged = charge(usage, price, free=False)

    assert (charged.cost, charged.uncounted, charged.unpriced) == expected


def test_what_is_free_is_never_unknown() -> None:
    assert charge(Usage(), None, free=True) == Usage()
