"""Run all contestants interleaved, round by round, and print the medians and their ratios to the floor.

`python -m bench [ROUNDS]`. Only ratios of one run mean anything: machines differ, and so do days.
"""

import statistics
import subprocess
import sys
from dataclasses import dataclass, field

CONTESTANTS = {
    "floor by hand": ["bench.contestants.floor"],
    "placet, memory": ["bench.contestants.placet_gate", "memory"],
    "placet, SQLite": ["bench.contestants.placet_gate", "sqlite"],
    "placet, intent + outcome": ["bench.contestants.placet_gate", "intent"],
}
MEASURES = {
    "one_call": "run of one call",
    "next_call": "+1 sequential call",
    "parallel_call": "50 parallel, per call",
    "turn_50": "a turn near 50",
    "turn_400": "a turn near 400",
    "tools_10": "run with 10 tools",
    "tools_1000": "run with 1,000 tools",
}


@dataclass
class Contestant:
    """One program that is measured, and what it took."""

    name: str
    process: "subprocess.Popen[str]"
    measures: frozenset[str] = frozenset()
    taken: dict[str, list[float]] = field(default_factory=dict)

    def ask(self, line: str) -> str:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        if not answer:
            sys.exit(f"{self.name} has ended; look above for why")
        return answer

    def median(self, measure: str) -> float | None:
        return statistics.median(self.taken[measure]) if measure in self.taken else None


def main(rounds: int) -> None:
    """Measure and print."""
    contestants = [
        Contestant(
            name,
            subprocess.Popen(  # noqa: S603 - our own programs
                [sys.executable, "-m", *module], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            ),
        )
        for name, module in CONTESTANTS.items()
    ]
    for contestant in contestants:
        contestant.measures = frozenset(contestant.ask("?").split(","))
    for number in range(rounds):
        print(f"round {number + 1} of {rounds}", file=sys.stderr)
        for measure in MEASURES:
            for contestant in contestants:
                if measure in contestant.measures:
                    contestant.taken.setdefault(measure, []).append(float(contestant.ask(measure)))
    report(contestants)
    for contestant in contestants:
        contestant.process.kill()


def report(contestants: list[Contestant]) -> None:
    """Print CPU microseconds and ratios to the floor."""
    floor = contestants[0]
    print(f"{'CPU µs (x floor)':26}" + "".join(f"{contestant.name:>26}" for contestant in contestants))
    for measure, title in MEASURES.items():
        base = floor.median(measure)
        cells = []
        for contestant in contestants:
            median = contestant.median(measure)
            ratio = f" ({median / base:.1f}x)" if median is not None and base else ""
            cells.append("-" if median is None else f"{median:.1f}{ratio}")
        print(f"{title:26}" + "".join(f"{cell:>26}" for cell in cells))
    for contestant in contestants[1:]:
        early, late = contestant.median("turn_50"), contestant.median("turn_400")
        few, many = contestant.median("tools_10"), contestant.median("tools_1000")
        if early and late and few and many:
            print(f"{contestant.name}: turn 400 ÷ turn 50 = {late / early:.2f}, 1,000 ÷ 10 tools = {many / few:.2f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
