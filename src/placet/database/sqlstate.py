"""What PostgreSQL's errors say to a model.

Every SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html) gets a stable
word, what would help, and a hint that knows what is open. What a query is told before it is
understood speaks of its own words. Afterwards a message is a result: what may hold a row is told
by `placet.database.tellable` or not at all, the server's hint neither. DETAIL and CONTEXT hold
rows and base tables, and go to the log alone.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

from placet.database.answer import Fix, SqlRefusal, excerpt
from placet.database.hints import call_hint, function_hint, saying_hint, syntax_hint
from placet.database.relation import OpenData, Relation
from placet.database.tellable import tell


@dataclass(frozen=True, slots=True)
class ServerFault:
    """What the server has said.

    Attributes:
        sqlstate: Five characters, or empty when the connection was lost.
        message: Its primary message.
        hint: Its own hint.
        position: Which character of the text that was sent, from 1.
        detail: The rest of it, for a log.
    """

    sqlstate: str
    message: str = ""
    hint: str | None = None
    position: int | None = None
    detail: str = ""


class _Meaning(NamedTuple):
    code: str
    fix: Fix
    message: str | None = None
    hint: str | None = None


_BUSY: Final = _Meaning("busy", Fix.WAIT, "the database cannot answer now", "ask the same again")
_LARGE: Final = _Meaning(
    "too_large", Fix.NARROW, "the query needs more memory or temporary space than it may have",
    "filter before joining, sorting and grouping; ask for a shorter period",
)  # fmt: skip
_MANY: Final = _Meaning("too_large", Fix.NARROW, None, "write it with fewer of them")
_LATE: Final = _Meaning(
    "timeout", Fix.NARROW, "the query was stopped when its time was up",
    "ask for a shorter period, aggregate before joining, filter on an indexed column",
)  # fmt: skip
_VALUE: Final = _Meaning("bad_value", Fix.SQL)
_ODD_VALUE: Final = _Meaning(
    "bad_value",
    Fix.SQL,
    "a value does not fit what is done with it",
    "filter such rows out first, or keep them as texts",
)
_UNABLE: Final = _Meaning("not_supported", Fix.SQL, "the database cannot do this", "write it in another way")
_INTERNAL: Final = _Meaning("internal", Fix.OPERATOR, "the database failed; its words are in the log")

_MEANINGS: Final = {
    "42703": _Meaning("unknown_column", Fix.SQL),
    "42P01": _Meaning("unknown_relation", Fix.SQL),
    "42P02": _Meaning("placeholder", Fix.SQL, None, "write the value itself"),
    "42883": _Meaning("no_such_function", Fix.SQL),
    "42725": _Meaning("ambiguous", Fix.SQL, None, "cast the arguments"),
    "42702": _Meaning("ambiguous", Fix.SQL, None, "write alias.column"),
    "42712": _Meaning("ambiguous", Fix.SQL, None, "give each relation an alias of its own"),
    "42803": _Meaning("grouping", Fix.SQL, None, "add it to GROUP BY, aggregate it, or use HAVING or a sub-query"),
    "42P20": _Meaning("windowing", Fix.SQL, None, "use the window function in a sub-query, and filter around it"),
    "42P19": _Meaning("recursion", Fix.SQL, None, "write WITH RECURSIVE t AS (first UNION ALL SELECT … FROM t)"),
    "42P18": _Meaning("bad_type", Fix.SQL, None, "cast the value, as in CAST(x AS text)"),
    "42601": _Meaning("syntax", Fix.SQL),
    "42804": _Meaning("bad_type", Fix.SQL, None, "cast one side"),
    "42846": _Meaning("bad_type", Fix.SQL, None, "cast by way of text"),
    "42704": _Meaning("unknown_name", Fix.SQL),
    "42501": _Meaning("not_permitted", Fix.POLICY, "this is not open here"),
    "25006": _Meaning("read_only", Fix.POLICY, "nothing can be changed here"),
    "0A000": _Meaning("not_supported", Fix.SQL),
    "57014": _LATE,
    "25P04": _LATE,
    "53400": _LARGE,
    "53200": _LARGE,
    "53100": _LARGE,
    "54000": _LARGE,
    "54001": _Meaning("too_deep", Fix.SQL, "the query is nested too deep", "build it from WITH clauses"),
    "55P03": _BUSY,
    "40001": _BUSY,
    "40P01": _BUSY,
    "53300": _BUSY,
    "57P01": _BUSY,
    "57P02": _BUSY,
    "57P03": _BUSY,
    "25P03": _BUSY,
    "": _BUSY,
    "22012": _Meaning("bad_value", Fix.SQL, None, "divide by nullif(x, 0)"),
    "21000": _Meaning("bad_value", Fix.SQL, None, "aggregate the sub-query, or give it LIMIT 1"),
}
_CLASSES: Final = {"08": _BUSY, "22": _VALUE, "42": _Meaning("wrong_query", Fix.SQL), "53": _LARGE, "54": _LARGE}

_CONFLICTS: Final = {
    "23505": "there is one with these values already",
    "23503": "these values refer to something that is not there, or that is still referred to",
    "23502": "a value is missing that the database needs",
    "23514": "a value breaks a rule of the database",
}

_QUALIFIED: Final = re.compile(r'(?<![\w."])(?<!column )(\w+|"[^"]+")\.(?:\w+|"[^"]+")')
"""A name with its schema, as PostgreSQL writes it. A column is said with its relation as the query calls it."""
_COLUMN: Final = re.compile(r'column "?([^"]+?)"? does not exist')
_RELATION: Final = re.compile(r'relation "([^"]+)" does not exist')
_FUNCTION: Final = re.compile(r"function (?:[\w]+\.)?(\w+)\(")
_ENTRY: Final = re.compile(r'FROM-clause entry for table "([^"]+)"')
_ODD_QUOTES: Final = frozenset("\u2018\u2019\u201a\u201c\u201d\u201e\u00ab\u00bb\u00b4")
_TOO_MANY: Final = re.compile("too many|target lists can have|cannot pass more than")
_ROUND: Final = re.compile(r"function round\(double precision, integer\)")


def explain(fault: ServerFault, sql: str, data: OpenData, relations: Iterable[str] = ()) -> SqlRefusal:
    """Return why a query is not understood. No row has been looked at.

    Args:
        fault: What the server has said; its position is one in `sql`.
        sql: The query, as the model wrote it.
        data: What is open.
        relations: The full names of those that the query reads.
    """
    meaning = _meaning(fault)
    if fault.sqlstate.startswith("54") and _TOO_MANY.match(fault.message):
        meaning = _MANY
    used = [relation for relation in data.relations if relation.full_name in set(relations)]
    hint, similar = _teach(fault, sql, data, used)
    position = None if fault.position is None else min(max(0, fault.position - 1), len(sql))
    return SqlRefusal(
        code=meaning.code,
        sqlstate=fault.sqlstate or None,
        message=meaning.message or _hide_types(fault.message, sql, data),
        fix=meaning.fix,
        hint=hint or meaning.hint or (None if meaning.message else fault.hint),
        position=position,
        excerpt=None if position is None else excerpt(sql, position),
        nearest=similar,
        detail=_detail(fault),
    )


def explain_result(fault: ServerFault, sql: str, data: OpenData) -> SqlRefusal:
    """Return why a query that was understood has no answer. Rows and hidden names may stand in the fault.

    Args:
        fault: What the server has said.
        sql: The query, as the model wrote it.
        data: What is open.
    """
    meaning, told = _meaning(fault), None
    if meaning.message is None or meaning is _LARGE:
        told = tell(fault.message, sql)
    if told and not fault.sqlstate.startswith(("21", "22", "0A")):
        meaning = _VALUE  # a value that was read as a query of a text, as a path, as a character
    elif told is None and meaning.message is None:  # of another shape, in another language, or from inside a function
        meaning = _ODD_VALUE if meaning.code == "bad_value" else _UNABLE if fault.sqlstate == "0A000" else _INTERNAL
    return SqlRefusal(
        code=meaning.code,
        sqlstate=fault.sqlstate or None,
        message=told or meaning.message or "",
        fix=meaning.fix,
        hint=_what_there_is(data) if meaning.fix is Fix.POLICY else meaning.hint,
        detail=_detail(fault),
    )


def explain_statement(fault: ServerFault) -> SqlRefusal:
    """Return what a fault says about a statement that is not the model's, only its values.

    What the statement itself has wrong is the operator's to mend, and named to nobody else. What
    a function of the database says with RAISE is said to the model as written.
    """
    conflict = _Meaning("conflict", Fix.SQL, "the database does not take these values", "check the values")
    meaning = _meaning(fault)
    if fault.sqlstate in _CONFLICTS:
        meaning = conflict._replace(message=_CONFLICTS[fault.sqlstate])
    elif fault.sqlstate.startswith("23"):
        meaning = conflict
    elif fault.sqlstate == "P0001":
        meaning = _Meaning("refused", Fix.SQL, fault.message, fault.hint)
    elif fault.sqlstate.startswith("22"):
        meaning = _Meaning("bad_value", Fix.SQL, tell(fault.message) or _ODD_VALUE.message, "check the values")
    elif meaning.fix in (Fix.SQL, Fix.POLICY):
        meaning = _INTERNAL
    return SqlRefusal(
        code=meaning.code,
        sqlstate=fault.sqlstate or None,
        message=meaning.message or _INTERNAL.message or "",
        fix=meaning.fix,
        hint=meaning.hint,
        detail=_detail(fault),
    )


def _hide_types(message: str, sql: str, data: OpenData) -> str:
    """Replace the names of what is not open: a column's type, as `core.status` or the row of a hidden table."""
    schemas = {relation.schema for relation in data.relations}
    written = sql.lower()

    def show(name: re.Match[str]) -> str:
        return name[0] if name[1] in schemas or name[0].lower() in written else "<type>"

    return _QUALIFIED.sub(show, message)


