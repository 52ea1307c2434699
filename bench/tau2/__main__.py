"""Print what passes as the task's own customer and as another: `python -m bench.tau2 [--json]`.

It runs in an environment of its own, which `make bench-tau2` makes.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass

from bench.tau2.domains import Domain, customers, load
from bench.tau2.replay import Counted, Stage, other_customer, own_customer


@dataclass(frozen=True)
class Row:
    """What came of one domain.

    Attributes:
        domain: Which.
        tasks: Its tasks.
        own: As the tasks' own customers.
        other: The same calls as other customers.
        other_changed: Whether the other customers have changed anything.
    """

    domain: str
    tasks: int
    own: Counted
    other: Counted
    other_changed: bool


def measure(domain: Domain) -> Row:
    """Return what comes of all tasks of a domain."""
    stage, own, other = Stage(domain), Counted(), Counted()
    kept = domain.open()  # what nobody may change: each task's own customer works on a copy of their own
    before = kept.get_db_hash()
    for task in domain.tasks:
        customer = own_customer(task, kept) or customers(kept)[0]
        own += stage.play(task, customer, domain.open())
        other += stage.play(task, other_customer(customer, kept), kept)
    return Row(domain.name, len(domain.tasks), own, other, kept.get_db_hash() != before)


def table(rows: Sequence[Row]) -> str:
    """Return the rows in Markdown."""
    columns = (
        "domain",
        "tasks",
        "as",
        "calls",
        "did what was asked",
        "the tool said no",
        "refused, by rule",
        "writes that ran",
    )
    lines = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    for row in rows:
        for name, counted in (("the task's own customer", row.own), ("another customer", row.other)):
            refused = ", ".join(f"{count} `{rule}`" for rule, count in counted.refused.items()) or "0"
            lines.append(
                f"| {row.domain} | {row.tasks} | {name} | {counted.calls} | {counted.ran} | {counted.failed} "
                f"| {refused} | {counted.writes_ran} of {counted.writes} |"
            )
    changed = [row.domain for row in rows if row.other_changed]
    return "\n".join([*lines, "", f"Data that another customer has changed: {', '.join(changed) or 'none'}"])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Replay tau2's gold calls through placet.")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    options = parser.parse_args()
    rows = [measure(domain) for domain in load()]
    print(json.dumps([as_json(row) for row in rows]) if options.json else table(rows))


def as_json(row: Row) -> dict[str, object]:
    """Return a row as JSON."""
    return {**vars(row), "own": vars(row.own), "other": vars(row.other)}


if __name__ == "__main__":
    main()
