from typing import Any

import pytest

from placet.errors import ConfigurationError
from placet.values.principal import EVERYONE, Principal


def test_roles_are_a_set_of_words() -> None:
    assert Principal("c17", ["support", "support"]).roles == {"support"}
    assert Principal("c17", (role for role in ("support", "sales"))).roles == {"support", "sales"}


@pytest.mark.parametrize("roles", ["support", None, 5, [None], [["support"]], [EVERYONE], ("support", 5)], ids=repr)
def test_roles_that_are_none_are_refused_by_an_error_of_ours(roles: Any) -> None:
    with pytest.raises(ConfigurationError, match="'c17'"):
        Principal("c17", roles)


@pytest.mark.parametrize("id_", ["", None, 5], ids=repr)
def test_an_id_is_a_text(id_: Any) -> None:
    with pytest.raises(ConfigurationError, match="needs an id"):
        Principal(id_)