def _meaning(fault: ServerFault) -> _Meaning:
    return _MEANINGS.get(fault.sqlstate) or _CLASSES.get(fault.sqlstate[:2]) or _INTERNAL


def _detail(fault: ServerFault) -> str | None:
    return f"{fault.message} {fault.detail}".strip() or None


def _what_there_is(data: OpenData) -> str:
    return "there are: " + ", ".join(data.names)


def _teach(fault: ServerFault, sql: str, data: OpenData, used: list[Relation]) -> tuple[str | None, tuple[str, ...]]:
    match fault.sqlstate:
        case "42703":
            return _teach_column(fault, sql, data, used)
        case "42P01":
            return _teach_relation(fault, data, used)
        case "42883":
            return _teach_function(fault), ()
        case "42601":
            return syntax_hint(sql, fault.position), ()
        case "42501" | "25006":
            return _what_there_is(data), ()
        case _:
            return saying_hint(fault.message) or _teach_call(fault), ()


def _teach_column(
    fault: ServerFault, sql: str, data: OpenData, used: list[Relation]
) -> tuple[str | None, tuple[str, ...]]:
    found = _COLUMN.search(fault.message)
    name = found[1].rpartition(".")[2] if found else ""
    similar = data.nearest_columns(name, used)
    if name[:1] in _ODD_QUOTES:
        return "write plain quotes: 'paid' for a text, \"x\" for a name", similar
    if name and f'"{name}"' in sql:
        alike = data.nearest_columns(name.lower(), used)
        if name.lower() in alike:
            return f"names in double quotes keep their capitals: write {name.lower()}", alike
        return f"texts take single quotes: '{name}'", ()
    if name and re.search(rf"\bas\s+{re.escape(name)}\b", sql, re.IGNORECASE):
        return "a name of the SELECT list is known to GROUP BY and ORDER BY alone: repeat what it stands for", similar
    known = "; ".join(
        f"{data.shown_name(relation)} has: {', '.join(column.name for column in data.columns_of(relation))}"
        for relation in used
    )
    hint = " ".join(part for part in (fault.hint, known) if part)
    return hint or None, similar


