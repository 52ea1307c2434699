"""One named query, as its file says: a value."""

from dataclasses import dataclass, field
from typing import Final

from placet.database.parameters import Parameter
from placet.values.tool import Effect

SOURCES: Final = ("principal.id", "principal.attributes.…", "language", "idempotency_key", "run_id")
"""Where a bound value may come from. A call that no run makes has no `run_id`."""


@dataclass(frozen=True, slots=True)
class Bind:
    """A value that the runtime binds.

    Attributes:
        parameter: Its name and type.
        source: Where it comes from, one of `SOURCES`.
    """

    parameter: Parameter
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One named query, as its file says.

    Attributes:
        name: Of the tool.
        description: For the model.
        sql: With `:name` for values and `{name}` for variants.
        effect: What it does to the world.
        parameters: What the model sends.
        binds: What the runtime binds.
        variants: By parameter, the text for each choice.
        returns_one: Whether it gives one row, as an object.
        rows: How many are shown, or None for the cap of the connection.
        roles: Who may call it, or None where a policy says.
        limits: How often.
        authorise: Name of the function that authorises it.
        approval: Name of the rule by which it needs a yes.
        waiver: Why it needs neither.
        redact: What is kept out of logs.
        progress: What a person reads while it runs, by language.
        answer: What a person reads afterwards, by language.
        where: File and line, for messages.
    """

    name: str
    description: str
    sql: str
    effect: Effect = Effect.READ
    parameters: tuple[Parameter, ...] = ()
    binds: tuple[Bind, ...] = ()
    variants: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    returns_one: bool = False
    rows: int | None = None
    roles: frozenset[str] | None = None
    limits: tuple[str, ...] = ()
    authorise: str | None = None
    approval: str | None = None
    waiver: str | None = None
    redact: frozenset[str] = frozenset()
    progress: dict[str, str] = field(default_factory=dict[str, str])
    answer: dict[str, str] = field(default_factory=dict[str, str])
    where: str = ""
