"""Which of PostgreSQL's words may be told when a row has gone into them.

Once a statement is understood, what the server says of it is a result: `invalid input syntax for
type integer: "…"` holds a cell. Where the cell stands differs from message to message, often
without quotes (`date field value out of range: 7654-13-01`), and a server may speak another
language. So the shapes that are told are listed here, and one that is not on the list is not told.
"""

import re
from itertools import chain, zip_longest
from typing import Final

VALUE: Final = "<value>"

_TYPES: Final = (
    '"char"|bigint|bit|boolean|bytea|cidr|date|daterange|double precision|inet|int4range|int8range|integer|interval'
    "|json|jsonb|jsonpath|money|numeric|numrange|oid|real|smallint|text|time|time with time zone|time without time zone"
    "|timestamp|timestamp with time zone|timestamp without time zone|tsquery|tsrange|tstzrange|tsvector|uuid"
)

_SHAPES: Final = """
division by zero
<type> out of range
OID out of range
numeric field overflow
value out of range: overflow
value out of range: underflow
value overflows numeric format
input is out of range
date out of range for timestamp
interval out of range
cannot convert NaN to <type>
cannot convert infinity to <type>
cannot take logarithm of a negative number
cannot take logarithm of zero
cannot take square root of a negative number
zero raised to a negative power is undefined
a negative number raised to a non-integer power yields a complex result
count must be greater than zero
invalid range bound flags
there is no escaped character: "<value>"
lower bound cannot equal upper bound
lower bound must be less than or equal to upper bound
range lower bound must be less than or equal to range upper bound
step size cannot equal zero
percentile value <value> is not between 0 and 1
negative substring length not allowed
field position must not be zero
invalid escape string
LIKE pattern must not end with escape character
invalid regular expression: <reason>
invalid regular expression option: "<value>"
invalid value for parameter "<value>": <value>
invalid normalization form: <value>
requested character too large for encoding: <value>
requested character not valid for encoding: <value>
null character not permitted
LIMIT must not be negative
OFFSET must not be negative
more than one row returned by a subquery used as an expression
argument of ntile must be greater than zero
argument of nth_value must be greater than zero
frame starting offset must not be negative
frame starting offset must not be null
frame ending offset must not be negative
frame ending offset must not be null
invalid input syntax for type <type>
invalid input syntax for type <type>: "<value>"
value "<value>" is out of range for type <type>
"<value>" is out of range for type <type>
"<value>" is not a valid binary digit
"<value>" is not a valid hexadecimal digit
malformed array literal: "<value>"
malformed range literal: "<value>"
invalid cidr value: "<value>"
unrecognized encoding: "<value>"
invalid hexadecimal digit: "<value>"
invalid symbol "<value>" found while decoding base64 sequence
invalid base64 end sequence
date/time field value out of range: "<value>"
date field value out of range: <value>
time field value out of range: <value>
interval field value out of range: "<value>"
date out of range: "<value>"
timestamp out of range: "<value>"
time zone "<value>" not recognized
time zone displacement out of range: "<value>"
unit "<value>" not recognized for type <type>
unit "<value>" not supported for type <type>
invalid value "<value>" for "<value>"
value for "<value>" in source string is out of range
source string too short for "<value>" formatting field
timestamps cannot be binned into intervals containing months or years
multiple decimal points
argument must be empty or one-dimensional array
cannot concatenate incompatible arrays
number of elements to trim must be between 0 and <value>
null value not allowed for object key
array must have even number of elements
duplicate JSON object key value
duplicate JSON object key value: "<value>"
cannot cast jsonb null to type <type>
cannot cast jsonb string to type <type>
cannot cast jsonb numeric to type <type>
cannot cast jsonb boolean to type <type>
cannot cast jsonb array to type <type>
cannot cast jsonb object to type <type>
cannot cast jsonb array or object to type <type>
cannot get array length of a scalar
cannot get array length of a non-array
cannot call <function> on a scalar
cannot call <function> on an array
cannot call <function> on an object
cannot call <function> on a non-array
cannot call <function> on a non-object
cannot extract elements from a scalar
cannot extract elements from an object
cannot delete from scalar
cannot delete from object using integer index
path element at position <value> is not an integer: "<value>"
path element at position <value> is out of range: <value>
JSON object does not contain key "<value>"
jsonpath member accessor can only be applied to an object
jsonpath wildcard member accessor can only be applied to an object
jsonpath array accessor can only be applied to an array
jsonpath wildcard array accessor can only be applied to an array
jsonpath array subscript is out of bounds
jsonpath array subscript is not a single numeric value
argument "<value>" of jsonpath item method <method> is invalid for type <type>
string argument of jsonpath item method <method> is not a valid representation of a double precision number
datetime format is not recognized: "<value>"
date format is not recognized: "<value>"
time format is not recognized: "<value>"
timestamp format is not recognized: "<value>"
could not find jsonpath variable "<value>"
syntax error at end of jsonpath input
syntax error at or near "<value>" of jsonpath input
syntax error in tsquery: "<value>"
syntax error in tsvector: "<value>"
no operand in tsquery: "<value>"
could not determine row type for result of <function>
could not implement DISTINCT
could not implement GROUP BY
could not implement recursive UNION
could not implement window ORDER BY
could not implement window PARTITION BY
FULL JOIN is only supported with merge-joinable or hash-joinable join conditions
"""

_PARTS: Final = {
    '"<value>"': ".*",
    "<value>": ".*",
    "<type>": _TYPES,
    "<function>": "[a-z_]{1,63}",
    "<method>": r"\.[a-z_]{1,20}\(\)",
    "<reason>": r"[a-zA-Z()\[\]{}, ]{1,60}",
}
"""By part of a shape, what stands there."""
_PART: Final = re.compile('"<value>"|<[a-z]+>')


def _compile(shape: str) -> tuple[str, re.Pattern[str]]:
    """Return the shape, with what matches a message of it: one group for each part."""
    fixed = [re.escape(text) for text in _PART.split(shape)]
    parts = [f'"({_PARTS[part]})"' if part[0] == '"' else f"({_PARTS[part]})" for part in _PART.findall(shape)]
    return shape, re.compile("".join(chain(*zip_longest(fixed, parts, fillvalue=""))), re.DOTALL)


_MESSAGES: Final = tuple(_compile(shape) for shape in _SHAPES.strip().splitlines())


def tell(message: str, sql: str = "") -> str | None:
    """Return what may be told of a message, each value in it masked, or None when nothing may.

    Args:
        message: The server's primary message.
        sql: What the asker wrote. A text that stands in it as a constant is told again.
    """
    for shape, pattern in _MESSAGES:
        if found := pattern.fullmatch(message):
            shown = [_show(part, text, sql) for part, text in zip(_PART.findall(shape), found.groups(), strict=True)]
            return "".join(chain(*zip_longest(_PART.split(shape), shown, fillvalue="")))
    return None


def _show(part: str, text: str, sql: str) -> str:
    match part:
        case '"<value>"':
            return f'"{text}"' if f"'{text}'" in sql else VALUE
        case "<value>":
            return VALUE
        case _:
            return text
