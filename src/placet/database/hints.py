"""How to write it instead: what models that know other databases are told."""

import re
from typing import Final

_FUNCTIONS: Final = {
    "convert": "cast with CAST(x AS type)",
    "curdate": "use current_date",
    "date_diff": "subtract: shipped_at - ordered_at is an interval, a::date - b::date a number of days",
    "date_format": "use to_char(ordered_at, 'YYYY-MM')",
    "dateadd": "add an interval: ordered_at + interval '1 month'",
    "datediff": "subtract: shipped_at - ordered_at is an interval, a::date - b::date a number of days",
    "datename": "use to_char(ordered_at, 'Day')",
    "datepart": "use extract(isodow FROM ordered_at)",
    "datetime": "cast with ::timestamp",
    "day": "use extract(day FROM ordered_at)",
    "dayofweek": "use extract(isodow FROM ordered_at): Monday is 1",
    "format": "use to_char for numbers and dates, || for texts",
    "getdate": "use now()",
    "group_concat": "use string_agg(x, ', ')",
    "ifnull": "use coalesce(x, y)",
    "isnull": "use coalesce(x, y), or x IS NULL",
    "instr": "use strpos(text, part)",
    "iif": "use CASE WHEN … THEN … ELSE … END",
    "julianday": "subtract the dates instead",
    "len": "use length(x)",
    "listagg": "use string_agg(x, ', ')",
    "median": "use percentile_cont(0.5) WITHIN GROUP (ORDER BY x)",
    "month": "use extract(month FROM ordered_at)",
    "nvl": "use coalesce(x, y)",
    "printf": "use to_char for numbers, || for texts",
    "quarter": "use extract(quarter FROM ordered_at)",
    "strftime": "use to_char(ordered_at, 'YYYY-MM')",
    "substring_index": "use split_part(text, separator, n)",
    "sysdate": "use now()",
    "time_bucket": "use date_bin('15 minutes', ordered_at, timestamptz '2000-01-01')",
    "timestampdiff": "subtract: shipped_at - ordered_at is an interval",
    "to_days": "subtract the dates instead",
    "total": "use sum(x)",
    "truncate": "use trunc(x, n)",
    "week": "use extract(week FROM ordered_at)",
    "weekday": "use extract(isodow FROM ordered_at): Monday is 1",
    "year": "use extract(year FROM ordered_at)",
    "try_cast": "filter with a pattern first, then cast",
    "safe_divide": "use a / nullif(b, 0)",
}

_CONSTRUCTS: Final = {
    **dict.fromkeys(
        ("InsertStmt", "UpdateStmt", "DeleteStmt", "MergeStmt"), "nothing can be changed here; read the rows"
    ),
    "IntoClause": "rows are returned; nothing can be stored",
    "LockingClause": "leave FOR UPDATE and FOR SHARE away; nothing is changed here",
    "ParamRef": "write the value itself",
    "RangeTableFunc": "use jsonb functions",
    "JsonTable": "use jsonb_to_recordset or jsonb_path_query",
    "XmlExpr": "use jsonb functions",
}

_SYNTAX: Final = (
    (re.compile(r"`"), "names are quoted with double quotes here, not with backticks"),
    (re.compile(r"\blimit\s+\d+\s*,\s*\d+", re.IGNORECASE), "write LIMIT 10 OFFSET 5, not LIMIT 5, 10"),
    (re.compile(r"\bselect\s+top\s+\d+", re.IGNORECASE), "write LIMIT 10 at the end instead of TOP 10"),
    (re.compile(r"\bqualify\b", re.IGNORECASE), "filter a window function in a query around this one"),
    (re.compile(r"\[[A-Za-z_ ]+\]"), "names are quoted with double quotes here, not with brackets"),
    (re.compile(r"(?<![:\w]):[A-Za-z_]\w*"), "write the value itself; nothing fills a placeholder"),
    (re.compile(r"\?"), "write the value itself; nothing fills a placeholder"),
    (re.compile(r"\bpivot\b", re.IGNORECASE), "use sum(x) FILTER (WHERE …) for each column"),
    (re.compile(r"```"), "send the query alone, without a code fence"),
)  # fmt: skip


def function_hint(name: str) -> str | None:
    """Return what to use in place of a function that is not there, or None."""
    return _FUNCTIONS.get(name.lower())


def construct_hint(node: str) -> str | None:
    """Return what to write in place of a construct that is not open, or None."""
    return _CONSTRUCTS.get(node)


def syntax_hint(sql: str, position: int | None) -> str | None:
    """Return what may be meant by a text that is no SQL here, or None.

    Args:
        sql: The query.
        position: Where it went wrong; what stands far behind is not looked at.
    """
    near = sql if position is None else sql[: position + 80]
    return next((hint for pattern, hint in reversed(_SYNTAX) if pattern.search(near)), None)
