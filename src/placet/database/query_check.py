"""Whether a named query may be as it stands in its file: what could not work, or not as it reads, fails the start."""

from collections.abc import Collection
from typing import Final

from placet.database.parameters import MATCHING, Parameter
from placet.database.placeholders import Placeholder, has_several, is_select, placeholders
from placet.database.relation import nearest
from placet.database.statement import Statement
from placet.errors import ConfigurationError
from placet.values.limits import parse_limit
from placet.values.tool import TOOL_NAME, Effect

MOST_VARIANTS: Final = 64
"""Of one query, all its variants together: each is a statement that is described at the start."""


def check_statement(statement: Statement) -> None:
    """Refuse what could not work, or not as it reads.

    Raises:
        ConfigurationError: Says what, and where.
    """
    where = statement.where
    if not TOOL_NAME.fullmatch(statement.name):
        raise ConfigurationError(f"{where}: {statement.name!r} is no name of a tool")
    if not statement.description:
        raise ConfigurationError(
            f"{where}: it has no description, and the model chooses by it; write it "
            "below the name, as a line that begins with '-- '"
        )
    if not statement.sql:
        raise ConfigurationError(f"{where}: it has no statement")
    placeholders(statement.sql, where)  # looks at its characters, which may be mistaken for others
    if has_several(statement.sql):
        raise ConfigurationError(
            f"{where}: it has a semicolon inside; a query is one statement, with a name of its own"
        )
    if statement.effect is Effect.READ and not is_select(statement.sql):
        raise ConfigurationError(f"{where}: it begins as no SELECT; state its effect, 'write' or 'destructive'")
    for limit in statement.limits:
        try:
            parse_limit(limit)
        except ConfigurationError as error:
            raise ConfigurationError(f"{where}: {error}") from error
    _check_places(statement)


def _check_places(statement: Statement) -> None:
    where = statement.where
    values = {
        parameter.name: parameter for parameter in statement.parameters if parameter.name not in statement.variants
    }
    bound = {bind.parameter.name: bind.parameter for bind in statement.binds}
    if both := sorted((values.keys() | statement.variants.keys()) & bound.keys()):
        raise ConfigurationError(f"{where}: {both[0]!r} is the model's and the runtime's at once")
    if len(values) + len(statement.variants) != len(statement.parameters) or len(bound) != len(statement.binds):
        raise ConfigurationError(f"{where}: a parameter is declared twice")
    texts = [statement.sql, *(text for choice in statement.variants.values() for text in choice.values())]
    places = [place for text in texts for place in placeholders(text, where)]
    for place in places:
        if place.is_variant != (place.name in statement.variants) or (
            not place.is_variant and place.name not in values | bound
        ):
            raise ConfigurationError(f"{where}: {_undeclared(place, {*values, *bound}, statement.variants.keys())}")
        if declared := (values | bound).get(place.name):
            _check_matching(declared, place, where)
    if unused := sorted((values.keys() | bound.keys() | statement.variants.keys()) - {place.name for place in places}):
        form = f"{{{unused[0]}}}" if unused[0] in statement.variants else f":{unused[0]}"
        raise ConfigurationError(
            f"{where}: {unused[0]!r} is declared and not used; it is written {form}, outside of texts and comments"
        )
    count = 1
    for choices in statement.variants.values():
        count *= len(choices)
    if count > MOST_VARIANTS:
        raise ConfigurationError(f"{where}: it has {count} variants; at most {MOST_VARIANTS} are prepared")


def _undeclared(place: Placeholder, values: Collection[str], variants: Collection[str]) -> str:
    """Return that something in a statement is not declared, and how it would be."""
    shown = f"{{{place.name}}}" if place.is_variant else f":{place.name}"
    if place.name in values or place.name in variants:
        form = f":{place.name}" if place.is_variant else f"{{{place.name}}}"
        return f"{shown} is not declared; is {form} meant?"
    if near := nearest(place.name, sorted(variants if place.is_variant else values)):
        return f"{shown} is not declared; is {near[0]!r} meant?"
    form = f"-- variant: {place.name}: choice = text" if place.is_variant else f"-- param: {place.name} int"
    slice_ = "" if place.is_variant else "; a colon that is no value has a blank behind it, [1 : n]"
    return f"{shown} is not declared; write {form!r} above the statement{slice_}"


def _check_matching(parameter: Parameter, place: Placeholder, where: str) -> None:
    """Refuse a value in a pattern whose wildcards would count, one that is escaped for none, and one for a column."""
    name = parameter.name
    if place.is_expression and parameter.kind in ("text", *MATCHING) and parameter.pattern is None:
        raise ConfigurationError(
            f"{where}: a regular expression would read wildcards in :{name}; use LIKE, and declare it as prefix or "
            "contains; or give it a pattern that leaves none, as text /[a-z0-9]+/"
        )
    if place.is_sorted_by:
        raise ConfigurationError(
            f"{where}: :{name} is one value for every row, and orders nothing; write {{{name}}} and a variant for "
            "each order"
        )
    if place.is_matched and parameter.kind == "text":
        raise ConfigurationError(
            f"{where}: LIKE would read wildcards in :{name}; declare it as prefix or contains, for LIKE"
        )
    if parameter.kind in MATCHING and place.is_escaped_otherwise:
        raise ConfigurationError(f"{where}: :{name} is escaped by a backslash, and ESCAPE says otherwise")
    if parameter.kind in MATCHING and not place.is_matched and not place.is_asked_for_null:
        raise ConfigurationError(f"{where}: :{name} is escaped for LIKE, and no LIKE looks at it; declare it as text")
