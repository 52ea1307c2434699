"""How to write it instead: what models that know other databases are told."""

import re
from typing import Final

_FUNCTIONS: Final = {
    "approx_count_distinct": "use count(DISTINCT x)",
    "arg_max": "use (array_agg(x ORDER BY y DESC))[1]",
    "array_size": "use cardinality(x)",
    "charindex": "use strpos(text, part)",
    "convert": "cast with CAST(x AS type)",
    "count_if": "use count(*) FILTER (WHERE …)",
    "countif": "use count(*) FILTER (WHERE …)",
    "curdate": "use current_date",
    "date_diff": "subtract: shipped_at - ordered_at is an interval, a::date - b::date a number of days",
    "date_format": "use to_char(ordered_at, 'YYYY-MM')",
    "date_from_parts": "use make_date(2025, 6, 30)",
    "date_sub": "subtract an interval: ordered_at - interval '6 months'",
    "dateadd": "add an interval: ordered_at + interval '1 month'",
    "datediff": "subtract: shipped_at - ordered_at is an interval, a::date - b::date a number of days",
    "datefromparts": "use make_date(2025, 6, 30)",
    "datename": "use to_char(ordered_at, 'Day')",
    "datepart": "use extract(isodow FROM ordered_at)",
    "datetime": "cast with ::timestamp",
    "day": "use extract(day FROM ordered_at)",
    "dayname": "use to_char(ordered_at, 'Day')",
    "dayofweek": "use extract(isodow FROM ordered_at): Monday is 1",
    "eomonth": "use (date_trunc('month', ordered_at) + interval '1 month - 1 day')::date",
    "format": "use to_char for numbers and dates, || for texts",
    "from_unixtime": "use to_timestamp(x)",
    "getdate": "use now()",
    "group_concat": "use string_agg(x, ', ')",
    "hour": "use extract(hour FROM ordered_at)",
    "if": "use CASE WHEN … THEN … ELSE … END",
    "ifnull": "use coalesce(x, y)",
    "iif": "use CASE WHEN … THEN … ELSE … END",
    "instr": "use strpos(text, part)",
    "isnull": "use coalesce(x, y), or x IS NULL",
    "json_extract": "use column ->> 'key', or column #>> '{key,inner}'",
    "julianday": "subtract the dates instead",
    "last_day": "use (date_trunc('month', ordered_at) + interval '1 month - 1 day')::date",
    "lcase": "use lower(text)",
    "len": "use length(x)",
    "listagg": "use string_agg(x, ', ')",
    "locate": "use strpos(text, part)",
    "max_by": "use (array_agg(x ORDER BY y DESC))[1]",
    "median": "use percentile_cont(0.5) WITHIN GROUP (ORDER BY x)",
    "min_by": "use (array_agg(x ORDER BY y))[1]",
    "month": "use extract(month FROM ordered_at)",
    "monthname": "use to_char(ordered_at, 'Month')",
    "nvl": "use coalesce(x, y)",
    "percentile": "use percentile_cont(0.5) WITHIN GROUP (ORDER BY x)",
    "printf": "use to_char for numbers, || for texts",
    "quarter": "use extract(quarter FROM ordered_at)",
    "rand": "use random()",
    "regexp_extract": "use substring(text FROM 'pattern')",
    "repeat": "cut a padded text: left(rpad('', 100, '*'), n)",
    "rownum": "use row_number() OVER (ORDER BY x), or LIMIT",
    "safe_cast": "filter with a pattern first, then cast",
    "safe_divide": "use a / nullif(b, 0)",
    "split": "use string_to_array(text, separator), or split_part(text, separator, n)",
    "strftime": "use to_char(ordered_at, 'YYYY-MM')",
    "string_split": "use unnest(string_to_array(text, separator))",
    "substring_index": "use split_part(text, separator, n)",
    "sumif": "use sum(x) FILTER (WHERE …)",
    "sysdate": "use now()",
    "time_bucket": "use date_bin('15 minutes', ordered_at, timestamptz '2000-01-01')",
    "timestampdiff": "subtract: shipped_at - ordered_at is an interval",
    "to_days": "subtract the dates instead",
    "to_varchar": "use to_char(x, format), or x::text",
    "total": "use sum(x)",
    "truncate": "use trunc(x, n)",
    "try_cast": "filter with a pattern first, then cast",
    "ucase": "use upper(text)",
    "unix_timestamp": "use extract(epoch FROM ordered_at)",
    "week": "use extract(week FROM ordered_at)",
    "weekday": "use extract(isodow FROM ordered_at): Monday is 1",
    "year": "use extract(year FROM ordered_at)",
}

