"""The names that a JSON Schema promises, for checking templates against them."""

from collections.abc import Iterator, Mapping
from typing import Final

from placet.values.json import Json, JsonObject

_DEPTH: Final = 12
"""How many steps down a schema names are followed, references included; it may refer to itself."""


def names_in_schema(schema: JsonObject | None) -> frozenset[str]:
    """Return the dotted names of the values that a schema describes, for `check_template`.

    Fields of a list's items go under the list's name. An object that leaves its fields open
    gives `name.*`. None, the schema of free text, gives no names.
    """
    return frozenset(_names(schema or {}, schema or {}, "", 0))


def _names(schema: JsonObject, root: JsonObject, prefix: str, depth: int) -> Iterator[str]:
    if depth > _DEPTH:
        yield f"{prefix}*"
        return
    for part in _parts(schema, root):
        yield from _names(part, root, prefix, depth + 1)
    properties = schema.get("properties")
    if isinstance(properties, Mapping):
        for name, below in properties.items():
            yield f"{prefix}{name}"
            if isinstance(below, Mapping):
                yield from _names(below, root, f"{prefix}{name}.", depth + 1)
    extra = schema.get("additionalProperties")
    is_bare = schema.get("type") == "object" and not properties and extra is not False
    if isinstance(extra, Mapping) or extra is True or is_bare:
        yield f"{prefix}*"


def _parts(schema: JsonObject, root: JsonObject) -> Iterator[JsonObject]:
    """Yield the schemas whose names are this one's too: what it refers to, its choices, a list's items."""
    reference = schema.get("$ref")
    if isinstance(reference, str):
        yield _resolve(reference, root)
    for keyword in ("anyOf", "oneOf", "allOf", "prefixItems"):
        choices = schema.get(keyword)
        if isinstance(choices, list | tuple):
            yield from (choice for choice in choices if isinstance(choice, Mapping))
    items = schema.get("items")
    if isinstance(items, Mapping):
        yield items


def _resolve(reference: str, root: JsonObject) -> JsonObject:
    """Return the part of a schema that a reference names; nothing for one that leads outside."""
    found: Json = root
    for part in reference.removeprefix("#").split("/")[1:]:
        found = found.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) and reference.startswith("#") else {}
