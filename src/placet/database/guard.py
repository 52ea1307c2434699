"""The guard of the PostgreSQL sandbox: what a query is made of must be on the lists.

The database's role is the boundary, and this is the second one. It stops what no role can:
advisory locks that fill the shared lock table, `set_config`, NOTIFY, sizes made out of numbers.
First the text is measured, flat; then it is parsed; then the rules (`placet.database.rules`) look
at the facts. Whatever breaks on the way is a refusal too.
"""

import re
from dataclasses import dataclass
from typing import Final

from placet.database.answer import Fix, SqlRefusal
from placet.database.caps import Caps
from placet.database.facts import SqlParser, Unparsable
from placet.database.hints import syntax_hint
from placet.database.making import COLLECTING
from placet.database.objection import Objection
from placet.database.policy import Policy
from placet.database.relation import OpenData
from placet.database.rules import RULES, Rule, find

_FORBIDDEN_CHARACTER: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\xa0\u2028\u2029\ufeff]")
"""Control characters but tab and line feed, and blanks that PostgreSQL reads as parts of names.
A carriage return ends a line comment in PostgreSQL, and not in what shows it to a person."""


@dataclass(frozen=True, slots=True)
class Passed:
    """A query that may be sent.

    Attributes:
        statement: Its one statement, without the semicolon and what follows.
        relations: The open relations that it reads, by full name.
        collects: Whether it has an aggregate that keeps all that it reads.
    """

    statement: str
    relations: tuple[str, ...]
    collects: bool = False


class Guard:
    """Decides whether a query may be sent to PostgreSQL.

    Args:
        parser: Reads the query.
        data: What is open.
        policy: What is granted besides the lists.
        caps: How long and how deep a query may be.
        rules: The questions that are asked. Your own go after the standard ones.
    """

    def __init__(
        self, parser: SqlParser, data: OpenData, policy: Policy | None = None, caps: Caps | None = None,
        rules: tuple[Rule, ...] = RULES,
    ) -> None:  # fmt: skip
        self._parser = parser
        self._data = data
        self._policy = policy or Policy()
        self._caps = caps or Caps()
        self._rules = rules

    def check(self, sql: str) -> Passed | SqlRefusal:
        """Return the statement to send, or why there is none.

        Safe in any thread: what could exhaust its stack is refused by the tokens alone.
        """
        try:
            checked = self._check(sql)
        except Exception as error:  # noqa: BLE001 - whatever broke, refuse
            message = "the query could not be checked, so it was not run; write it more plainly"
            return SqlRefusal(code="not_checked", message=message, fix=Fix.SQL, detail=repr(error))
        return checked.refuse(sql) if isinstance(checked, Objection) else checked

    def _check(self, sql: str) -> Passed | Objection:
        if objection := self._measure(sql):
            return objection
        facts = self._parser.read(sql)
        if isinstance(facts, Unparsable):
            return _syntax(sql, facts)
        for rule in self._rules:
            for objection in rule(facts, self._data, self._policy):
                return objection
        found = (find(use, self._data) for use in facts.relations)
        names = dict.fromkeys(relation.full_name for relation in found if relation)
        collects = any(use.parts[-1] in COLLECTING for use in (*facts.functions, *facts.notations))
        return Passed(sql[: facts.end], tuple(names), collects)

    def _measure(self, sql: str) -> Objection | None:
        """Look at the text and its tokens, so that the parser is never handed what could break it."""
        return self._measure_text(sql) or self._measure_tokens(sql)

    def _measure_text(self, sql: str) -> Objection | None:
        caps = self._caps
        if len(sql) > caps.query_characters:
            message = f"the query has {len(sql)} characters; at most {caps.query_characters} are read"
            return Objection("too_long", message, Fix.NARROW)
        if found := _FORBIDDEN_CHARACTER.search(sql):
            message = f"the character U+{ord(found[0]):04X} may not stand in a query"
            return Objection("bad_character", message, Fix.SQL, "use plain blanks and line feeds", found.start())
        if sql.count("/*") > caps.comments:
            return Objection("too_long", f"the query opens more than {caps.comments} block comments", Fix.SQL)
        return None

    def _measure_tokens(self, sql: str) -> Objection | None:
        caps = self._caps
        measure = self._parser.measure(sql)
        if isinstance(measure, Unparsable):
            return _syntax(sql, measure)
        if measure.tokens > caps.tokens:
            message = f"the query has {measure.tokens} words and signs; at most {caps.tokens} are read"
            return Objection("too_long", message, Fix.NARROW)
        if measure.depth > caps.depth or measure.nesting > caps.nesting:
            return Objection("too_deep", "the query is nested too deep", Fix.SQL, "build it from WITH clauses")
        if measure.parameter is not None:
            message = "a query is sent as it is: nothing fills a placeholder"
            hint = "write the value itself, a text in single quotes"
            return Objection("placeholder", message, Fix.SQL, hint, measure.parameter)
        return None


def _syntax(sql: str, fault: Unparsable) -> Objection:
    return Objection("syntax", fault.message, Fix.SQL, syntax_hint(sql, fault.position), fault.position)