_CHANGES: Final = ("InsertStmt", "UpdateStmt", "DeleteStmt", "MergeStmt")
_CONSTRUCTS: Final = {
    **dict.fromkeys(_CHANGES, "nothing can be changed here; read the rows"),
    "IntoClause": "rows are returned; nothing can be stored",
    "LockingClause": "leave FOR UPDATE and FOR SHARE away; nothing is changed here",
    "ParamRef": "write the value itself",
    "RangeTableFunc": "use jsonb functions",
    "JsonTable": "use jsonb_to_recordset or jsonb_path_query",
    "XmlExpr": "use jsonb functions",
}

_TYPES: Final = {
    **dict.fromkeys(("clob", "longtext", "mediumtext", "nchar", "nvarchar", "str", "string", "tinytext"), "use text"),
    **dict.fromkeys(("datetime", "datetime2", "smalldatetime"), "use timestamp, or timestamptz"),
    **dict.fromkeys(("double", "float32", "float64"), "use double precision"),
    **dict.fromkeys(("bigdecimal", "number"), "use numeric"),
    **dict.fromkeys(("int32", "int64", "mediumint", "signed", "tinyint", "unsigned", "year"), "use integer, or bigint"),
    **dict.fromkeys(("binary", "blob", "bytes", "varbinary"), "use bytea"),
}
"""Types of other databases."""

_AGGREGATES: Final = {
    "mode": "write mode() WITHIN GROUP (ORDER BY x)",
    "percentile_cont": "write percentile_cont(0.5) WITHIN GROUP (ORDER BY x)",
    "percentile_disc": "write percentile_disc(0.5) WITHIN GROUP (ORDER BY x)",
    "string_agg": "write string_agg(x::text, ', ')",
}
"""Functions of PostgreSQL that are called otherwise than one may think."""

_SIZES: Final = {
    **dict.fromkeys(("lpad", "rpad"), "cut a longer one: left(rpad(x, 100, '*'), n)"),
    "generate_series": "write a larger bound, and filter: generate_series(1, 1000) AS n WHERE n <= x",
}
"""How to have a size that is not written."""

_SAYINGS: Final = (
    (re.compile("requires an OVER clause"), "write f(x) OVER (PARTITION BY y ORDER BY z)"),
    (re.compile("TABLESAMPLE clause"), "take some by chance: WHERE random() < 0.01"),
    (re.compile("DISTINCT is not implemented for window"), "count in a query with GROUP BY, and join it"),
    (re.compile("OVER is not supported for ordered-set"), "group by it in a query of its own, and join that"),
    (re.compile(r"SELECT DISTINCT, ORDER BY"), "select it too, or use GROUP BY"),
    (re.compile(r"must match initial ORDER BY"), "begin ORDER BY with what stands in DISTINCT ON"),
    (re.compile(r"operator does not exist: (?:timestamp|interval).* [+-] (?:integer|numeric)"),
     "add an interval: ordered_at + interval '7 days'"),
    (re.compile(r"operator does not exist: .* == "), "write = instead of =="),
    (re.compile(r"operator does not exist: (?!text|character)[a-z ]+ !?~~\*? "), "cast to text: id::text LIKE '5%'"),
)  # fmt: skip
"""What PostgreSQL says of a query before it runs, and how to write it instead."""

_TEXT: Final = re.compile(r"'(?:[^']|'')*'")
"""What is quoted is no SQL."""

