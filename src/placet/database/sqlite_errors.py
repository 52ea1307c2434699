"""What SQLite's errors say to a model.

SQLite has few codes and says the rest in words (https://www.sqlite.org/rescode.html), so the words
are read. Of a query that it does not understand they are told, for they speak of its text. What it
met while it ran is told in words of our own, for SQLite's may quote a cell; what is not known there
is told to the operator, and its words go to the log alone.
"""

import re
import sqlite3
from collections.abc import Sequence
from typing import Final, NamedTuple, TypeAlias

from placet.database.answer import Fix, SqlRefusal, excerpt
from placet.database.relation import OpenData, nearest
from placet.database.sqlite_hints import function_hint, functions_open, functions_there, relation_hint, text_hint
from placet.database.sqlite_text import Token, tokens

_NO_TABLE: Final = re.compile(r"no such table: (.+)")
_NO_COLUMN: Final = re.compile(r"no such column: (.+)")
_NO_FUNCTION: Final = re.compile(r"no such function: (.+)")
_NEAR: Final = re.compile(r'near "(.*)": syntax error', re.DOTALL)
_UNCLOSED: Final = re.compile(r"""unrecognized token: "['"`\[]""")
_LONGEST_NAME: Final = 64
"""Characters of a name, or of SQLite's own words about a text, that are told again."""
_LONGEST_WORDS: Final = 200

_Saying: TypeAlias = tuple[str, str, str | None, str | None]
_PATH: Final = "write it out, as '$.name'"
_WRITE_IT: Final = "write the value itself, a text in single quotes"
_OF_THE_TEXT: Final[Sequence[_Saying]] = (
    ("null character", "bad_character", "the character U+0000 may not stand in a query", None),
    ("one statement at a time", "several_statements", "these are several statements; one at a time is run", None),
    ("too many SQL variables", "placeholder", "a query is sent as it is: nothing fills a placeholder", _WRITE_IT),
    ("number of bindings", "placeholder", "a query is sent as it is: nothing fills a placeholder", _WRITE_IT),
    ("variable number must be", "placeholder", "a query is sent as it is: nothing fills a placeholder", _WRITE_IT),
    ("ambiguous column name", "ambiguous", None, "write alias.column"),
    ("misuse of aggregate", "grouping", None, "use HAVING, or aggregate in a sub-query"),
    ("misuse of aliased aggregate", "grouping", None, "use HAVING, or aggregate in a sub-query"),
    ("misuse of aliased window", "windowing", None, "filter it in a query around this one"),
    ("misuse of window function", "windowing", None, "use the window function in a sub-query"),
    ("must appear in the GROUP BY", "grouping", None, "add it to GROUP BY"),
    ("HAVING clause on a non-aggregate", "grouping", None, "use WHERE, or add GROUP BY"),
    ("wrong number of arguments", "wrong_arguments", None, None),
    ("do not have the same number of result columns", "syntax", None, "select as many columns on both sides"),
    ("circular reference", "syntax", None, "call the WITH otherwise than what it reads"),
    ("ORDER BY term", "syntax", None, "order by a column of the result"),
    ("clause should come after", "syntax", None, "put it at the end, or into a sub-query"),
    ("no tables specified", "syntax", None, "name a relation after FROM"),
    ("used as a window function", "windowing", None, "use an aggregate or a window function before OVER"),
    ("no such window", "windowing", None, "define it by WINDOW name AS (…), or write it after OVER"),
    ("DISTINCT is not supported for window", "windowing", None, "count what is distinct in a sub-query"),
    ("DISTINCT aggregates", "syntax", None, "make a text of them in a sub-query: SELECT DISTINCT …"),
    ("JSON path error", "bad_value", "a JSON path is none", _PATH),
    ("bad JSON path", "bad_value", "a JSON path is none", _PATH),
    ("row value misused", "syntax", None, "compare it with another row of as many values, or select the values apart"),
    ("cannot join using column", "syntax", None, "USING takes what both sides have; else write ON a.x = b.y"),
    (
        "aggregate functions are not allowed in the GROUP BY",
        "grouping",
        None,
        "aggregate in a sub-query, and group that",
    ),
    ("incomplete input", "syntax", "the query ends before it is whole", "look for an open bracket, or a missing part"),
    ("Expression tree is too large", "too_large", None, "use IN (…) for many OR, and a sub-query for a long sum"),
    ("sub-select returns", "syntax", None, "select one column"),
    ("tables in a join", "too_large", None, "join fewer relations"),
    ("too many", "too_large", None, "split the query"),
    ("parser stack overflow", "too_large", None, "build it from WITH clauses"),
)
"""What SQLite says of a query that it does not understand, the stable word, how we say it instead, and what to do."""

