"""The allow-lists of the PostgreSQL sandbox: what a query may be made of.

Whatever is not on a list is refused, so a list grows by a decision and never by a release of
PostgreSQL. **Never on the list of functions**: what runs SQL text (`query_to_xml`, `ts_stat`,
`crosstab`, `dblink`), what makes size out of numbers (`repeat`, `array_fill`, `format`), what
changes the session (`set_config`, `setseed`), locks, sequences, large objects, files, settings,
`pg_*`, `to_reg*` and `has_*_privilege`.
"""

from dataclasses import dataclass, field
from typing import Final

from placet.errors import ConfigurationError

NODES: Final = frozenset(
    """
    SelectStmt RangeVar RangeSubselect RangeFunction RangeTableSample JoinExpr Alias WithClause CommonTableExpr
    CTESearchClause CTECycleClause ResTarget ColumnRef A_Star A_Const A_Expr A_Indirection A_Indices A_ArrayExpr
    BoolExpr NullTest BooleanTest CaseExpr CaseWhen CoalesceExpr MinMaxExpr SubLink RowExpr FuncCall NamedArgExpr
    TypeCast TypeName CollateClause WindowDef SortBy GroupingSet GroupingFunc SQLValueFunction ColumnDef List
    Integer Float Boolean String BitString
    JsonFormat JsonReturning JsonOutput JsonValueExpr JsonBehavior JsonArgument JsonFuncExpr JsonIsPredicate
    JsonKeyValue JsonObjectConstructor JsonArrayConstructor JsonArrayQueryConstructor JsonAggConstructor
    JsonObjectAgg JsonArrayAgg JsonParseExpr JsonScalarExpr JsonSerializeExpr
    """.split()  # noqa: SIM905 - a list of words reads better than a list of quoted words
)
"""Classes of the parse tree. Among those that are missing: LockingClause, IntoClause, every
statement but SelectStmt, XmlExpr, RangeTableFunc, JsonTable, ParamRef, CurrentOfExpr."""

_AGGREGATES: Final = """
    any_value array_agg avg bit_and bit_or bit_xor bool_and bool_or corr count covar_pop covar_samp every json_agg
    json_agg_strict json_object_agg json_object_agg_strict jsonb_agg jsonb_agg_strict jsonb_object_agg
    jsonb_object_agg_strict max min mode percentile_cont percentile_disc regr_avgx regr_avgy regr_count
    regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy stddev stddev_pop stddev_samp string_agg sum
    var_pop var_samp variance
"""
_WINDOW: Final = """
    cume_dist dense_rank first_value lag last_value lead nth_value ntile percent_rank rank row_number
"""
_NUMBERS: Final = """
    abs acos asin atan atan2 cbrt ceil ceiling cos cot degrees div exp floor gcd lcm ln log log10 min_scale mod pi pow
    power radians random round scale sign sin sqrt tan trim_scale trunc width_bucket
"""
_TEXT: Final = """
    ascii bit_length btrim casefold char_length character_length chr concat concat_ws initcap left length
    like_escape lower lpad ltrim md5 normalize is_normalized octet_length overlay position quote_literal
    quote_nullable regexp_count regexp_instr regexp_like regexp_match regexp_matches regexp_replace
    regexp_split_to_array regexp_split_to_table regexp_substr replace reverse right rpad rtrim sha256
    similar_to_escape split_part starts_with string_to_array string_to_table strpos substr substring to_char to_hex
    to_number translate upper encode decode
"""
_TIME: Final = """
    age clock_timestamp date date_add date_bin date_part date_subtract date_trunc extract isfinite justify_days
    justify_hours justify_interval make_date make_interval make_time make_timestamp make_timestamptz now overlaps
    statement_timestamp timezone to_date to_timestamp transaction_timestamp
"""
_JSON: Final = """
    array_to_json json_array_elements json_array_elements_text json_array_length json_build_array json_build_object
    json_each json_each_text json_extract_path json_extract_path_text json_object json_object_keys json_strip_nulls
    json_to_record json_to_recordset json_typeof jsonb_array_elements jsonb_array_elements_text jsonb_array_length
    jsonb_build_array jsonb_build_object jsonb_each jsonb_each_text jsonb_extract_path jsonb_extract_path_text
    jsonb_object jsonb_object_keys jsonb_path_exists jsonb_path_match jsonb_path_query jsonb_path_query_array
    jsonb_path_query_first jsonb_pretty jsonb_set jsonb_strip_nulls jsonb_to_record jsonb_to_recordset jsonb_typeof
    row_to_json to_json to_jsonb
"""
_ARRAYS: Final = """
    array_append array_cat array_length array_lower array_ndims array_position array_positions array_prepend
    array_remove array_replace array_to_string array_upper cardinality generate_series generate_subscripts trim_array
    unnest num_nonnulls num_nulls
"""
_RANGES: Final = """
    daterange int4range int8range isempty lower_inc lower_inf numrange range_merge tsrange tstzrange upper_inc
    upper_inf
"""
SEARCHES: Final = frozenset(
    {"phraseto_tsquery", "plainto_tsquery", "to_tsquery", "to_tsvector", "websearch_to_tsquery"}
)
"""Functions that may take a text search configuration, by its name, as the first of several arguments."""

