from pathlib import Path

import pytest

from placet.config import Settings, find_file, read_settings
from placet.errors import ConfigurationError

WHOLE = """
app = "shop.app:build_agent"
path = ["examples"]
store = "sqlite:///shop.db"
model = "local:needle-3"
base_url = "http://127.0.0.1:1"
language = "pt"
"""


def write(folder: Path, text: str = 'app = "a:b"') -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "placet.toml"
    file.write_text(text, "utf-8")
    return file


def test_the_file_says_everything_and_is_seen_from_its_own_folder(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    file = write(tmp_path, WHOLE)
    below = tmp_path / "deep" / "down"
    below.mkdir(parents=True)

    assert read_settings({}, below, {}) == Settings(
        app="shop.app:build_agent",
        path=(tmp_path / "examples",),
        store=f"sqlite:///{tmp_path}/shop.db",
        model="local:needle-3",
        base_url="http://127.0.0.1:1",
        language="pt-BR",
        file=file,
    )


def test_the_environment_outweighs_the_file_and_the_command_line_both(tmp_path: Path) -> None:
    write(tmp_path, WHOLE)
    environment = {"PLACET_MODEL": "openai:a", "PLACET_LANGUAGE": "ro", "PLACET_APP": "", "PLACET_STORE": "memory:"}

    settings = read_settings(environment, tmp_path, {"model": "openai:b", "language": None})

    assert settings.model == "openai:b"
    assert settings.language == "ro"
    assert settings.app == "shop.app:build_agent"
    assert settings.store == "memory:"


def test_a_store_from_the_command_line_is_seen_from_the_working_directory(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    write(tmp_path, WHOLE)
    below = tmp_path / "deep"
    below.mkdir()

    assert read_settings({}, below, {"store": "sqlite:///x.db"}).store == f"sqlite:///{below}/x.db"
    assert read_settings({}, below, {"store": "sqlite:////tmp/x.db"}).store == "sqlite:////tmp/x.db"


def test_without_a_file_there_is_nothing_and_that_is_no_fault(tmp_path: Path) -> None:
    assert read_settings({}, tmp_path, {}) == Settings()


def test_a_file_above_counts_only_within_the_same_repository(tmp_path: Path) -> None:
    write(tmp_path)
    below = tmp_path / "repository" / "deep"
    below.mkdir(parents=True)

    assert find_file({}, below) is None
    (tmp_path / "repository" / ".git").mkdir()
    assert find_file({}, below) is None
    (tmp_path / ".git").mkdir()
    (tmp_path / "repository" / ".git").rmdir()
    assert find_file({}, below) == tmp_path / "placet.toml"


def test_the_environment_may_name_the_file(tmp_path: Path) -> None:
    file = write(tmp_path / "elsewhere")

    assert find_file({"PLACET_CONFIG": "elsewhere/placet.toml"}, tmp_path) == file
    with pytest.raises(ConfigurationError, match="does not exist"):
        find_file({"PLACET_CONFIG": "nowhere.toml"}, tmp_path)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('modle = "x"', "did you mean 'model'"),
        ("zzz = 1", "unknown setting 'zzz'"),
        ("model = 1", "model must be a text"),
        ('model = ""', "model must be a text"),
        ('path = "examples"', "path must be a list"),
        ("path = [1]", "path must be a list"),
        ('app = "shop.app"', "package.module:function"),
        ('app = "shop/app:build"', "package.module:function"),
        ('language = "de"', "not spoken here"),
        ("app = ", "cannot be read"),
    ],
)
def test_a_fault_is_named(tmp_path: Path, text: str, complaint: str) -> None:
    write(tmp_path, text)

    with pytest.raises(ConfigurationError, match=complaint):
        read_settings({}, tmp_path, {})


def test_all_faults_are_named_at_once(tmp_path: Path) -> None:
    write(tmp_path, 'modle = "x"\nlanguage = "de"\npath = 1')

    with pytest.raises(ConfigurationError, match=r"modle.*path must.*'de'"):
        read_settings({}, tmp_path, {})
