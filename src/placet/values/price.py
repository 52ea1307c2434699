"""Price: what a model's tokens cost. Given by whoever pays; placet knows no price of any model."""

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Final

from placet.errors import ConfigurationError
from placet.values.construction import dataclass
from placet.values.run import Usage

_MILLION: Final = Decimal(1_000_000)
_FREE: Final = frozenset({"local", "scripted", "replay"})
"""Kinds of models of which nobody counts tokens, because nobody charges for them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What a million tokens of one model cost, in any one currency.

    Attributes:
        input: Tokens read.
        output: Tokens written, reasoning included.
        cached: Tokens read from the provider's cache; None: as much as others.
        written: Tokens read that the provider has put into its cache; None: as much as others.

    Raises:
        ConfigurationError: An amount is no number of zero or more.
    """

    input: Decimal
    output: Decimal
    cached: Decimal | None = None
    written: Decimal | None = None

    def __post_init__(self) -> None:
        for name in ("input", "output", "cached", "written"):
            amount = getattr(self, name)
            if amount is not None and not (isinstance(amount, Decimal) and amount.is_finite() and amount >= 0):
                msg = f"a price of {amount!r} for {name} is none; write Price.per_million({name}='0.25', …)"
                raise ConfigurationError(msg)

    @staticmethod
    def per_million(
        *,
        input: Decimal | int | str,  # noqa: A002 - the providers' word
        output: Decimal | int | str,
        cached: Decimal | int | str | None = None,
        written: Decimal | int | str | None = None,
    ) -> "Price":
        """Return a price from amounts as price lists write them: `Price.per_million(input="0.25", output="2")`.

        Raises:
            ConfigurationError: An amount is no number of zero or more, or a float, which is not exact.
        """
        return Price(
            input=_amount("input", input),
            output=_amount("output", output),
            cached=None if cached is None else _amount("cached", cached),
            written=None if written is None else _amount("written", written),
        )

    def of(self, usage: Usage) -> Decimal:
        """Return what tokens cost, in the currency of the price."""
        cached, written = self.input if self.cached is None else self.cached, self.written
        plain = max(0, usage.input_tokens - usage.cached_tokens - usage.written_tokens)
        millionths = plain * self.input + usage.cached_tokens * cached + usage.output_tokens * self.output
        millionths += usage.written_tokens * (self.input if written is None else written)
        return millionths / _MILLION


def _amount(name: str, value: object) -> Decimal:
    if isinstance(value, Decimal):
        return value
    if isinstance(value, int | str) and not isinstance(value, bool):
        try:
            return Decimal(value)
        except InvalidOperation:
            pass
    raise ConfigurationError(f"a price of {value!r} for {name} is none; write a text or a Decimal, as {name}='0.25'")


def find_price(prices: Mapping[str, Price | None], model: str) -> Price | None:
    """Return the price of a model by its id, or None; asked by the text protocol it costs the same."""
    return prices.get(_priced_id(prices, model))


def has_price(prices: Mapping[str, Price | None], model: str) -> bool:
    """Whether it is said what a model costs, be it that its provider says so itself."""
    return _priced_id(prices, model) in prices


def _priced_id(prices: Mapping[str, Price | None], model: str) -> str:
    while model not in prices and model.startswith("text-"):
        model = model.partition(":")[2]
    return model


@lru_cache(maxsize=1024)
def is_free(model: str) -> bool:
    """Whether nobody charges for a model of this id: the embedded one, a script, a recording."""
    kind, _, rest = model.partition(":")
    return is_free(rest) if kind.startswith("text-") else kind in _FREE


def charge(usage: Usage, price: Price | None, *, free: bool) -> Usage:
    """Return what one answer has used up with its cost, or marked as one whose tokens or cost nobody knows.

    Args:
        usage: What the provider has counted.
        price: Of the model. None: what the provider says that it charges, if it says so.
        free: Whether nobody charges for the model, so that what is not counted is nothing.
    """
    uncounted = 0 if free or usage.input_tokens else 1
    if price is not None:
        unpriced, cost = uncounted, price.of(usage)
    else:
        unpriced, cost = 0 if free or usage.cost else 1, usage.cost
    if not uncounted and not unpriced and cost == usage.cost:
        return usage
    return replace(usage, cost=cost, uncounted=uncounted, unpriced=unpriced)
