"""What the SQLite sandbox lets a query use: functions by name, and the tables that come from a value."""

from typing import Final

FUNCTIONS: Final = frozenset(
    """
    -> ->> abs acos acosh asin asinh atan atan2 atanh avg ceil ceiling char coalesce concat concat_ws cos cosh count
    cume_dist current_date current_time current_timestamp date datetime degrees dense_rank exp first_value floor glob
    group_concat hex if ifnull iif instr json json_array json_array_length json_extract json_group_array
    json_group_object json_object json_quote json_type json_valid julianday lag last_value lead length like likelihood
    likely ln log log10 log2 lower ltrim max median min mod nth_value ntile nullif octet_length percent_rank percentile
    percentile_cont percentile_disc pi pow power quote radians random rank replace round row_number rtrim sign sin sinh
    sqrt string_agg strftime substr substring sum tan tanh time timediff total trim trunc typeof unicode unixepoch
    unlikely upper
    """.split()  # noqa: SIM905 - a list of words reads better than a list of quoted words
)
"""Not on it: what makes size out of numbers (`printf`, `format`, `zeroblob`, `randomblob`), files,
extensions, build information, `changes` and `last_insert_rowid`."""

TABLES_OF_A_VALUE: Final = frozenset({"json_each", "json_tree"})
"""Table-valued functions: they read their argument."""

MOST_MATCHES: Final = 30
"""LIKE and GLOB of one query."""

LONGEST_PATTERN: Final = 100
"""Characters of the pattern of one LIKE or GLOB."""

LONGEST_NEEDLE: Final = 100
"""Characters of a text that `trim`, `replace` and `instr` look for in another."""
