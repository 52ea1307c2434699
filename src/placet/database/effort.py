"""What a function takes to work on a collection: what was made of many rows, and may have hundreds of megabytes.

PostgreSQL looks at no clock inside a function, nor between the functions of one row. For 360 MB, which a query
collects within a second, `length` takes 0.4 s, `upper` 2 s, a cast of an array to a text 3 s, and one of a text to
`json` or `tsquery` 15 s to 30 s and gigabytes (measured on 18.6). So each has its points, and a query has a number of
points. What is slow is better done to the rows, before they are collected.
"""

from typing import Final

MOST_EFFORT: Final = 20
"""Points of a query."""
TOO_MUCH: Final = MOST_EFFORT + 1
_USUAL: Final = 3

_NONE: Final = """
    any_value array_length array_lower array_ndims array_upper bit_length cardinality count first_value lag last_value
    lead left nth_value num_nonnulls num_nulls octet_length substr substring
"""
_LITTLE: Final = """
    concat concat_ws json_build_array json_build_object jsonb_build_array jsonb_build_object max min right unnest ||
    - -> ->> #> #>>
"""
_MUCH: Final = """
    array_positions array_replace array_to_json initcap json_array_elements
    json_array_elements_text json_array_length json_each json_each_text json_object_keys json_strip_nulls
    jsonb_array_elements jsonb_array_elements_text jsonb_each jsonb_each_text jsonb_pretty jsonb_strip_nulls lower
    quote_literal quote_nullable regexp_replace replace reverse sha256 string_to_array string_to_table translate upper
"""
_MORE: Final = "row_to_json to_json to_jsonb"
_TOO_MUCH: Final = "decode encode is_normalized normalize to_date to_number to_timestamp to_tsvector"
_EFFORTS: Final = {
    **dict.fromkeys(_NONE.split(), 0),
    **dict.fromkeys(_LITTLE.split(), 1),
    **dict.fromkeys(_MUCH.split(), 5),
    **dict.fromkeys(_MORE.split(), 7),
    **dict.fromkeys(_TOO_MUCH.split(), TOO_MUCH),
}
TEXT_TYPES: Final = frozenset({"text", "varchar", "bpchar"})
_DOCUMENTS: Final = frozenset({"json", "jsonb"})


def effort_of(name: str) -> int:
    """Return what a function or an operator takes to work on a collection."""
    return _EFFORTS.get(name, _USUAL)


def effort_of_cast(type_name: str, *, is_array: bool, is_text: bool) -> int:
    """Return what it takes to cast a collection.

    Args:
        type_name: To which type, without its schema.
        is_array: Whether to an array of it.
        is_text: Whether the collection is a text, which would have to be read.
    """
    if type_name in TEXT_TYPES and not is_array:
        return 1 if is_text else 5
    return 7 if not is_text and (is_array or type_name in _DOCUMENTS) else TOO_MUCH
