"""Run all contestants interleaved, round by round; print medians, ratios to the floor, and the goals.

`python -m bench [ROUNDS]`. Only ratios of one run mean anything: machines differ, and so do days. The
peers run in environments of their own under `.bench`, which `make bench` makes; one that is missing is left out.
"""

import os
import statistics
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

PEERS = Path(".bench")
CONTESTANTS = {
    "floor by hand": [sys.executable, "-m", "bench.contestants.floor"],
    "placet, memory": [sys.executable, "-m", "bench.contestants.placet_gate", "memory"],
    "placet, SQLite": [sys.executable, "-m", "bench.contestants.placet_gate", "sqlite"],
    "placet, intent+outcome": [sys.executable, "-m", "bench.contestants.placet_gate", "intent"],
    "agent-framework": [str(PEERS / "agent-framework-core/bin/python"), "-m", "bench.contestants.agent_framework"],
    "pydantic-ai": [str(PEERS / "pydantic-ai-slim/bin/python"), "-m", "bench.contestants.pydantic_ai"],
    "openai-agents": [str(PEERS / "openai-agents/bin/python"), "-m", "bench.contestants.openai_agents"],
}
FLOOR, FASTEST_PEER = "floor by hand", "agent-framework"
MEASURES = {
    "one_call": "run of one call",
    "next_call": "+1 sequential call",
    "parallel_call": "50 parallel, per call",
    "tools_10": "run with 10 tools",
    "tools_1000": "run with 1,000 tools",
    "turn_ratio": "turn 400 ÷ turn 50",
}
GOALS = (
    ("placet, SQLite", "next_call", FASTEST_PEER, 0.33),
    ("placet, intent+outcome", "next_call", FASTEST_PEER, 0.50),
    ("placet, memory", "next_call", FASTEST_PEER, 0.15),
    ("placet, memory", "next_call", FLOOR, 10.0),
    ("placet, SQLite", "parallel_call", FASTEST_PEER, 0.40),
)
"""Who, at what, compared with whom: at most so much of it."""


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
    contestants = start()
    for number in range(rounds):
        print(f"round {number + 1} of {rounds}", file=sys.stderr)
        for measure in MEASURES:
            for contestant in contestants:
                if measure in contestant.measures:
                    contestant.taken.setdefault(measure, []).append(float(contestant.ask(measure)))
    report(contestants)
    for contestant in contestants:
        contestant.process.kill()


def start() -> list[Contestant]:
    """Return the contestants that are there, each waiting to be asked."""
    contestants = []
    for name, command in CONTESTANTS.items():
        if not Path(command[0]).exists():
            print(f"{name} is left out: there is no {command[0]} (make bench makes it)", file=sys.stderr)
            continue
        process = subprocess.Popen(  # noqa: S603 - our own programs
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": "."}
        )
        contestant = Contestant(name, process)
        contestant.measures = frozenset(contestant.ask("?").split(","))
        contestants.append(contestant)
    return contestants


def report(contestants: list[Contestant]) -> None:
    """Print CPU microseconds and ratios to the floor, then how near each goal is."""
    by_name = {contestant.name: contestant for contestant in contestants}
    print(f"{'CPU µs (x floor)':24}" + "".join(f"{contestant.name:>24}" for contestant in contestants))
    for measure, title in MEASURES.items():
        base = by_name[FLOOR].median(measure)
        cells = []
        for contestant in contestants:
            median = contestant.median(measure)
            ratio = f" ({median / base:.1f}x)" if median is not None and base and measure != "turn_ratio" else ""
            cells.append("-" if median is None else f"{median:.{2 if measure == 'turn_ratio' else 1}f}{ratio}")
        print(f"{title:24}" + "".join(f"{cell:>24}" for cell in cells))
    print()
    for name, measure, other, goal in GOALS:
        ours = by_name[name].median(measure) if name in by_name else None
        theirs = by_name[other].median(measure) if other in by_name else None
        if ours is not None and theirs:
            print(f"{name}, {MEASURES[measure]}: {ours / theirs:.2f} x {other} (goal: at most {goal})")
    for contestant in contestants:
        few, many = contestant.median("tools_10"), contestant.median("tools_1000")
        if few and many:
            print(f"{contestant.name}: 1,000 tools ÷ 10 tools = {many / few:.2f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
