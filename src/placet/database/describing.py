"""What the relations that are open have for columns, as PostgreSQL itself describes them.

The extra `postgres`.
"""

from psycopg.sql import Identifier

from placet.database.postgres_values import type_name
from placet.database.relation import KnownColumn, Relation
from placet.database.wire import ServerError, Wire, described, statement
from placet.errors import ConfigurationError


async def describe_relation(wire: Wire, relation: Relation) -> tuple[KnownColumn, ...]:
    """Return the columns of a relation, as this login sees it.

    Raises:
        ConfigurationError: It is not there, may not be read, or lacks a column.
    """
    name = Identifier(relation.schema, relation.name).as_string(None)
    try:
        # Run, not only described: whether it may be read is looked at when a statement begins.
        (shape,) = await wire.send(statement(f"SELECT * FROM {name} LIMIT 0".encode()))  # noqa: S608 - quoted
    except ServerError as error:
        raise ConfigurationError(
            f"the relation {relation.full_name!r} cannot be opened: {error.fault.message}"
        ) from error
    known = [column for column, _ in described(shape).columns]
    if missing := [column for column in relation.columns if column not in known]:
        raise ConfigurationError(f"the relation {relation.full_name!r} has no column {missing[0]!r}; it has {known}")
    return tuple(
        KnownColumn(column, type_name(oid) or "text", relation.columns.get(column, ""))
        for column, oid in described(shape).columns
    )
