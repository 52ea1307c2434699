from pathlib import Path
from typing import Final

import pytest

from placet.database.placeholders import Placeholder, number_values, placeholders
from placet.database.plan import load_plan
from placet.database.query_file import load_queries, read_queries
from placet.database.statement import Statement
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
        ("-- param: a prefix", "SELECT 1 WHERE x LIKE :a OR (:a || x) IS NULL", "declare it as text"),
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
        ("", "WITH a AS (SELECT 1), b AS (SELECT 2) DELETE FROM x", "state its effect"),
        ("", "", "no statement"),
        ("-- Roles: admin", "SELECT 1", "write '-- roles: …'"),
        ("-- redact : iban", "SELECT 1", "write '-- redact: …'"),
        ("--- limit: 3/minute", "SELECT 1", "write '-- limit: …'"),
        ("", "SELECT 1\n-- Roles : admin", "'roles' stands below the statement"),
        ("-- roles:", "SELECT 1", "'roles' stands here and says nothing"),
        ("-- note: of last year", "SELECT 1", "a line of the description begins with no word and a colon"),
        ("-- progress: looking", "SELECT 1", "written as '-- progress.en: …'"),
        ("-- roles.en: admin", "SELECT 1", "written as '-- roles: …'"),
        ("-- answer.en: a\n-- answer.en: b", "SELECT 1", "'answer.en' stands here twice"),
        ("-- bind: a principal.id text?", "SELECT :a", "without a value the query is refused"),
        ("-- bind: a principal.attributes.tenant int = 1", "SELECT :a", "without a value the query is refused"),
        ("-- bind: a", "SELECT :a", "write 'tenant principal"),
        ("-- param: order int", "SELECT :oder", "is 'order' meant"),
        ("-- param: a int", "SELECT x[1:n], :a", "a colon that is no value has a blank behind it"),
        ("-- param: a int", "SELECT {a}", "is :a meant"),
        ("-- variant: s: a = id", "SELECT :s", "is {s} meant"),
        ("-- param: a int", "SELECT ':a'", "outside of texts and comments"),
        ("-- variant: s: a = id -- newest", "SELECT {s} AND x = 1", "swallow what stands behind it"),
        ("-- variant: s: 'a' = id", "SELECT {s}", "write a variant as"),
        ("-- variant: s: a = id; DELETE", "SELECT {s}", "swallow what stands behind it"),
        ("-- variant: s: a = id\n-- variant: s: a = total", "SELECT {s}", "the choice 'a' twice"),
        ("-- param: a text", "SELECT 1 WHERE x ~ :a", "a regular expression would read wildcards in :a"),
        ("-- param: a text", "SELECT 1 WHERE x !~* ('^' || :a)", "a regular expression"),
        ("-- param: a text", "SELECT 1 WHERE x SIMILAR TO :a", "a regular expression"),
        ("-- param: a text", "SELECT 1 WHERE regexp_like(f(x, y), lower(:a))", "a regular expression"),
        ("-- param: a contains", "SELECT 1 WHERE x ~ :a", "a regular expression"),
        ("-- param: a text", "SELECT x FROM t ORDER BY :a", "orders nothing; write {a} and a variant"),
        ("-- param: a text", "SELECT x FROM t ORDER BY :a DESC, x", "orders nothing"),
        ("-- param: a text", "SELECT count(*) FROM t GROUP BY :a", "orders nothing"),
        ("", "SELECT\u00a01", "NO-BREAK SPACE .* write a plain one"),
        ("", "SELECT \u2018a\u2019", "QUOTATION MARK"),
        ("", "SELECT a\u200b FROM x", "ZERO WIDTH SPACE"),
        ("-- variant: a: " + "\n-- variant: a: ".join(f"v{n} = x{n}" for n in range(70)), "SELECT {a}", "at most 64"),
    ],
)  # fmt: skip
def test_what_could_not_work_as_it_reads_is_refused(header: str, sql: str, word: str) -> None:
    with pytest.raises(ConfigurationError, match=word.replace("{", r"\{").replace("}", r"\}")) as refused:
        read_one(header, sql)
    assert str(refused.value).startswith("q.sql:1")