_SYNTAX: Final = (
    (re.compile(r"`"), "names are quoted with double quotes here, not with backticks"),
    (re.compile(r"\blimit\s+\d+\s*,\s*\d+", re.IGNORECASE), "write LIMIT 10 OFFSET 5, not LIMIT 5, 10"),
    (re.compile(r"\bselect\s+top\s+\d+", re.IGNORECASE), "write LIMIT 10 at the end instead of TOP 10"),
    (re.compile(r"\bqualify\b", re.IGNORECASE), "filter a window function in a query around this one"),
    (re.compile(r"\[[A-Za-z_ ]+\]"), "names are quoted with double quotes here, not with brackets"),
    (re.compile(r"(?<![:\w]):[A-Za-z_]\w*"), "write the value itself; nothing fills a placeholder"),
    (re.compile(r"(?:[=<>(,]|\b(?:like|ilike|and|between|limit|offset|in))\s*\?(?![|&])", re.IGNORECASE),
     "write the value itself; nothing fills a placeholder"),
    (re.compile(r"\bpivot\b", re.IGNORECASE), "use sum(x) FILTER (WHERE …) for each column"),
    (re.compile(r"%s\b|%\(\w+\)s|\{\{"), "write the value itself; nothing fills a placeholder"),
    (re.compile(r"\binterval\s+\d", re.IGNORECASE), "the number stands in the quotes: interval '6 months'"),
    (re.compile(r"\bseparator\s+'", re.IGNORECASE), "use string_agg(x, ', ' ORDER BY x)"),
    (re.compile(r"\*\s*(?:except|exclude|replace)\b", re.IGNORECASE), "name the columns that are wanted"),
    (re.compile(r"\bminus\s+\(*\s*select\b", re.IGNORECASE), "use EXCEPT instead of MINUS"),
    (re.compile(r"\bextract\s*\(\s*\w+\s*,", re.IGNORECASE), "write extract(month FROM ordered_at)"),
    (re.compile(r"\b(?:try|safe)_cast\s*\(", re.IGNORECASE), "filter with a pattern first, then CAST(x AS type)"),
    (re.compile(r"\bgroup\s+by\s+all\s*$", re.IGNORECASE), "name what to group by: GROUP BY 1, 2"),
    (re.compile(r"(?:&&|\|\|)\s*\w+\s*[<>=!]"), "conditions are joined by AND and OR"),
    (re.compile(r"[\u2260\u2264\u2265]"), "write <>, <= and >="),
    (re.compile(r"^\s*(?:describe|desc)\b", re.IGNORECASE), "only SELECT is run; columns are told by another tool"),
    (re.compile(r"```"), "send the query alone, without a code fence"),
)  # fmt: skip


def function_hint(name: str) -> str | None:
    """Return what to use in place of a function that is not there, or None."""
    return _FUNCTIONS.get(name.lower())


def type_hint(name: str) -> str | None:
    """Return what to use in place of a type that is not there, or None."""
    return _TYPES.get(name.lower())


def call_hint(name: str) -> str | None:
    """Return how to call a function that is called otherwise than one may think, or None."""
    return _AGGREGATES.get(name.lower())


def saying_hint(message: str) -> str | None:
    """Return how to write what PostgreSQL does not take, or None."""
    return next((hint for pattern, hint in _SAYINGS if pattern.search(message)), None)


def size_hint(name: str) -> str | None:
    """Return how to write a call whose size must be written out, or None."""
    return _SIZES.get(name)


def changes(node: str) -> bool:
    """Return whether a construct is there to change something, so that no other words would help."""
    return node in _CHANGES


def construct_hint(node: str) -> str | None:
    """Return what to write in place of a construct that is not open, or None."""
    return _CONSTRUCTS.get(node)


def syntax_hint(sql: str, position: int | None) -> str | None:
    """Return what may be meant by a text that is no SQL here, or None.

    Args:
        sql: The query.
        position: Where it went wrong; what stands far behind is not looked at.
    """
    near = _TEXT.sub("''", sql if position is None else sql[: position + 80])
    return next((hint for pattern, hint in reversed(_SYNTAX) if pattern.search(near)), None)
