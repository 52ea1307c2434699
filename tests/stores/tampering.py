"""What somebody could do to an audit table who can write the store, but has no key."""

from typing import NamedTuple


class Tampering(NamedTuple):
    """One change from outside, and where it has to show."""

    name: str
    statements: tuple[str, ...]
    place: int


TAMPERINGS = (
    *(
        Tampering(f"edit {column}", (f"UPDATE audit_record SET {column} = {value} WHERE sequence = 3",), 3)  # noqa: S608 - our own words
        for column, value in {
            "at": "at + 1",
            "kind": "'outcome'",
            "run_id": "'run_2'",
            "call_key": "'run_1:9.9'",
            "principal_id": "'c18'",
            "tool": "'pay'",
            "decision": "'deny'",
            "rule": "'another'",
            "body": "'{}'",
            "seal": "'" + "0" * 64 + "'",
        }.items()
    ),
    Tampering("a kind that is none", ("UPDATE audit_record SET kind = 'none' WHERE sequence = 3",), 3),
    Tampering("a time that is none", ("UPDATE audit_record SET at = 9000000000000000000 WHERE sequence = 3",), 3),
    Tampering("delete", ("DELETE FROM audit_record WHERE sequence = 3",), 3),
    Tampering("delete the first", ("DELETE FROM audit_record WHERE sequence = 1",), 1),
    Tampering(
        "delete and close up",
        ("DELETE FROM audit_record WHERE sequence = 3", "UPDATE audit_record SET sequence = 3 WHERE sequence = 4"),
        3,
    ),
    Tampering(
        "swap",
        (
            "UPDATE audit_record SET sequence = -3 WHERE sequence = 3",
            "UPDATE audit_record SET sequence = 3 WHERE sequence = 4",
            "UPDATE audit_record SET sequence = 4 WHERE sequence = -3",
        ),
        3,
    ),
    Tampering(
        "forge",
        (
            """
            INSERT INTO audit_record (
                writer, sequence, at, kind, run_id, call_key, principal_id, tool, decision, rule, body, seal
            )
            SELECT writer, 5, at, kind, run_id, call_key, principal_id, tool, decision, rule, body, seal
            FROM audit_record WHERE sequence = 4
            """,
        ),
        5,
    ),
    Tampering("another name", ("UPDATE audit_record SET writer = 'another'",), 1),
)
"""Each on a chain of four records, the first of them its writer's."""
