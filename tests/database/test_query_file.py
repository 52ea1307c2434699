from pathlib import Path
from typing import Final

import pytest

from placet.database.placeholders import Placeholder, number_values, placeholders
from placet.database.query_file import Statement, load_queries, read_queries
from placet.errors import ConfigurationError
from placet.values.tool import Effect

TEXT: Final = """
-- All that customers may ask. This comment belongs to no query.

-- name: get_order_status
-- Say how far an order is.
-- Use when a customer asks where it stays.
-- param: order_id int >= 1 -- the number on the invoice
-- bind: customer_id principal.attributes.customer int
-- roles: customer, support
-- limit: 30/minute
-- limit: 300/hour
-- returns: one
-- redact: status
-- progress.ro: caut comanda {order_id}…
-- answer.pt-BR: pedido {order_id}: {status}
SELECT status, -- a comment of the statement
  shipped_at FROM orders
WHERE id = :order_id AND customer_id = :customer_id;

-- name: list_orders
-- List orders.
-- variant: sort: newest = ordered_at DESC
-- variant: sort: dearest = total DESC, id
-- rows: 20
SELECT id FROM orders ORDER BY {sort}

-- name: cancel_order
-- Cancel an order.
-- effect: destructive
-- param: order_id int
-- authorise: owns_order
-- approval: supervisor
UPDATE orders SET status = 'cancelled' WHERE id = :order_id
"""


def test_a_file_is_queries() -> None:
    status, orders, cancel = read_queries(TEXT, "shop.sql")

    assert status.name == "get_order_status"
    assert status.description == "Say how far an order is. Use when a customer asks where it stays."
    assert status.sql.startswith("SELECT status, -- a comment")
    assert status.sql.endswith(":customer_id")
    assert [parameter.name for parameter in status.parameters] == ["order_id"]
    assert [(bind.parameter.name, bind.parameter.kind, bind.source) for bind in status.binds] == [
        ("customer_id", "int", "principal.attributes.customer")
    ]
    assert status.roles == frozenset({"customer", "support"})
    assert (status.limits, status.returns_one) == (("30/minute", "300/hour"), True)
    assert status.redact == {"status"}
    assert (status.progress, status.answer) == (
        {"ro": "caut comanda {order_id}…"}, {"pt-BR": "pedido {order_id}: {status}"},
    )  # fmt: skip
    assert status.where == "shop.sql:4 (get_order_status)"
    assert orders.variants == {"sort": {"newest": "ordered_at DESC", "dearest": "total DESC, id"}}
    assert (orders.rows, orders.parameters[0].choices, orders.parameters[0].default) == (
        20, ("newest", "dearest"), "newest",
    )  # fmt: skip
    assert (cancel.effect, cancel.authorise, cancel.approval) == (Effect.DESTRUCTIVE, "owns_order", "supervisor")


def read_one(header: str, sql: str = "SELECT 1") -> Statement:
    (found,) = read_queries(f"-- name: q\n-- Ask.\n{header}\n{sql}", "q.sql")
    return found


@pytest.mark.parametrize(
    ("header", "sql", "word"),
    [
        ("-- parm: a int", "SELECT :a", "is 'param' meant"),
        ("-- role: x", "SELECT 1", "is 'roles' meant"),
        ("", "SELECT 'x", "no end"),
        ("", "SELECT 1; DROP TABLE x; --'", "one statement"),
        ("-- roles: a\n-- roles: b", "SELECT 1", "twice"),
        ("-- effect: harmless", "SELECT 1", "'harmless'"),
        ("-- rows: many", "SELECT 1", "'many'"),
        ("-- returns: two", "SELECT 1", "'two'"),
        ("-- bind: a user.id", "SELECT :a", "'user.id'"),
        ("-- variant: sort newest", "SELECT {sort}", "write a variant as"),
        ("", "SELECT :a", ":a is not declared"),
        ("", "SELECT {a}", "{a} is not declared"),
        ("-- param: a int", "SELECT {a}", "{a} is not declared"),
        ("-- param: a int", "SELECT 1", "'a' is declared and not used"),
        ("-- param: a int", "SELECT ':a'", "'a' is declared and not used"),
        ("-- param: a int\n-- bind: a principal.id", "SELECT :a", "at once"),
        ("-- param: a int\n-- param: a text", "SELECT :a", "twice"),
        ("-- param: a text", "SELECT 1 WHERE x LIKE :a", "prefix or contains"),
        ("-- param: a text", "SELECT 1 WHERE x ILIKE '%' || :a || '%'", "prefix or contains"),
        ("-- param: a text", "SELECT 1 WHERE x LIKE '%' || lower(:a) || '%'", "prefix or contains"),
        ("-- param: a text", "SELECT 1 WHERE x LIKE CAST(:a AS text) AND y = 1", "prefix or contains"),
        ("-- param: a text?", "SELECT 1 WHERE x NOT LIKE coalesce(:a, x)", "prefix or contains"),
        ("-- param: a text", "SELECT 1 WHERE x LIKE CASE WHEN y THEN :a ELSE '%' END", "prefix or contains"),
        ("-- param: a text", "SELECT 1 WHERE x ILIKE ANY (ARRAY[:a])", "prefix or contains"),
        ("-- param: a text", "SELECT 1 WHERE x !~~* :a", "prefix or contains"),
        ("-- bind: a principal.id", "SELECT 1 WHERE x LIKE :a", "prefix or contains"),
        ("-- param: a prefix", "SELECT 1 WHERE x LIKE :a ESCAPE '!'", "ESCAPE says otherwise"),
        ("-- param: a prefix", "SELECT 1 WHERE x LIKE (:a) ESCAPE ''", "ESCAPE says otherwise"),
        ("-- param: a prefix", "SELECT 1 WHERE x = :a", "declare it as text"),
        ("-- param: a prefix", "SELECT 1 WHERE y LIKE 'x' OR x = :a", "declare it as text"),
        ("-- param: a int", "SELECT $1, :a", r"not as '\$1'"),
        ("-- param: a int", "SELECT 1 -- WHERE x = :a", "'a' is declared and not used"),
        ("-- param: a int", "SELECT 1 /* WHERE x = :a", "a comment has no end"),
        ("-- param: a int", "SELECT 1 /* a /* b */ WHERE x = :a */", "a comment stands in a comment"),
        ("", "SELECT 1\n-- roles: admin", "'roles' stands below the statement"),
        ("", "SELECT 1\n-- bind: a principal.id\nFROM x", "'bind' stands below the statement"),
        ("-- limit: often", "SELECT 1", "not a limit: 'often'"),
        ("", "DELETE FROM orders", "state its effect"),
        ("", "EXPLAIN SELECT 1", "state its effect"),
        ("", "", "no statement"),
        ("-- variant: a: " + "\n-- variant: a: ".join(f"v{n} = x{n}" for n in range(70)), "SELECT {a}", "at most 64"),
    ],
)  # fmt: skip
def test_what_could_not_work_as_it_reads_is_refused(header: str, sql: str, word: str) -> None:
    with pytest.raises(ConfigurationError, match=word.replace("{", r"\{").replace("}", r"\}")) as refused:
        read_one(header, sql)
    assert str(refused.value).startswith("q.sql:1")


