"""What functions, operators and nodes make of the values that they are given: larger ones, collections, parts."""

from typing import Final

PADDING: Final = frozenset({"lpad", "rpad", "round", "trunc", "exp", "power", "pow"})
"""Functions that make length out of a number, within bounds."""
ADDING: Final = frozenset(
    {
        "concat", "concat_ws", "overlay", "array_append", "array_prepend", "array_cat", "json_build_object",
        "jsonb_build_object", "json_build_array", "jsonb_build_array", "json_object", "jsonb_object", "jsonb_set",
        "quote_literal", "quote_nullable",
    }
)  # fmt: skip
MULTIPLYING: Final = frozenset({"replace", "regexp_replace", "array_to_string", "array_replace"})
COLLECTING: Final = frozenset(
    {
        "string_agg", "array_agg", "json_agg", "jsonb_agg", "json_object_agg", "jsonb_object_agg", "json_agg_strict",
        "jsonb_agg_strict", "json_object_agg_strict", "jsonb_object_agg_strict",
    }
)  # fmt: skip

BUILDERS: Final = {**dict.fromkeys(ADDING | COLLECTING, 1), **dict.fromkeys(MULTIPLYING, 7)}
"""The functions that make a larger value out of smaller ones, and how many concatenations each may come to."""

SEARCHING: Final = frozenset(
    {"strpos", "position", "replace", "split_part", "string_to_array", "string_to_table", "translate", "btrim", "ltrim",
     "rtrim", "array_positions", "array_replace"}
)  # fmt: skip
"""Functions that look for their second argument in the first."""
READING: Final = frozenset(
    {"to_tsquery", "plainto_tsquery", "phraseto_tsquery", "websearch_to_tsquery", "jsonb_path_query",
     "jsonb_path_query_array", "jsonb_path_query_first", "jsonb_path_exists", "jsonb_path_match"}
)  # fmt: skip
"""Functions whose time or memory grows faster than what they read."""
BY_DOT: Final = COLLECTING | ADDING | READING
"""Functions that matter when a dot calls them, as in `c.json_agg`: of one value, nothing is multiplied or searched."""
LIKE: Final = frozenset({"~~", "!~~", "~~*", "!~~*"})
CONTAINING: Final = frozenset({"@>", "<@", "&&", "?|", "?&", "-"})
"""Operators that compare every part of one side with every part of the other."""
PATHS: Final = frozenset({"@?", "@@"})
TAKING: Final = frozenset({"->", "->>"})
KEEPING: Final = TAKING | {"||", "-", "#>", "#>>"}
"""Operators whose result may be a collection, and those among them that take an element out."""
NUMBERS: Final = frozenset(
    """
    array_length array_lower array_ndims array_position array_upper ascii avg bit_length cardinality char_length
    character_length count json_array_length json_typeof jsonb_array_length jsonb_typeof length md5 num_nonnulls
    num_nulls octet_length position regexp_count regexp_instr sha256 starts_with strpos sum
    """.split()  # noqa: SIM905 - a list of words reads better than a list of quoted words
)
"""Functions that make something short of a collection."""
TAKING_APART: Final = frozenset(
    """
    unnest json_array_elements json_array_elements_text jsonb_array_elements jsonb_array_elements_text json_each
    json_each_text jsonb_each jsonb_each_text json_object_keys jsonb_object_keys string_to_table regexp_split_to_table
    """.split()  # noqa: SIM905 - a list of words reads better than a list of quoted words
)

ADDING_NODES: Final = frozenset(
    {"RowExpr", "A_ArrayExpr", "JsonObjectConstructor", "JsonArrayConstructor", "JsonKeyValue"}
)
COLLECTING_NODES: Final = frozenset({"JsonArrayAgg", "JsonObjectAgg", "JsonArrayQueryConstructor"})
WRAPPING: Final = frozenset(
    """
    array_append array_prepend array_replace json_build_array json_build_object json_object jsonb_build_array
    jsonb_build_object jsonb_object jsonb_set regexp_match regexp_matches row_to_json to_json to_jsonb ||
    """.split()  # noqa: SIM905 - a list of words reads better than a list of quoted words
)
"""Functions and operators that make a value of which another is an element."""
SPLITTING: Final = frozenset({"string_to_array", "regexp_split_to_array"})
TEXTS: Final = frozenset({"array_to_string", "concat", "concat_ws", "string_agg"})
"""Functions that make a text of what is none."""
WRAPPING_NODES: Final = frozenset(
    {"RowExpr", "A_ArrayExpr", "JsonObjectConstructor", "JsonArrayConstructor", "JsonScalarExpr", "JsonParseExpr"}
)
READING_NODES: Final = frozenset({"JsonParseExpr", "JsonFuncExpr", "JsonIsPredicate"})
"""What reads a text as a document."""
