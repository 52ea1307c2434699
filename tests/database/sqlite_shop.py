"""The SQLite database that the cases run against: two open tables, one hidden one, and a view."""

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Final

from placet.database.relation import Relation

COUNTIES: Final = {"CJ": "Cluj", "B": "București", "TM": "Timiș", "IS": "Iași", "MM": "Maramureș"}
OPEN_COLUMNS: Final = ("id", "customer_id", "status", "county_code", "ordered_at", "total", "meta")


def describe(*names: str) -> Mapping[str, str]:
    return dict.fromkeys(names, "")


RELATIONS: Final = (
    Relation("orders", columns=describe(*OPEN_COLUMNS)),
    Relation("counties"),
    Relation("masked_users", description="who has an account"),
)


def make_shop(path: Path, orders: int = 2_000) -> Path:
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript(
            """
            CREATE TABLE counties (code TEXT PRIMARY KEY, name TEXT NOT NULL);
            CREATE TABLE orders (
                id INTEGER PRIMARY KEY AUTOINCREMENT, customer_id INTEGER, status TEXT, county_code TEXT,
                ordered_at TEXT, total REAL, meta TEXT, secret_note TEXT
            );
            CREATE TABLE users (id INTEGER PRIMARY KEY, email TEXT, password TEXT);
            CREATE VIEW emails AS SELECT id, substr(email, 1, 1) || '***' AS email FROM users;
            CREATE VIEW masked_users AS SELECT id, email FROM emails WHERE id < 100;
            INSERT INTO users VALUES (1, 'ana@example.ro', 'hunter2'), (2, 'dan@example.ro', 'hunter3');
            """
        )
        database.executemany("INSERT INTO counties VALUES (?, ?)", COUNTIES.items())
        database.executemany(
            "INSERT INTO orders (customer_id, status, county_code, ordered_at, total, meta, secret_note)"
            " VALUES (?, ?, ?, ?, ?, ?, 'hunter4')",
            [
                (
                    number % 97,
                    ("paid", "shipped", "cancelled")[number % 3],
                    list(COUNTIES)[number % 5],
                    f"2025-{1 + number % 6:02}-{1 + number % 28:02}",
                    10 + number % 990,
                    '{"tier": "gold"}',
                )
                for number in range(orders)
            ],
        )
    database.close()
    return path
