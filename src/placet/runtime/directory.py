"""StatedPrincipals: the directory for host applications that have none of their own."""

from placet.ports import Store
from placet.values.principal import Principal


class StatedPrincipals:
    """Knows the principals that the host application has stated, as it stated them last.

    What a process has stated itself it knows at once; what others stated it reads from the
    store. An id that nobody has stated is unknown, and refused. An application that has a
    directory of its own gives that instead, so that a role taken away counts at once.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._stated: dict[str, Principal] = {}

    def state(self, principal: Principal) -> None:
        """Take down who a principal is today."""
        if self._stated.get(principal.id) != principal:
            self._stated[principal.id] = principal
            self._store.state_principal(principal)

    async def find(self, principal_id: str) -> Principal | None:
        """Return the principal as stated last, or None for an unknown id.

        Raises:
            StoreError: The store cannot be read.
        """
        stated = self._stated.get(principal_id)
        return stated if stated is not None else await self._store.find_principal(principal_id)
