"""What the sandbox must refuse and let through: `tests/cases`, with what they run against."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from placet.database.policy import DOTTED, Policy
from placet.database.relation import OpenData, Relation

CASES: Final = Path(__file__).parent.parent / "cases"


@dataclass(frozen=True, slots=True)
class Case:
    id: str
    sql: str
    expect: str
    why: str
    category: str
    dialect: str

    @property
    def is_allowed(self) -> bool:
        return self.expect == "allow"


def load_cases(dialect: str, name: str = "sql-sandbox.jsonl") -> list[Case]:
    return [case for case in (Case(**json.loads(line)) for line in load_lines(name)) if case.dialect == dialect]


def load_lines(name: str) -> list[str]:
    """Return the queries of a file that has one on each line."""
    return (CASES / name).read_text(encoding="utf-8").splitlines()


POSTGRES_CASES: Final = load_cases("postgres")
SQLITE_CASES: Final = load_cases("sqlite")
SYNTAX_CASES: Final = load_cases("postgres", "sql-syntax-postgres.jsonl")
"""Every way that a grammar of PostgreSQL 18 has to reach a function, a relation or a type, and honest uses of it."""

LEFT_TO_THE_DATABASE: Final = frozenset(
    {"pg-a-198", "pg-a-212", "pg-a-213", "pg-a-214", "pg-a-215", "pg-a-217", "pg-a-218", "pg-a-241"}
)
"""What no parser can judge: a value that is no number, cross joins, and recursion."""

RELATIONS: Final = tuple(
    Relation(name, "shop") for name in ("counties", "customers", "products", "orders", "order_items")
)
OPEN: Final = OpenData(RELATIONS)
POLICY: Final = Policy(functions=frozenset({"shop.vat"}), dotted=DOTTED | {"wipe"})


def schema_sql(orders: int) -> str:
    """Return the schema of the cases, with fewer orders than the 200,000 it was measured with."""
    sql = (CASES / "sql-sandbox-schema.sql").read_text(encoding="utf-8")
    products = max(10, orders // 200)
    sql = sql.replace("generate_series(1,1000)", f"generate_series(1,{products})")
    sql = sql.replace("random()*1000)::int", f"random()*{products})::int")
    sql = sql.replace("generate_series(1,200000)", f"generate_series(1,{orders})")
    return re.sub(r"\b20000\b", str(orders // 10), sql)
