"""What the skill needs, takes and gives."""

from collections.abc import Sequence
from typing import Literal, Protocol

from pydantic import BaseModel, ConfigDict

Status = Literal["active", "inactive", "trial"]


class CustomerSource(Protocol):
    """Looks for customers."""

    async def search(self, query: str, status: Status | None, limit: int) -> Sequence[object]:
        """Return customers with the fields of `Customer`, and perhaps others; at most so many."""
        ...


class Office(Protocol):
    """What the application has to give to this skill."""

    @property
    def customers(self) -> CustomerSource:
        """The customers."""
        ...


class Customer(BaseModel):
    """One customer, as support is told: nothing else that the source knows leaves the skill."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    name: str
    email: str
    status: Status
    language: str


class Customers(BaseModel):
    """Those who were found, and whether there are others."""

    customers: list[Customer]
    more: bool
