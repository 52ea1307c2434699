"""The rules of the guard: each a question over the facts of a query.

Rules have no order that matters to what is let through; the first that objects is told.
"""

from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from placet.database.answer import Fix
from placet.database.facts import Argument, Facts, NameUse
from placet.database.hints import changes, construct_hint, function_hint, size_hint, type_hint
from placet.database.objection import Objection
from placet.database.policy import (
    DOTTED_WORDS,
    FUNCTIONS,
    LARGEST_LENGTH,
    LARGEST_TREE,
    LARGEST_VALUE,
    NODES,
    SAMPLES,
    SEARCHES,
    TYPES,
    VALUES,
    Policy,
)
from placet.database.regex import LARGEST_PATTERN, measure_pattern
from placet.database.relation import OpenData, Relation, is_misspelt, nearest
from placet.database.sizes import POWER, is_bounded_power, is_small, size_problem

Rule: TypeAlias = Callable[[Facts, OpenData, Policy], Iterator[Objection]]
"""One question about a query. It must be pure."""

_CATALOG: Final = ((), ("pg_catalog",))
_PADDED: Final = frozenset({"bpchar", "bit", "char"})


def find(use: NameUse, data: OpenData) -> Relation | None:
    """Return the open relation that a name in a query reaches, or None."""
    match use.parts:
        case (name,):
            return data.find(name)
        case (schema, name):
            return data.find(name, schema)
        case _:
            return None


def is_one_query(facts: Facts, _data: OpenData, _policy: Policy) -> Iterator[Objection]:
    """One statement, and it reads."""
    match facts.statements:
        case ("SelectStmt",):
            return
        case ():
            yield Objection("empty", "there is no query", Fix.SQL, "write one SELECT")
        case (kind,):
            message = f"this is a statement of the kind {kind.removesuffix('Stmt')}"
            hint = "only SELECT, WITH … SELECT, VALUES and TABLE are run here; nothing can be changed"
            yield Objection("not_a_query", message, hint=hint)
        case several:
            yield Objection("several_statements", f"these are {len(several)} statements; one at a time is run", Fix.SQL)


def has_known_nodes(facts: Facts, _data: OpenData, _policy: Policy) -> Iterator[Objection]:
    """Nothing in the tree that is not on the list, wherever it stands."""
    for node, position in facts.nodes.items():
        if node not in NODES:
            message, hint = f"a construct is not open here: {node}", construct_hint(node)
            fix = Fix.SQL if hint and not changes(node) else Fix.POLICY
            yield Objection("construct_not_allowed", message, fix, hint, position)


def reads_open_relations(facts: Facts, data: OpenData, _policy: Policy) -> Iterator[Objection]:
    """Every relation is open. One that is not and one that does not exist are told alike."""
    for use in facts.relations:
        if find(use, data) is None:
            hint = "there are: " + ", ".join(data.names)
            similar = data.nearest(use.parts[-1])
            message = f"there is no relation {use.text!r}"
            yield Objection("unknown_relation", message, Fix.SQL, hint, use.position, similar)


def calls_listed_functions(facts: Facts, _data: OpenData, policy: Policy) -> Iterator[Objection]:
    """Every function is on the list or granted, and makes no size out of a number."""
    for use in facts.functions:
        name = use.parts[-1]
        if name in FUNCTIONS and use.parts[:-1] in _CATALOG:
            if problem := size_problem(name, use.arguments):
                yield Objection("too_large", problem, Fix.SQL, size_hint(name), use.position)
        elif use.text not in policy.functions:
            hint = function_hint(name)
            message = f"the function {use.text!r} is not open here"
            similar = nearest(name, FUNCTIONS)
            fix = Fix.SQL if hint or is_misspelt(name, similar) else Fix.POLICY
            yield Objection("function_not_allowed", message, fix, hint, use.position, similar)
    for use in facts.values:
        if use.text not in VALUES:
            yield Objection("function_not_allowed", f"{use.text!r} is not open here", position=use.position)


def names_bare_configurations(facts: Facts, _data: OpenData, _policy: Policy) -> Iterator[Objection]:
    """No text search configuration names a schema: whether there is one would be told."""
    for use in facts.functions:
        first = use.arguments[0] if len(use.arguments) > 1 and use.parts[-1] in SEARCHES else Argument()
        if first.is_constant and not (isinstance(first.value, str) and first.value.isidentifier()):
            message = "a text search configuration is named by one word in quotes"
            hint = f"write {use.parts[-1]}('simple', …)"
            yield Objection("configuration_not_allowed", message, Fix.SQL, hint, use.position)


def names_listed_types(facts: Facts, _data: OpenData, _policy: Policy) -> Iterator[Objection]:
    """Every type is on the list, and none pads a value to a large one."""
    for use in facts.types:
        name = use.parts[-1]
        if use.is_open_ended or name not in TYPES or use.parts[:-1] not in _CATALOG:
            message, hint, similar = f"the type {use.text!r} is not open here", type_hint(name), nearest(name, TYPES)
            fix = Fix.SQL if hint or is_misspelt(name, similar) else Fix.POLICY
            yield Objection("type_not_allowed", message, fix, hint, use.position, similar)
        elif name in _PADDED and not all(is_small(modifier) for modifier in use.arguments):
            message = f"the type pads a value to more than {LARGEST_LENGTH} characters"
            yield Objection("too_large", message, Fix.SQL, "use text or varchar", use.position)


