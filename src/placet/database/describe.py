"""What there is, for a model: from the plan, never from the catalog."""

from placet.database.relation import OpenData
from placet.values.json import Json, JsonObject

_DIALECTS = {
    "postgres": "PostgreSQL. Functions and types of PostgreSQL; bare names are those of the relations below.",
    "sqlite": "SQLite. Dates are texts: use strftime, date and julianday.",
}


def describe_data(data: OpenData, dialect: str, relation: str | None = None) -> JsonObject:
    """Return what is open: relations and their columns.

    Args:
        data: What is open.
        dialect: Which SQL is spoken.
        relation: One relation alone, by its shown name. One that is not open is answered with
            the names of those that are.
    """
    if relation is not None and relation not in data.names:
        return {"relations": list(data.names), "nearest": list(data.nearest(relation))}
    shown: list[Json] = []
    for open_relation in data.relations:
        name = data.shown_name(open_relation)
        if relation in (None, name):
            shown.append(
                {
                    "name": name,
                    **({"description": open_relation.description} if open_relation.description else {}),
                    "columns": [
                        {
                            "name": column.name,
                            "type": column.type,
                            **({"description": column.description} if column.description else {}),
                        }
                        for column in data.columns_of(open_relation)
                    ],
                }
            )
    return {"dialect": _DIALECTS.get(dialect, dialect), "relations": shown}