FUNCTIONS: Final = frozenset(
    f"{_AGGREGATES} {_WINDOW} {_NUMBERS} {_TEXT} {_TIME} {_JSON} {_ARRAYS} {_RANGES} ts_rank ts_rank_cd".split()
).union(SEARCHES)
"""Functions of `pg_catalog`, called bare or with that schema."""

TYPES: Final = frozenset(
    """
    bit bool bpchar bytea char date daterange decimal float4 float8 inet int int2 int4 int4range int8 int8range
    integer interval json jsonb jsonpath money name numeric numrange smallint bigint text time timestamp timestamptz
    timetz tsquery tsrange tstzrange tsvector uuid varbit varchar real cidr boolean
    """.split()  # noqa: SIM905 - a list of words reads better than a list of quoted words
)
"""Types of `pg_catalog`: no `regclass` and its like, no row types, no domains."""

VALUES: Final = frozenset(
    """
    current_date current_time current_time_n current_timestamp current_timestamp_n localtime localtime_n
    localtimestamp localtimestamp_n
    """.split()  # noqa: SIM905 - a list of words reads better than a list of quoted words
)
"""Keywords that are functions: the date and the time, not who is asking."""

SYSTEM_COLUMNS: Final = frozenset({"cmax", "cmin", "ctid", "tableoid", "xmax", "xmin"})
"""What every table has besides its own columns: where its rows lie, and who has written them when."""

SAMPLES: Final = frozenset({"bernoulli", "system"})

DOTTED: Final = frozenset(
    """
    any_out any_value anycompatible_out anycompatiblenonarray_out anyelement_out anynonarray_out array_agg concat
    count cume_dist dense_rank first_value hash_record json_agg json_agg_strict json_build_array json_build_object
    jsonb_agg jsonb_agg_strict jsonb_build_array jsonb_build_object lag last_value lead max min mode num_nonnulls
    num_nulls percent_rank quote_literal quote_nullable rank record_out record_send row_to_json to_json to_jsonb
    aclitem array_sample brin_summarize_new_values current_schemas current_setting currval enum_range factorial
    gin_clean_pending_list lo_close lo_creat lo_create lo_get lo_import lo_unlink nextval obj_description oidvectortypes
    random_normal regclass regcollation regconfig regdictionary regnamespace regoper regoperator regproc regprocedure
    regrole regtype row_security_active setseed to_regclass to_regcollation to_regnamespace to_regoper to_regoperator
    to_regproc to_regprocedure to_regrole to_regtype ts_debug ts_stat ts_token_type txid_status xml
    """.split()  # noqa: SIM905 - a list of words reads better than a list of quoted words
)
"""Some names that a dot calls: `c.to_json` is `to_json(c)` when `c` has no such column, and `(x).f` is `f(x)` of any
value, casts to a type included (https://www.postgresql.org/docs/current/sql-expressions.html#SQL-EXPRESSIONS-FUNCTION-CALLS).
Names that begin with `pg_` are meant too. The sandbox adds what the server itself names when it starts."""

DOTTED_WORDS: Final = frozenset(
    """
    area box broadcast center cid circle diagonal diameter family format gamma height host hostmask line lseg macaddr
    netmask network oid path point polygon radius strip tid width xid
    """.split()  # noqa: SIM905 - a list of words reads better than a list of quoted words
)
"""What a dot calls that is as well a column's name, and harmless: functions and types of shapes, addresses and
numbers, and a `format` that has nothing to show."""

LARGEST_LENGTH: Final = 1_000
"""To which a text may be padded, and up to which a number may be raised."""
LONGEST_FORMAT: Final = 100
"""Of `to_char` and its kin: what it makes is as long as the format says."""
LONGEST_SERIES: Final = 100_000
"""Values of `generate_series`."""
LARGEST_VALUE: Final = 10_000_000
"""Characters of a value that a query may build, as `placet.database.growth` counts them."""

LARGEST_TREE: Final = 100_000
"""Nodes of a query, when each name for an expression is replaced by it: what the planner does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What is allowed besides the lists.

    Attributes:
        functions: Functions of your own that are granted, with their schema: `{"shop.vat"}`.
        dotted: What a dot calls, by bare name: functions that take one value, and types.

    Raises:
        ConfigurationError: A function has no schema, or one of the catalog's.
    """

    functions: frozenset[str] = frozenset()
    dotted: frozenset[str] = field(default=DOTTED)

    def __post_init__(self) -> None:
        for name in self.functions:
            schema, dot, bare = name.partition(".")
            if not (dot and schema and bare) or schema in ("pg_catalog", "information_schema"):
                raise ConfigurationError(f"the function {name!r} cannot be granted; name one of yours as 'schema.name'")