def uses_bare_operators(facts: Facts, _data: OpenData, _policy: Policy) -> Iterator[Objection]:
    """No operator and no collation names a schema: operators are functions."""
    for use in facts.operators:
        if len(use.parts) > 1:
            message = f"the operator {use.text!r} names a schema"
            yield Objection("operator_not_allowed", message, Fix.SQL, "write it bare", use.position)
        elif not is_bounded_power(use.arguments):
            yield Objection("too_large", POWER, Fix.SQL, position=use.position)
    for use in facts.collations:
        if len(use.parts) > 1:
            message = f"the collation {use.text!r} names a schema"
            yield Objection("collation_not_allowed", message, Fix.SQL, "write it bare", use.position)


def calls_nothing_by_a_dot(facts: Facts, data: OpenData, policy: Policy) -> Iterator[Objection]:
    """No name after a dot is one that a dot calls: `c.f` is `f(c)` when `c` has no such column, `(x).f` is `f(x)`."""
    granted = {name.partition(".")[2] for name in policy.functions}
    harmless = FUNCTIONS | TYPES | DOTTED_WORDS | granted
    for use in facts.long_columns:
        if len(use.parts) != 3 or data.find(use.parts[1], use.parts[0]) is None:
            message = f"the column {use.text!r} is of no open relation"
            yield Objection("long_column", message, Fix.SQL, "write alias.column", use.position)
    for use in facts.notations:
        called = use.parts[-1].removeprefix("_")  # `_int4` is an array of `int4`
        if (called in policy.dotted or called.startswith("pg_")) and called not in harmless:
            yield Objection("unknown_column", f"there is no column {use.parts[-1]!r}", Fix.SQL, position=use.position)


def names_no_system_column(facts: Facts, data: OpenData, _policy: Policy) -> Iterator[Objection]:
    """No column of the system's own, unless a view that is open calls one of its columns so."""
    for use in facts.system_columns:
        name = use.parts[-1]
        if not any(column.name == name for relation in data.relations for column in data.columns_of(relation)):
            yield Objection("unknown_column", f"there is no column {name!r}", Fix.SQL, position=use.position)


def samples_plainly(facts: Facts, _data: OpenData, _policy: Policy) -> Iterator[Objection]:
    """Samples are of the two built-in methods, by constants."""
    for use in facts.samples:
        is_plain = len(use.parts) == 1 and use.parts[0] in SAMPLES
        if not is_plain or not all(argument.is_constant for argument in use.arguments):
            hint = "write TABLESAMPLE bernoulli (5), with a number"
            yield Objection("sample_not_allowed", "this sample is not open here", Fix.SQL, hint, use.position)


def builds_bounded_values(facts: Facts, _data: OpenData, _policy: Policy) -> Iterator[Objection]:
    """No value grows out of itself."""
    if facts.largest_value > LARGEST_VALUE:
        message = "the query builds a value out of itself again and again; it would become too large"
        yield Objection("too_large", message, Fix.NARROW)
    if facts.handles_much:
        message = "the query collects long values, or works on a collection again and again"
        yield Objection("too_large", message, Fix.NARROW, "work on the rows, and collect them last")


def expands_boundedly(facts: Facts, _data: OpenData, _policy: Policy) -> Iterator[Objection]:
    """No expression and no `WITH` is repeated so often that planning alone would fill the memory."""
    if facts.largest_tree > LARGEST_TREE:
        message = "the query repeats its own parts again and again; it would become too large"
        yield Objection(
            "too_large", message, Fix.NARROW, "write WITH … AS MATERIALIZED, and use each name once or twice"
        )


def searches_for_short_texts(facts: Facts, _data: OpenData, _policy: Policy) -> Iterator[Objection]:
    """Nothing that was collected from rows is searched for something as long: no cancellation ends that."""
    for position in facts.long_searches:
        message = "one collection is compared with another, or a long text or pattern is looked for"
        hint = "write out what is looked for, in few characters; compare rows by a join"
        yield Objection("too_large", message, Fix.SQL, hint, position)


def matches_small_patterns(facts: Facts, _data: OpenData, _policy: Policy) -> Iterator[Objection]:
    """No regular expression becomes large: PostgreSQL compiles it to its end."""
    for pattern in facts.patterns:
        if measure_pattern(pattern.text) > LARGEST_PATTERN:
            message = "the regular expression, with its repetitions written out, is too large"
            hint = "repeat less; look for one of many texts by = ANY (…), for a part of a text by LIKE"
            yield Objection("too_large", message, Fix.SQL, hint, pattern.position)


RULES: Final[tuple[Rule, ...]] = (
    is_one_query,
    has_known_nodes,
    reads_open_relations,
    calls_listed_functions,
    names_bare_configurations,
    names_listed_types,
    uses_bare_operators,
    calls_nothing_by_a_dot,
    names_no_system_column,
    samples_plainly,
    builds_bounded_values,
    expands_boundedly,
    searches_for_short_texts,
    matches_small_patterns,
)
