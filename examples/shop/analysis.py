"""Questions of an analyst: a read-only sandbox over the shop's own file, with hard limits.

What a question may read stands here, column by column: no names, no addresses, no e-mail, and
nothing of `payroll`, whatever the question looks like.
"""

from pathlib import Path
from typing import Final

from placet.database.relation import Relation
from placet.database.sqlite_sandbox import SqliteSandbox
from placet.database.tools import sandbox_tools
from placet.tools.tool import Tool

OPEN: Final = (
    Relation(
        "orders",
        description="One order. Money is in hundredths of its currency.",
        columns={
            "id": "number of the order",
            "customer_id": "who ordered",
            "status": "pending, paid, cancelled or refunded",
            "currency": "BRL or RON",
            "total": "in hundredths: 41290 is 412.90",
            "country": "BR or RO",
            "county": "a Romanian județ such as Cluj, or a Brazilian state such as Bahia",
            "placed_at": "UTC, as 2026-11-14 09:30:00",
        },
    ),
    Relation(
        "order_items",
        description="One line of an order.",
        columns={"order_id": "", "line": "", "sku": "", "quantity": "", "unit_price": "in hundredths"},
    ),
    Relation(
        "customers",
        description="One customer, without anything that says who it is.",
        columns={
            "id": "",
            "plan": "basic, plus or business",
            "status": "",
            "country": "",
            "county": "",
            "created_at": "",
        },
    ),
    Relation(
        "products",
        description="One product.",
        columns={
            "sku": "",
            "name_pt": "",
            "name_ro": "",
            "name_en": "",
            "price_brl": "hundredths",
            "price_ron": "hundredths",
        },
    ),
    Relation(
        "shipments",
        description="The parcel of an order.",
        columns={"order_id": "", "carrier": "", "shipped_at": "", "delivered_at": "null until it is there"},
    ),
)


def analysis_tools(database: Path) -> tuple[Tool, Tool]:
    """Return `ask_data` and `describe_data` over the shop's file, for analysts.

    Raises:
        ConfigurationError: There is no shop there.
    """
    sandbox = SqliteSandbox(database, OPEN)
    return sandbox_tools(sandbox, roles={"analyst"}, subject="orders, customers and products of the shop")
