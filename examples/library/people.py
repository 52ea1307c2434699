"""Who is who in the library."""

from typing import Final

from placet import Principal

PEOPLE: Final = {
    "r1": Principal("r1", {"reader"}, {"language": "pt-BR", "name": "Ana"}),
    "r2": Principal("r2", {"reader"}, {"language": "ro", "name": "Ioana"}),
    "l1": Principal("l1", {"librarian"}, {"language": "pt-BR", "name": "Clara"}),
}


class Desk:
    """The directory: who somebody is today."""

    async def find(self, principal_id: str) -> Principal | None:
        """Return the person, or None for an unknown id."""
        return PEOPLE.get(principal_id)
