"""A sandbox's plan: what is open, to whom, and how much may be asked. One YAML file.

```yaml
database: shop
role: llm_ro
owner: shop_owner
schema: api
time_zone: Europe/Bucharest
relations:
  orders:
    description: One row for each order.
    from: core.orders
    where: tenant_id = 1
    columns:
      id: the number on the invoice
      total: in lei, with VAT
functions: [api.vat]
caps: {timeout: 3, rows: 200}
```

`placet sql setup` prints the SQL that makes it true, `placet sql check` looks whether it is.
"""

from datetime import timedelta
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from placet.database.caps import Caps
from placet.database.relation import Relation, nearest
from placet.database.text_file import read_text
from placet.errors import ConfigurationError
from placet.values.yaml import read_yaml


class RelationPlan(BaseModel):
    """One relation that is open.

    Attributes:
        description: What a row is, for the model.
        columns: What the columns hold, by name. For SQLite, and for a view that is made, these
            are the columns that are open.
        source: PostgreSQL: the table behind the view, as `schema.table`.
        where: PostgreSQL: which of its rows, an SQL condition.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    description: str = ""
    columns: dict[str, str] = Field(default_factory=dict)
    source: str | None = Field(default=None, alias="from")
    where: str | None = None


class SandboxPlan(BaseModel):
    """A whole sandbox.

    Attributes:
        database: PostgreSQL: its name.
        role: PostgreSQL: the login of the sandbox, its own.
        owner: PostgreSQL: the role that owns the views.
        api_schema: PostgreSQL: the schema of the views, with nothing else in it. YAML: `schema`.
        time_zone: PostgreSQL: in which days begin.
        relations: By name.
        functions: Functions that are granted besides the lists.
        caps: Some of `placet.database.caps.Caps`; times in seconds.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    database: str = ""
    role: str = "llm_ro"
    owner: str = "api_owner"
    api_schema: str = Field(default="api", alias="schema")
    time_zone: str = "UTC"
    relations: dict[str, RelationPlan] = Field(min_length=1)
    functions: tuple[str, ...] = ()
    caps: dict[str, float] = Field(default_factory=dict)

    def open_relations(self) -> tuple[Relation, ...]:
        """Return the relations.

        Raises:
            ConfigurationError: One has a name of the catalog.
        """
        return tuple(
            Relation(name, self.api_schema, planned.description, planned.columns)
            for name, planned in self.relations.items()
        )

    def open_caps(self) -> Caps:
        """Return the caps.

        Raises:
            ConfigurationError: One is unknown, or out of its bounds.
        """
        known = Caps()
        stated: dict[str, Any] = {}
        for name, value in self.caps.items():
            if name not in Caps.__slots__:
                raise ConfigurationError(f"there is no cap {name!r}; there are {', '.join(Caps.__slots__)}")
            standard = getattr(known, name)
            stated[name] = timedelta(seconds=value) if isinstance(standard, timedelta) else type(standard)(value)
        return Caps(**stated)


def read_plan(text: str, name: str = "the plan") -> SandboxPlan:
    """Return the plan that a YAML text states.

    Args:
        text: YAML.
        name: What to call it when something is wrong.

    Raises:
        ConfigurationError: It is no YAML, has a key twice, or states something unknown. The message says where.
    """
    try:
        stated = read_yaml(text)
        if not isinstance(stated, dict):
            raise ConfigurationError(f"{name} states nothing; write `relations`, with the columns of each")
        return SandboxPlan.model_validate(stated)
    except yaml.YAMLError as error:
        raise ConfigurationError(f"{name} is no YAML: {error}") from error
    except ValidationError as error:
        raise ConfigurationError(f"{name}{_explain(error)}") from error


def _explain(error: ValidationError) -> str:
    """Return what is wrong first. A key that nobody knows comes before one that is missing: it may be the same."""
    first = min(error.errors(), key=lambda one: one["type"] != "extra_forbidden")
    place = [str(part) for part in first["loc"]]
    where = f", at {'.'.join(place)}: "
    if first["type"] in ("dict_type", "model_type"):
        return f"{where}write names, each with what stands under it, as {{id: the number on the invoice}}"
    if first["type"] == "too_short":
        return f"{where}nothing is open, so nothing could be asked; name at least one"
    if first["type"] != "extra_forbidden":
        return f"{where}{first['msg']}"
    model = RelationPlan if place[0] == "relations" and len(place) > 1 else SandboxPlan
    known = [field.alias or word for word, field in model.model_fields.items()]
    near = nearest(place[-1], known)
    mend = f"is {near[0]!r} meant?" if near else f"there are {', '.join(known)}"
    return f"{where}nothing is called so; {mend}"


def load_plan(path: Path | str) -> SandboxPlan:
    """Return the plan in a YAML file.

    Raises:
        ConfigurationError: There is no such file, it is no UTF-8, or it states something unknown.
    """
    return read_plan(read_text(Path(path), "the plan"), f"the plan {str(path)!r}")
