from pathlib import Path

import pytest

from placet.skills.scaffold import new_skill


@pytest.fixture
def skills(tmp_path: Path) -> Path:
    """A folder with one new skill in it."""
    new_skill(tmp_path, "say-hello")
    return tmp_path
