"""What the model may send: the types of the tools' arguments, and nothing beside them."""

import re
from decimal import Decimal
from typing import Annotated

from pydantic import BeforeValidator, Field, WithJsonSchema


def _order_number(value: object) -> object:
    """Return the number that a text of digits says; anything else is left to the type."""
    if isinstance(value, str):
        if not re.fullmatch(r"[0-9]{1,18}", value):
            raise ValueError("an order number is digits alone, for instance 8842")
        return int(value)
    return value


OrderId = Annotated[
    int,
    BeforeValidator(_order_number),
    Field(ge=1, lt=10**18),
    WithJsonSchema({"type": "integer", "minimum": 1, "description": "The number of the order, for instance 8842."}),
]
CustomerId = Annotated[
    str, Field(pattern=r"^c[1-9][0-9]{0,9}$", description="The customer's id: the letter c and a number, as in c17.")
]
Amount = Annotated[
    Decimal,
    Field(gt=0, max_digits=12, decimal_places=2),
    WithJsonSchema({
        "type": "number", "exclusiveMinimum": 0,
        "description": "How much to pay back, in the order's own currency, for instance 49.90.",
    }),
]  # fmt: skip
