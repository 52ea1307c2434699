"""How to write it for SQLite instead: what models that know other databases are told."""

import re
import sqlite3
from contextlib import closing
from functools import cache
from typing import Final

from placet.database.answer import Fix
from placet.database.sqlite_policy import FUNCTIONS

_DIFFERENCE: Final = "use julianday(a) - julianday(b): days"
_LATER: Final = "use date(x, '+1 month'), datetime(x, '-2 hours')"
_MIDDLE: Final = "number the values by row_number() OVER (ORDER BY x) in a sub-query, and take those in the middle"
_PARTS: Final = "use strftime('%Y', x); '%m' is the month, '%d' the day, '%w' the day of the week from Sunday, '0'"
_FORMAT: Final = "use round(x, 2) for numbers and || for texts"
_TOTALS: Final = "put the totals after it by UNION ALL"
_TODAY: Final = "use date('now')"
_PLACE: Final = "use instr(x, 'part')"
_VARIANCE: Final = "use avg(x * x) - avg(x) * avg(x)"
_DEVIATION: Final = "use sqrt(avg(x * x) - avg(x) * avg(x))"

FOR_FUNCTIONS: Final = {
    **dict.fromkeys(("printf", "format"), _FORMAT),
    **dict.fromkeys(("regexp", "regexp_like", "regexp_matches", "rlike"), "use LIKE or GLOB"),
    **dict.fromkeys(("date_format", "to_char", "datename"), "use strftime('%Y-%m', x)"),
    **dict.fromkeys(("day", "hour", "minute", "second", "dayofweek", "weekday", "datepart", "date_part"), _PARTS),
    **dict.fromkeys(("datediff", "date_diff", "timestampdiff", "timediff", "age"), _DIFFERENCE),
    **dict.fromkeys(("dateadd", "date_add", "date_sub", "adddate", "subdate", "add_months"), _LATER),
    **dict.fromkeys(("getdate", "curdate", "sysdate", "today"), _TODAY),
    **dict.fromkeys(("median", "percentile", "percentile_cont", "percentile_disc", "quantile"), _MIDDLE),
    **dict.fromkeys(("stddev", "stdev", "stddev_pop", "stddev_samp", "std"), _DEVIATION),
    **dict.fromkeys(("variance", "var_pop", "var_samp", "var"), _VARIANCE),
    **dict.fromkeys(("rollup", "cube", "grouping"), _TOTALS),
    **dict.fromkeys(("charindex", "strpos", "locate", "position"), _PLACE),
    **dict.fromkeys(("array_agg", "collect_list", "json_agg", "jsonb_agg"), "use json_group_array(x)"),
    **dict.fromkeys(("json_build_object", "jsonb_build_object"), "use json_object('name', x)"),
    **dict.fromkeys(("string_agg", "listagg"), "use group_concat(x, ', ')"),
    **dict.fromkeys(("countif", "count_if", "sumif", "avgif"), "use count(*) FILTER (WHERE …)"),
    **dict.fromkeys(("convert", "try_cast", "safe_cast", "to_number", "int", "float"), "use CAST(x AS real)"),
    **dict.fromkeys(
        ("to_date", "str_to_date"), "dates are texts such as '2025-01-31': use substr(x, 1, 10), or date(x)"
    ),
    **dict.fromkeys(("from_unixtime", "to_timestamp"), "use datetime(x, 'unixepoch')"),
    "any_value": "use min(x)",
    "bool_and": "use min(x)",
    "bool_or": "use max(x)",
    "concat": "use a || b",
    "concat_ws": "use a || ', ' || b",
    "date_trunc": "use strftime('%Y-%m-01', x), or date(x, 'start of month')",
    "decode": "use CASE WHEN … THEN … ELSE … END",
    "div": "use CAST(a / b AS integer)",
    "greatest": "use max(a, b)",
    "if": "use iif(x, y, z)",
    "initcap": "use upper(substr(x, 1, 1)) || substr(x, 2)",
    "isnull": "use coalesce(x, y), or x IS NULL",
    "json_value": "use json_extract(x, '$.name')",
    "last_day": "use date(x, 'start of month', '+1 month', '-1 day')",
    "lcase": "use lower(x)",
    "least": "use min(a, b)",
    "left": "use substr(x, 1, n)",
    "len": "use length(x)",
    "lpad": "use substr('00000' || x, -5)",
    "match": "use LIKE",
    "mid": "use substr(x, n, m)",
    "month": "use strftime('%m', x)",
    "now": "use datetime('now')",
    "nvl": "use coalesce(x, y)",
    "nvl2": "use iif(x IS NOT NULL, y, z)",
    "quarter": "use (strftime('%m', x) + 2) / 3",
    "right": "use substr(x, -n)",
    "rpad": "use substr(x || '     ', 1, 5)",
    "safe_divide": "use a / nullif(b, 0)",
    "split_part": "use substr(x, 1, instr(x, '-') - 1)",
    "truncate": "use trunc(x)",
    "ucase": "use upper(x)",
    "unix_timestamp": "use unixepoch(x)",
    "week": "use strftime('%W', x)",
    "year": "use strftime('%Y', x)",
}
"""What to use in place of a function that is not there, or not open."""

_DESCRIBED: Final = "the tool that describes the data says what there is"
_COUNTING: Final = "use WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 10) SELECT x FROM n"
FOR_RELATIONS: Final = {
    "generate_series": _COUNTING,
    "unnest": "use json_each('[1, 2]')",
    "dual": "leave FROM away",
    "information_schema": _DESCRIBED,
}
"""The same of a table."""

