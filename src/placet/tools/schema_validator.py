"""The validator of a JSON Schema: jsonschema-rs, offline, with its patterns bounded."""

from typing import Any, Final

import jsonschema_rs

PATTERN_STEPS: Final = 100_000
"""So many steps may a pattern go back that looks around or back; one that needs more does not match."""


def offline(uri: str) -> Any:
    """Refuse to fetch a schema: a tool's meaning must not depend on what a server says today.

    Raises:
        ValueError: Always.
    """
    msg = f"{uri!r} is not fetched: put the schema under $defs and refer to it by #/$defs/..."
    raise ValueError(msg)


def compile_validator(schema: Any, *, formats: bool = True) -> tuple[jsonschema_rs.Validator, bool]:
    """Return the validator of a JSON Schema, and whether its patterns are matched in linear time.

    It is offline and checks formats. Patterns that look around or back need another engine,
    of which the steps are bounded, but not the time.

    Raises:
        jsonschema_rs.ValidationError: A `ValueError`: it is no schema, or refers to what is not in it.
    """
    engines = (jsonschema_rs.RegexOptions(), jsonschema_rs.FancyRegexOptions(backtrack_limit=PATTERN_STEPS))
    try:
        return _validator(schema, engines[0], formats), True
    except jsonschema_rs.ValidationError:
        return _validator(schema, engines[1], formats), False


def _validator(schema: Any, engine: Any, formats: bool) -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for(schema, retriever=offline, validate_formats=formats, pattern_options=engine)
