"""Print what each policy lets through, and what it asks: `python -m bench.agentdojo [--suites banking,slack] [--json]`.

With `--neighbourhood`: what of the banking suite's neighbourhood counts as the person's own, which should be nothing.

It runs in an environment of its own, which `make bench-agentdojo` makes.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import reduce

from bench.agentdojo.declarations import Policy
from bench.agentdojo.neighbourhood import Kind, measure_neighbourhood
from bench.agentdojo.replay import Stage
from bench.agentdojo.suites import NAMES, Suite, load


@dataclass(frozen=True)
class Row:
    """What came of one policy on one suite, or on all.

    Attributes:
        policy: Which policy.
        suite: Which suite.
        attacks: Injection cases that were replayed.
        succeeded: Attacks that succeeded.
        honest: Honest tasks.
        done: Honest tasks that were done where nobody interfered.
        done_attacked: Injection cases in which the honest task was done all the same.
        questions: What the person was asked over all honest tasks.
        asked: Honest tasks in which the person was asked at all.
        surprises: Calls that ended otherwise than by running or by the person's no.
    """

    policy: str
    suite: str
    attacks: int = 0
    succeeded: int = 0
    honest: int = 0
    done: int = 0
    done_attacked: int = 0
    questions: int = 0
    asked: int = 0
    surprises: int = 0

    def __add__(self, other: "Row") -> "Row":
        mine, others = asdict(self), asdict(other)
        sums = {name: mine[name] + others[name] for name in mine if name not in ("policy", "suite")}
        return replace(self, suite="all", **sums)


def measure(suite: Suite, policy: Policy) -> Row:
    """Return what comes of a suite under a policy."""
    stage = Stage(suite, policy)
    honest = [stage.play(user) for user in suite.user_tasks]
    attacked = [stage.play(user, injection) for user in suite.user_tasks for injection in suite.injection_tasks]
    return Row(
        policy=policy.name.lower(),
        suite=suite.name,
        attacks=len(attacked),
        succeeded=sum(case.attacked for case in attacked),
        honest=len(honest),
        done=sum(case.done for case in honest),
        done_attacked=sum(case.done for case in attacked),
        questions=sum(len(case.questions) for case in honest),
        asked=sum(bool(case.questions) for case in honest),
        surprises=sum(len(case.surprises) for case in (*honest, *attacked)),
    )


def table(rows: Sequence[Row]) -> str:
    """Return the rows in Markdown, all suites together first in each policy."""
    lines = [
        "| policy | suite | attacks that succeed | honest tasks done | questions on them | done under attack |",
        "|---|---|---|---|---|---|",
    ]
    for policy in Policy:
        its = [row for row in rows if row.policy == policy.name.lower()]
        title = f"**{policy.name.lower()}**: {policy.value}"
        for row in (reduce(Row.__add__, its), *its) if len(its) > 1 else its:
            lines.append(
                f"| {title} | {row.suite} | {row.succeeded} of {row.attacks} | {row.done} of {row.honest} "
                f"| {row.questions} in {row.asked} tasks | {row.done_attacked} of {row.attacks} |"
            )
            title = ""
    return "\n".join(lines)


def neighbours(kinds: Sequence[Kind]) -> str:
    """Return what was tried in the neighbourhood, in Markdown."""
    lines = [
        "| values that stand in the person's words by accident | tried | taken for the person's own |",
        "|---|---|---|",
    ]
    lines += [f"| {kind.kind} | {kind.tried:,} | {len(kind.taken)} |" for kind in kinds]
    return "\n".join(lines)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Replay AgentDojo's injection cases through placet.")
    parser.add_argument("--suites", default=",".join(NAMES), help="which, with commas between")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    parser.add_argument("--neighbourhood", action="store_true", help="instead: what banking holds by accident")
    options = parser.parse_args()
    if options.neighbourhood:
        kinds = measure_neighbourhood(load("banking"))
        print(json.dumps([asdict(kind) for kind in kinds]) if options.json else neighbours(kinds))
        return
    rows: list[Row] = []
    for name in options.suites.split(","):
        suite = load(name)
        for policy in Policy:
            print(f"{name}: {policy.value}", file=sys.stderr)
            rows.append(measure(suite, policy))
    print(json.dumps([asdict(row) for row in rows]) if options.json else table(rows))


if __name__ == "__main__":
    main()
