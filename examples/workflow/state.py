"""The state: what is known while an answer is worked out. It is stored with the run."""

from pydantic import BaseModel, Field


class Plan(BaseModel):
    """Which notes are worth reading."""

    notes: list[str] = Field(description="names of notes, as list_notes gives them")


class Review(BaseModel):
    """What the reviewer says of a draft."""

    approved: bool
    comments: str = Field(default="", description="what has to change; empty when it is approved")


class Brief(BaseModel):
    """One question on its way to a published answer."""

    question: str = ""
    plan: Plan | None = None
    draft: str = ""
    review: Review | None = None
    rounds: int = 0
    published: str = ""