_OF_VALUES: Final[Sequence[_Saying]] = (
    ("JSON path error", "bad_value", "a JSON path is none", _PATH),
    ("bad JSON path", "bad_value", "a JSON path is none", _PATH),
    ("malformed JSON", "bad_value", "a text is no JSON", "filter with json_valid(x)"),
    ("JSON cannot hold BLOB", "bad_value", "JSON cannot hold a blob", "use hex(x)"),
    ("an even number of arguments", "wrong_arguments", "json_object takes names and values in turn", None),
    ("labels must be TEXT", "bad_value", "a name in JSON must be a text", "cast it to text"),
    ("LIKE or GLOB pattern too complex", "too_large", "a pattern of LIKE or GLOB is too long", "use a shorter pattern"),
    ("ESCAPE expression", "bad_value", "what stands after ESCAPE must be one character", None),
    ("ntile must be", "bad_value", "ntile takes a whole number above 0", None),
    ("nth_value must be", "bad_value", "nth_value takes a whole number above 0 as its second argument", None),
    ("frame starting offset", "bad_value", "a window begins at a number of 0 and more", None),
    ("frame ending offset", "bad_value", "a window ends at a number of 0 and more", None),
    ("integer overflow", "bad_value", "a whole number becomes larger than 64 bits", "cast to real"),
    ("datatype mismatch", "bad_value", "LIMIT and OFFSET take a whole number", None),
)
"""The same of a value that it met while it ran. Its own words are not told: they may quote a cell."""

_WAITING: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_TOO_LARGE: Final = frozenset({sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_FULL})


def explain(error: sqlite3.Error, sql: str, data: OpenData, *, is_understood: bool) -> SqlRefusal:
    """Return what an error says about a query. Time-outs and denials are explained where they are known.

    Args:
        error: From SQLite.
        sql: The query.
        data: What is open.
        is_understood: Whether SQLite understands the query, so that the error came while it ran.
    """
    code = getattr(error, "sqlite_errorcode", None)
    primary = None if code is None else code & 0xFF
    detail = f"{type(error).__name__}: {error}"
    if primary in _WAITING:
        return SqlRefusal(code="busy", message="the database is busy", fix=Fix.WAIT, hint="ask again", detail=detail)
    if primary in _TOO_LARGE:
        message = "a value of the query becomes too large"
        return SqlRefusal(code="too_large", message=message, fix=Fix.NARROW, detail=detail)
    if primary in (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_RANGE, sqlite3.SQLITE_MISMATCH) or code is None:
        known = _say(_OF_VALUES, str(error)) if is_understood else _explain_text(str(error), sql, data)
        if known:
            return known
    return SqlRefusal(code="internal", message="the database failed", fix=Fix.OPERATOR, detail=detail)


def explain_statement(error: sqlite3.Error) -> SqlRefusal:
    """Return what an error says about a statement that is not the model's, only its values."""
    code = getattr(error, "sqlite_errorcode", None)
    primary = None if code is None else code & 0xFF
    detail = f"{type(error).__name__}: {error}"
    if primary in _WAITING:
        return SqlRefusal(code="busy", message="the database is busy", fix=Fix.WAIT, hint="ask again", detail=detail)
    if primary == sqlite3.SQLITE_CONSTRAINT:
        message = "the database does not take these values: they conflict with what it holds"
        return SqlRefusal(code="conflict", message=message, fix=Fix.SQL, hint="check the values", detail=detail)
    if primary in _TOO_LARGE:
        return SqlRefusal(code="too_large", message="the answer becomes too large", fix=Fix.NARROW, detail=detail)
    return SqlRefusal(code="internal", message="the database failed", fix=Fix.OPERATOR, detail=detail)


def unknown_relation(name: str, sql: str, data: OpenData) -> SqlRefusal:
    """Return that there is no such table, in the same words whether it is hidden or missing."""
    there = "there are: " + ", ".join(data.names)
    other = relation_hint(name.removeprefix("main."))
    place = _find(name, tokens(sql), sql)
    return _refuse(
        "unknown_relation", f"there is no relation {place.name!r}", sql, place,
        hint=f"{other}; {there}" if other else there, similar=data.nearest(_bare(name)),
    )  # fmt: skip


