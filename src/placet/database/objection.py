"""What a rule of the guard has against a query."""

from dataclasses import dataclass

from placet.database.answer import Fix, SqlRefusal, excerpt


@dataclass(frozen=True, slots=True)
class Objection:
    """One reason not to run a query, said about a place in it.

    Attributes:
        code: The stable word.
        message: What is wrong.
        fix: What would help.
        hint: How to write it instead.
        position: Which character, from 0, or None.
        nearest: Names that could have been meant.
    """

    code: str
    message: str
    fix: Fix = Fix.POLICY
    hint: str | None = None
    position: int | None = None
    nearest: tuple[str, ...] = ()

    def refuse(self, sql: str) -> SqlRefusal:
        """Return it as the answer to a query."""
        return SqlRefusal(
            code=self.code,
            message=self.message,
            fix=self.fix,
            hint=self.hint,
            position=self.position,
            excerpt=None if self.position is None else excerpt(sql, self.position),
            nearest=self.nearest,
        )
