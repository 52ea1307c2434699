"""The code of the skill."""

from typing import Annotated

from pydantic import Field

from placet import Context

from .shapes import Customer, Customers, Office, Status


async def execute(
    query: Annotated[str, Field(min_length=2, max_length=100, description="A name, an e-mail address, or an id.")],
    context: Context[Office],
    status: Annotated[Status | None, Field(description="Only customers of this status. Leave it out for all.")] = None,
    limit: Annotated[int, Field(ge=1, le=50, description="How many at most.")] = 10,
) -> Customers:
    """Find customers by name, e-mail address or id. Use to find out who somebody is, or a customer's id."""
    found = await context.deps.customers.search(query, status, limit + 1)
    return Customers(customers=[Customer.model_validate(one) for one in found[:limit]], more=len(found) > limit)