def unknown_column(name: str, sql: str, data: OpenData) -> SqlRefusal:
    """Return that there is no such column, in the same words whether it is hidden or missing."""
    words = tokens(sql)
    named = {word.text for word in words if word.is_name}
    used = [relation for relation in data.relations if relation.name.lower() in named]
    known = "; ".join(
        f"{relation.name} has: {', '.join(column.name for column in data.columns_of(relation))}" for relation in used
    )
    place = _find(name, words, sql)
    said = [text_hint(sql)] if not _bare(name).isascii() or _bare(name).lower() == "interval" else []
    if place.is_quoted:
        said.append("texts take single quotes")
    return _refuse(
        "unknown_column", f"there is no column {place.name!r}", sql, place,
        hint="; ".join(filter(None, [*said, known])) or None, similar=data.nearest_columns(_bare(name), used),
    )  # fmt: skip


def unknown_function(name: str, sql: str) -> SqlRefusal:
    """Return that a function is missing, or not open."""
    hint = function_hint(name)
    is_there = name.lower() in functions_there()
    place = _find(name, tokens(sql), sql)
    return _refuse(
        "function_not_allowed",
        f"the function {place.name!r} is not open here" if is_there else f"there is no function {place.name!r} here",
        sql, place, hint=hint, similar=nearest(name.lower(), functions_open()),
        fix=Fix.POLICY if is_there and not hint else Fix.SQL,
    )  # fmt: skip


def _explain_text(words: str, sql: str, data: OpenData) -> SqlRefusal | None:
    """Return what is wrong with a query, or None where it is something that it does not name itself."""
    named = _NO_TABLE.match(words) or _NO_COLUMN.match(words) or _NO_FUNCTION.match(words)
    if named and named[1].rpartition(".")[2].lower() not in sql.lower():
        return None
    if found := _NO_TABLE.match(words):
        known = unknown_relation(found[1], sql, data)
    elif found := _NO_COLUMN.match(words):
        known = unknown_column(found[1], sql, data)
    elif found := _NO_FUNCTION.match(words):
        known = unknown_function(found[1], sql)
    elif found := _NEAR.match(words):
        at = sql.find(found[1]) if found[1] and sql.count(found[1]) == 1 else None
        known = _refuse("syntax", _cut(words, _LONGEST_WORDS), sql, _Place(found[1], at), hint=text_hint(sql))
    else:
        hint = text_hint(sql) or ("a quote is not closed" if _UNCLOSED.match(words) else None)
        told = SqlRefusal(code="syntax", message=_cut(words, _LONGEST_WORDS), fix=Fix.SQL, hint=hint, detail=words)
        known = _say(_OF_THE_TEXT, words) or told
    return known


def _say(sayings: Sequence[_Saying], words: str) -> SqlRefusal | None:
    for said, code, message, hint in sayings:
        if said in words:
            fix = Fix.NARROW if code == "too_large" else Fix.SQL
            told = message or _cut(words, _LONGEST_WORDS)
            return SqlRefusal(code=code, message=told, fix=fix, hint=hint, detail=words)
    return None


class _Place(NamedTuple):
    """Where a name stands in a query, if it stands there once, and how it is written."""

    name: str
    position: int | None = None
    is_quoted: bool = False


def _find(name: str, words: Sequence[Token], sql: str) -> _Place:
    """Return where a name stands, with what stands before its dots: SQLite says no position.

    Only the last part of the name is looked for, without case: of what is hidden SQLite names another
    part than of what is missing, and in the spelling of the schema.
    """
    bare = _bare(name).lower()
    standing = [index for index, word in enumerate(words) if word.text == bare and word.kind in ("word", "quoted")]
    standing = standing or [index for index, word in enumerate(words) if word.text == bare and word.is_name]
    if not standing:
        return _Place(_cut(name, _LONGEST_NAME))
    first = last = standing[0]
    while first > 1 and words[first - 1].text == "." and words[first - 2].is_name:
        first -= 2
    parts = [_spell(word, sql) for word in words[first : last + 1 : 2]]
    is_quoted = words[last].kind == "quoted"
    return _Place(
        _cut(".".join(parts), _LONGEST_NAME), words[first].position if len(standing) == 1 else None, is_quoted
    )


def _spell(word: Token, sql: str) -> str:
    begin = word.position + (word.kind != "word")
    return sql[begin : begin + len(word.text)]


def _bare(name: str) -> str:
    return name.rpartition(".")[2]


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[:longest] + "…"


def _refuse(
    code: str, message: str, sql: str, place: _Place, *, hint: str | None = None, similar: tuple[str, ...] = (),
    fix: Fix = Fix.SQL,
) -> SqlRefusal:  # fmt: skip
    return SqlRefusal(
        code=code,
        message=message,
        fix=fix,
        hint=hint,
        position=place.position,
        excerpt=None if place.position is None else excerpt(sql, place.position),
        nearest=similar,
    )
