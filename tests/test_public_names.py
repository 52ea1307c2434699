"""What `import placet` offers: every name that it takes from its rooms. Ruff keeps them sorted."""

from types import ModuleType

import placet


def test_every_name_that_is_taken_from_a_room_is_public_and_no_other_is() -> None:
    taken = {name for name, value in vars(placet).items() if name[0] != "_" and not isinstance(value, ModuleType)}

    assert {*placet.__all__} == taken | {"__version__"}
    assert len(placet.__all__) == len({*placet.__all__})