def test_a_query_needs_a_name_that_is_its_own_and_a_description() -> None:
    with pytest.raises(ConfigurationError, match="description"):
        read_queries("-- name: q\nSELECT 1")
    with pytest.raises(ConfigurationError, match="no name of a tool"):
        read_queries("-- name: q q\n-- Ask.\nSELECT 1")
    with pytest.raises(ConfigurationError, match=r"queries\.sql:4 .* stands at queries\.sql:1"):
        read_queries("-- name: q\n-- Ask.\nSELECT 1;\n-- name: q\n-- Ask.\nSELECT 1;")
    with pytest.raises(ConfigurationError, match="no query"):
        read_queries("-- words alone")
    with pytest.raises(ConfigurationError, match=r"queries\.sql:2: a statement has no name"):
        read_queries("-- Ask.\nSELECT 1;\n-- name: q\n-- Ask.\nSELECT 1")


@pytest.mark.parametrize("character", ["\r", "\x0b", "\x0c", "\x85", "\u2028", "\u2029"])
def test_no_character_ends_a_comment_where_nobody_sees_it(character: str) -> None:
    assert len(read_queries("-- name: q\r\n-- Ask.\r\nSELECT 1")) == 1
    with pytest.raises(ConfigurationError, match=r"q\.sql:3: the character U\+"):
        read_queries(f"-- name: q\n-- Ask.\nSELECT 1 -- or{character}, 2", "q.sql")


def test_placeholders_stand_outside_of_strings_comments_and_casts() -> None:
    sql = "SELECT ':a', \":b\", $$ :c $$, $x$ :d $x$, E'\\':e', x::int, :f -- :g\n /* :h */ , a[1 : 2], :f"

    assert [place.name for place in placeholders(sql, "q")] == ["f", "f"]
    assert number_values(sql)[0].count("$1") == 2
    assert number_values(sql)[1] == ("f",)


def test_a_like_sees_its_whole_pattern() -> None:
    def only(sql: str) -> Placeholder:
        (place,) = placeholders(sql, "q")
        return place

    assert only("SELECT 1 WHERE x LIKE ('%' || :a) ESCAPE '\\'").is_matched
    assert only("SELECT 1 WHERE x LIKE 'a' AND y = :a").is_matched is False
    assert only("SELECT 1 WHERE x LIKE :a ESCAPE '\\'").is_escaped
    assert only("SELECT 1 WHERE lower(x) LIKE lower(:a) ESCAPE E'\\\\' AND y").is_escaped
    assert only("SELECT x LIKE 'a' AS b, :a").is_matched is False
    assert only("SELECT (x LIKE 'a') IN (:a)").is_matched is False
    assert only("SELECT CASE WHEN x LIKE 'a' THEN :a END").is_matched is False


def test_a_directory_is_all_its_files_in_order(tmp_path: Path) -> None:
    (tmp_path / "b.sql").write_text("-- name: b\n-- Ask.\nSELECT 1")
    (tmp_path / "a.sql").write_text("-- name: a\n-- Ask.\nSELECT 1")
    assert [query.name for query in load_queries(tmp_path)] == ["a", "b"]

    (tmp_path / "c.sql").write_text("-- name: a\n-- Ask.\nSELECT 1")
    with pytest.raises(ConfigurationError, match=r"c\.sql:1"):
        load_queries(tmp_path)
    with pytest.raises(ConfigurationError, match=r"nothing\.sql"):
        load_queries(tmp_path / "nothing.sql")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigurationError, match=r"no \.sql file"):
        load_queries(tmp_path / "empty")
