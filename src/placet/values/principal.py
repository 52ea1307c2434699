"""Principal: on whose behalf a call is made."""

from collections.abc import Iterable, Mapping
from dataclasses import field
from types import MappingProxyType
from typing import Final

from placet.errors import ConfigurationError
from placet.values.construction import dataclass
from placet.values.json import Json

EVERYONE: Final = "*"
"""As a role in a tool's `roles`: any principal that the directory knows."""


@dataclass(frozen=True, slots=True)
class Principal:
    """A person or a program that is acted for. Cedar's word.

    The host application says who it is; nothing that a model or a client writes can
    change it.

    Attributes:
        id: Unique in the host application, for instance `"c17"`.
        roles: What the principal may be, for instance `{"support"}`. Matched exactly.
        attributes: Further facts that rules may look at (tenant, language, plan). JSON.

    Raises:
        ConfigurationError: The id is no text or empty, the roles are no set of words, or `EVERYONE` stands among them.
    """

    id: str
    roles: frozenset[str] = frozenset()
    attributes: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))

    def __init__(
        self,
        id: str,  # noqa: A002 - the field's own name
        roles: Iterable[str] = (),
        attributes: Mapping[str, Json] | None = None,
    ) -> None:
        if not id or not isinstance(id, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # untyped code may say anything
            msg = "a principal needs an id that is a text and not empty"
            raise ConfigurationError(msg)
        if isinstance(roles, str) or not isinstance(roles, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]  # the same
            msg = f"the roles of principal {id!r} are a set of words, as in roles={{'support'}}, not {roles!r}"
            raise ConfigurationError(msg)
        given = tuple(roles)
        if not all(isinstance(name, str) for name in given):  # pyright: ignore[reportUnnecessaryIsInstance]  # the same
            msg = f"each role of principal {id!r} is a word, as in roles={{'support'}}"
            raise ConfigurationError(msg)
        names = frozenset(given)
        if EVERYONE in names:
            msg = f"principal {id!r} cannot hold the role {EVERYONE!r}: it stands for every principal"
            raise ConfigurationError(msg)
        object.__setattr__(self, "id", id)
        object.__setattr__(self, "roles", names)
        object.__setattr__(self, "attributes", MappingProxyType(dict(attributes or {})))

    def __hash__(self) -> int:
        return hash((self.id, self.roles))