@pytest.mark.parametrize(
    "tail",
    [";", " ;\n;", "; -- all of them", ";\n\n-- ── customers ──\n", ";\n/* the rest: */\n", "\n-- of last year\n;"],
)
def test_a_statement_ends_with_its_semicolon_whatever_is_remarked_behind_it(tail: str) -> None:
    first, second = read_queries(f"-- name: q\n-- Ask.\nSELECT ';'{tail}\n-- name: r\n-- Ask.\nSELECT 2", "q.sql")

    assert (first.sql, second.sql) == ("SELECT ';'", "SELECT 2")


@pytest.mark.parametrize(
    ("header", "sql"),
    [
        ("-- param: a text /[a-z]+/", "SELECT 1 WHERE x ~ ('^' || :a)"),
        ("-- param: a text", "SELECT 1 WHERE x = regexp_replace(:a, '[^0-9]', '')"),
        ("-- param: a text", "SELECT 1 WHERE x ~ '^a' AND y = :a"),
        ("-- param: a text", "SELECT 1 WHERE x <@ :a OR x ~<~ :a"),
        ("-- param: a int", "SELECT ~ :a"),
        ("-- param: a text", "SELECT x FROM t ORDER BY :a = x DESC, x"),
        ("-- param: a contains?", "SELECT 1 WHERE (:a IS NULL OR x LIKE :a)"),
        ("-- param: a contains?", "SELECT 1 WHERE (:a::text is not null AND x LIKE :a)"),
        ("-- effect: read", "(SELECT 1) UNION SELECT 2"),
        ("-- effect: read", "SELECT * FROM (WITH a AS (SELECT 1) SELECT * FROM a)"),
        ("-- Mind: prices are in lei.", "SELECT '\u2013\u00a0', \"\u2019\" -- \u201ca\u201d"),
    ],
)
def test_what_looks_like_a_mistake_and_is_none_is_read(header: str, sql: str) -> None:
    assert read_one(header, sql).sql == sql.partition(" -- ")[0]


def test_what_is_said_above_the_first_name_is_said_of_no_query() -> None:
    for line in ("-- roles: admin", "-- Name: q", "--redact : iban"):
        with pytest.raises(ConfigurationError, match=r"q\.sql:2: .* stands above no query"):
            read_queries(f"-- All of them.\n{line}\n-- name: q\n-- Ask.\nSELECT 1", "q.sql")


def test_all_that_is_wrong_in_a_file_is_said_at_once() -> None:
    text = "-- name: a\n-- Ask.\nSELECT :x;\n-- name: b\n-- Ask.\nSELECT 1;\n-- name: c\nSELECT 1;"

    with pytest.raises(ConfigurationError) as refused:
        read_queries(text, "q.sql")
    assert [line.split()[0] for line in str(refused.value).splitlines()] == ["q.sql:1", "q.sql:7"]


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


@pytest.mark.parametrize("character", ["\0", "\r", "\x0b", "\x0c", "\x85", "\u2028", "\u2029"])
def test_no_character_ends_a_comment_where_nobody_sees_it(character: str) -> None:
    assert len(read_queries("-- name: q\r\n-- Ask.\r\nSELECT 1")) == 1
    with pytest.raises(ConfigurationError, match=r"q\.sql:3: the character U\+"):
        read_queries(f"-- name: q\n-- Ask.\nSELECT 1 -- or{character}, 2", "q.sql")


def test_placeholders_stand_outside_of_strings_comments_and_casts() -> None:
    sql = "SELECT ':a', \":b\", $$ :c $$, $x_1$ :d $x_1$, E'\\':e', x::int, :f -- :g\n /* :h */ , a[1 : 2], :f"

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


def test_a_file_is_utf_8_with_a_byte_order_mark_or_without(tmp_path: Path) -> None:
    file = tmp_path / "q.sql"
    text = "-- name: q\n-- Ask.\nSELECT 'ș'"
    file.write_bytes(text.encode("utf-8-sig"))
    assert load_queries(file)[0].sql == "SELECT 'ș'"

    file.write_bytes(text.encode("iso8859-16"))
    with pytest.raises(ConfigurationError, match=r"q\.sql' is no UTF-8: byte 0xba in line 3; save it as UTF-8"):
        load_queries(file)
    with pytest.raises(ConfigurationError, match=r"the plan .*q\.sql' is no UTF-8: .* line 3"):
        load_plan(file)
