"""Pricing: what the answers of models cost, and no budget of money where that cannot be known."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from placet.errors import ConfigurationError
from placet.ports import ModelAnswer, ModelClient
from placet.runtime.world import World
from placet.values.limits import Budget
from placet.values.price import Price, charge, find_price, has_price, is_free


def charged(world: World, model: ModelClient, answer: ModelAnswer) -> ModelAnswer:
    """Return an answer with what it costs; one that nobody can count or price says so."""
    free = is_free(model.name)
    if free and not world.prices:
        return answer
    usage = charge(answer.usage, find_price(world.prices, model.name), free=free)
    return answer if usage is answer.usage else replace(answer, usage=usage)


def check_prices(world: World, budget: Budget, model: ModelClient | None) -> None:
    """Check that a budget of money can be held by the models of an agent and of those that it may nest.

    Raises:
        ConfigurationError: It bounds the cost, and nobody knows what one of the models costs.
    """
    if budget.cost is None:
        return
    for name, prices in _models(world, model, {}):
        if not is_free(name) and not has_price(prices, name):
            raise ConfigurationError(
                f"a budget of {budget.cost} cost cannot be held: no price is known for the model {name!r}; give "
                f"prices={{{name!r}: Price.per_million(input='…', output='…')}}, or None in place of the price "
                "where the provider says in each answer what it charges"
            )


def _models(
    world: World, model: ModelClient | None, outer: Mapping[str, Price | None]
) -> Iterator[tuple[str, Mapping[str, Price | None]]]:
    prices = {**outer, **world.prices}
    if model is not None:
        yield model.name, prices
    for agent in world.agents.values():
        yield from _models(agent.world, agent.model, prices)
