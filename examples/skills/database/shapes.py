"""What the skill needs, takes and gives."""

from typing import Literal, Protocol

from pydantic import BaseModel

from placet.database.runner import QueryRunner

Question = Literal["orders_by_status", "best_products", "low_stock"]
"""The names in `queries.sql`; a test keeps the two equal."""


class Office(Protocol):
    """What the application has to give to this skill."""

    @property
    def runner(self) -> QueryRunner:
        """Runs statements on the shop's database, which it can only read."""
        ...


class Row(BaseModel):
    """One row: what, and how much of it."""

    name: str
    value: int


class Found(BaseModel):
    """What a question has found."""

    rows: list[Row]
    count: int


class Failure(BaseModel):
    """Why there is no answer.

    Attributes:
        code: The database's own, as PostgreSQL numbers them: `"42P01"`.
        hint: What it means, and what to do.
    """

    code: str
    hint: str
