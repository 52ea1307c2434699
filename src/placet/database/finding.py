"""What an audit finds: something that a login can do and should not, or that a plan says and is not so."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that the login can do, or that it lacks.

    Attributes:
        code: The stable word.
        message: What it is, with names.
        is_severe: Whether the sandbox must not start with it.
        mend: SQL that would end it, or a word to the operator.
    """

    code: str
    message: str
    is_severe: bool
    mend: str


def say(findings: Iterable[Finding]) -> str:
    """Return findings as a person reads them."""
    return "\n".join(
        f"{'refused' if finding.is_severe else 'warning'}  {finding.code}: {finding.message}\n         {finding.mend}"
        for finding in findings
    )