def _teach_relation(fault: ServerFault, data: OpenData, used: list[Relation]) -> tuple[str | None, tuple[str, ...]]:
    if "missing FROM-clause entry" in fault.message or "invalid reference" in fault.message:
        found = _ENTRY.search(fault.message)
        name = found[1] if found else ""
        if any(column.name == name for relation in used for column in data.columns_of(relation)):
            return f"{name} is a column: of a document, use {name} ->> 'key'", ()
        return fault.hint or "the alias is used, and not declared in FROM", ()
    found = _RELATION.search(fault.message)
    name = found[1].rpartition(".")[2] if found else ""
    return _what_there_is(data), data.nearest(name)


def _teach_function(fault: ServerFault) -> str | None:
    if _ROUND.search(fault.message):
        return "cast to numeric: round(x::numeric, 2)"
    found = _FUNCTION.search(fault.message)
    if found and found[1] == "date_trunc":
        return "the unit comes first: date_trunc('month', ordered_at)"
    if found and (hint := function_hint(found[1]) or call_hint(found[1])):
        return hint
    usual = fault.hint or "cast the arguments to the types that the function or operator takes"
    return saying_hint(fault.message) or usual


def _teach_call(fault: ServerFault) -> str | None:
    return next((hint for word in fault.message.split() if (hint := call_hint(word))), None)
