"""The promise of the gate in a page: what must become of a call, and of a person's word about it.

It knows no store, no run that is resumed and no crash. What it says of a call is one of three
words; `happened` is told which of the allowed ones it was.
"""

from collections import Counter
from dataclasses import dataclass, field

RAN, WAITS, REFUSED, UNKNOWN = "ran", "waits", "refused", "unknown"
NOTE, SEND, PAY, RENAME = "note", "send", "pay", "rename"
TTL, WINDOW, MOST = 900.0, 3600.0, 3


@dataclass(frozen=True)
class Wish:
    """A call as somebody wishes it, and the run in which it stands."""

    who: str
    tool: str
    n: int
    run: str


@dataclass(frozen=True)
class Question:
    """A wish that waits for a person, until a time, by what that person has seen."""

    id: str
    wish: Wish
    expires: float
    seen: int


@dataclass
class Promise:
    """What has happened so far, and what may happen next."""

    roles: dict[str, frozenset[str]]
    questions: dict[str, Question] = field(default_factory=dict)
    effects: Counter[tuple[str, str, int]] = field(default_factory=Counter)
    doubts: dict[str, Wish] = field(default_factory=dict)
    taken: dict[str, list[float]] = field(default_factory=dict)
    rejected: set[Wish] = field(default_factory=set)

    def proposed(self, wish: Wish, now: float) -> str:
        """Say what becomes of a call that nobody has said anything about."""
        if "support" not in self.roles[wish.who] or wish in self.rejected:
            return REFUSED
        if wish.tool in (PAY, RENAME):
            return WAITS
        recent = [at for at in self.taken.get(wish.who, []) if at > now - WINDOW]
        full = wish.tool == NOTE and len(recent) >= MOST
        return REFUSED if full or self.in_doubt(wish) else RAN

    def may_decide(self, by: str, question: Question, act: str) -> bool:
        """Say whether this person may say this about that question."""
        own, asks_boss = by == question.wish.who, question.wish.tool == PAY
        if act == "reject" and own:
            return True
        if act != "reject" and (act == "confirm") is asks_boss:
            return False
        return own if not asks_boss else not own and "finance" in self.roles[by]

    def approved(self, question: Question, wish: Wish, world: int) -> str:
        """Say what becomes of a call once its yes is taken; an edited wish is another than was asked."""
        if "support" not in self.roles[wish.who] or wish in self.rejected:
            return REFUSED
        if wish.tool == PAY and question.seen != world:
            return WAITS
        return REFUSED if self.in_doubt(wish) else RAN

    def in_doubt(self, wish: Wish) -> bool:
        """Say whether nobody knows how a like call has ended."""
        return any((known.who, known.tool, known.n) == (wish.who, wish.tool, wish.n) for known in self.doubts.values())

    def may_settle(self, by: str, wish: Wish) -> bool:
        """Say whether this person may say how it ended: one who could have let it run."""
        return "support" in self.roles[by] if wish.tool != PAY else by != wish.who and "finance" in self.roles[by]