_ODD_BLANK: Final = re.compile("[\u00a0\u1680\u2000-\u200b\u2028\u2029\u202f\u205f\u3000]")
_CURLY: Final = re.compile("[\u2018\u2019\u201c\u201d\u201e]")
_ESCAPED: Final = re.compile(r"\\'")
_SILENT: Final = re.compile(r"'(?:[^']++|'')*+'|--[^\n]*+|/\*.*?(?:\*/|\Z)", re.DOTALL)
FOR_TEXTS: Final = tuple(
    (re.compile(pattern, re.IGNORECASE | re.DOTALL), hint)
    for pattern, hint in (
        ("```", "send the query alone, without a code fence"),
        (r"::", "cast with CAST(x AS text); of a time, date(x) is its day"),
        (r"\bdate_trunc\b|\bextract\s*\(", _PARTS),
        (r"\binterval\s+('|\d)", "use date(x, '-1 day'), datetime(x, '+2 hours')"),
        (r"\b(date|timestamp)\s+'", "a date is a text here: '2025-01-31'"),
        (r"\bat\s+time\s+zone\b", "use datetime(x, '+2 hours')"),
        (r"\b(group_concat|string_agg)\s*\([^)]{0,200}\b(order\s+by|separator)\b",
         "order the rows in a sub-query, and write group_concat(x, ', ')"),
        (r"\bwithin\s+group\b", _MIDDLE),
        (r"\bilike\b", "use LIKE: it ignores the case of ASCII letters"),
        (r"\bsimilar\s+to\b|\brlike\b|[^~]~\s*'", "use LIKE or GLOB"),
        (r"\bdistinct\s+on\b",
         "number the rows by row_number() OVER (PARTITION BY …) in a sub-query, and take the first"),
        (r"\blateral\b|\b(cross|outer)\s+apply\b", "use a sub-query as a column, or row_number() in one after FROM"),
        (r"\bselect\s+top\s+\d+|\bfetch\s+(first|next)\b", "write LIMIT 10 at the end"),
        (r"\bqualify\b", "filter a window function in a query around this one"),
        (r"\bpivot\b", "use sum(x) FILTER (WHERE …) for each column"),
        (r"\b(any|all|some)\s*\(\s*(select|values)\b", "use IN, EXISTS, or compare with max(x) or min(x)"),
        (r"\bfor\s+(update|share)\b", "leave FOR UPDATE away; nothing is changed here"),
        (r"\bgrouping\s+sets\b|\bwith\s+rollup\b", _TOTALS),
        (r"\b(union|except|intersect|all)\s*\(\s*select\b|\)\s*(union|except|intersect)\b",
         "write no brackets around the parts of a UNION"),
        (r"\A\s*values\b.*\border\s+by\b", "use SELECT * FROM (VALUES …) ORDER BY 1"),
        (r",\s*(from|where|group|order|limit|union)\b|,\s*\)", "there is a comma too many"),
        (r"\btablesample\b", "use ORDER BY random() LIMIT 10"),
        (r"#", "a comment begins with --"),
    )
)  # fmt: skip
"""What is tried one after another on a query that SQLite cannot read."""


_OPENINGS: Final = tuple(
    (re.compile(rf"\s*(?:{opening})", re.IGNORECASE), hint, fix)
    for opening, hint, fix in (
        (r"\(", "write no brackets around the query", Fix.SQL),
        ("```", "send the query alone, without a code fence", Fix.SQL),
        (r"explain\b", "send the query alone", Fix.POLICY),
        (r"(?:show|desc|describe|pragma)\b|\.\w", _DESCRIBED, Fix.POLICY),
    )
)


def opening_hint(sql: str) -> tuple[str | None, Fix]:
    """Return what to write instead of a text that does not begin as a query, and what would help."""
    for opening, hint, fix in _OPENINGS:
        if opening.match(sql):
            return hint, fix
    return None, Fix.POLICY


def function_hint(name: str) -> str | None:
    """Return what to use in place of a function, or None."""
    return FOR_FUNCTIONS.get(name.lower())


def relation_hint(name: str) -> str | None:
    """Return what to use in place of a table that other databases have, or None."""
    return FOR_RELATIONS.get(name.lower().partition(".")[0])


def text_hint(sql: str) -> str | None:
    """Return what may be meant by a text that is no SQL for SQLite, or None."""
    quiet = _SILENT.sub(lambda found: "''" if found[0][0] == "'" else " ", sql)
    if _CURLY.search(quiet):
        return "write straight quotes: ' around texts, \" around names"
    if _ODD_BLANK.search(quiet):
        return "there are blanks that SQLite takes for letters, such as U+00A0; write ordinary ones"
    if _ESCAPED.search(sql):  # which makes what follows it look like a text
        return "a quote within a text is doubled: 'it''s'"
    return next((hint for pattern, hint in FOR_TEXTS if pattern.search(quiet)), None)


@cache
def functions_there() -> frozenset[str]:
    """Return the functions of this very SQLite, open or not."""
    with closing(sqlite3.connect(":memory:")) as connection:
        return frozenset(name for (name,) in connection.execute("SELECT lower(name) FROM pragma_function_list"))


@cache
def functions_open() -> tuple[str, ...]:
    """Return those that every query may use."""
    return tuple(sorted(FUNCTIONS & functions_there()))
