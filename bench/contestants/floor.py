"""The floor: what a careful person writes by hand without any gate. Parse, validate, await, dump."""

import asyncio
import json

import jiter
from pydantic import BaseModel, ConfigDict

from bench.contestants.serving import cpu, serve


class Arguments(BaseModel):
    """What the tool takes."""

    model_config = ConfigDict(extra="forbid", strict=True)
    product: str
    limit: int


class Stock(BaseModel):
    """What the tool gives back."""

    product: str
    units: int


async def check_stock(product: str, limit: int) -> Stock:
    """The tool."""
    return Stock(product=product, units=42 + limit)


async def call(arguments: str, history: list[dict[str, object]]) -> None:
    parsed = jiter.from_json(arguments.encode())
    valid = Arguments.model_validate(parsed)
    result = await check_stock(valid.product, valid.limit)
    history.append({"role": "tool", "content": result.model_dump_json()})


ARGUMENTS = json.dumps({"product": "arroz", "limit": 5})


async def run(calls: int) -> None:
    history: list[dict[str, object]] = [{"role": "user", "content": "how much rice?"}]
    for _ in range(calls):
        history.append({"role": "assistant", "content": None, "arguments": ARGUMENTS})
        await call(ARGUMENTS, history)
    history.append({"role": "assistant", "content": "Temos 47 unidades."})


async def one_call() -> float:
    return await cpu(lambda: run(1), 200)


async def next_call() -> float:
    return (await cpu(lambda: run(50), 20) - await cpu(lambda: run(1), 20)) / 49


async def parallel_call() -> float:
    async def batch() -> None:
        history: list[dict[str, object]] = []
        await asyncio.gather(*[call(ARGUMENTS, history) for _ in range(50)])

    return await cpu(batch, 10) / 50


async def turn_ratio() -> float:
    return (await cpu(lambda: run(410), 5) - await cpu(lambda: run(390), 5)) / (
        await cpu(lambda: run(60), 5) - await cpu(lambda: run(40), 5)
    )


if __name__ == "__main__":
    serve(
        {
            "one_call": one_call,
            "next_call": next_call,
            "parallel_call": parallel_call,
            "turn_ratio": turn_ratio,
        }
    )
