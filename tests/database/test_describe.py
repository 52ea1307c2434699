from pathlib import Path

from placet.database.describe import describe_data
from placet.database.relation import KnownColumn, OpenData, Relation
from placet.database.sqlite_sandbox import SqliteSandbox
from tests.database.sqlite_shop import OPEN_COLUMNS, RELATIONS, make_shop


def test_a_model_is_told_relations_columns_types_and_what_they_are() -> None:
    relation = Relation("orders", "api", "One row for each order.", {"total": "in lei"})
    data = OpenData([relation], {"api.orders": (KnownColumn("id", "int8"), KnownColumn("total", "numeric", "in lei"))})

    assert describe_data(data, "postgres")["relations"] == [
        {
            "name": "orders",
            "description": "One row for each order.",
            "columns": [
                {"name": "id", "type": "int8"},
                {"name": "total", "type": "numeric", "description": "in lei"},
            ],
        }
    ]


async def test_nothing_that_is_hidden_is_described(tmp_path: Path) -> None:
    async with SqliteSandbox(make_shop(tmp_path / "shop.db", 1), RELATIONS) as sandbox:
        told = str(describe_data(sandbox.data, sandbox.dialect))
        orders = describe_data(sandbox.data, sandbox.dialect, "orders")

    assert "password" not in told
    assert "secret_note" not in told
    assert "emails" not in told
    assert all(column in str(orders) for column in OPEN_COLUMNS)
    assert "counties" not in str(orders)


def test_one_that_is_not_open_is_answered_with_those_that_are() -> None:
    data = OpenData([Relation("orders", "api"), Relation("rates", "fx")], search_path=("api",))

    assert describe_data(data, "postgres", "ordres") == {"relations": ["orders", "fx.rates"], "nearest": ["orders"]}
    assert describe_data(data, "postgres", "payroll") == {"relations": ["orders", "fx.rates"], "nearest": []}
