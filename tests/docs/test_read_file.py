"""The `read_file` tool that docs/tools.md shows gives out nothing from outside its folder, through the gate."""

import contextlib
import itertools
import os
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from placet.agent.definition import AgentDefinition
from placet.models.scripted import ScriptedModel
from placet.tools.toolset import Toolset
from placet.values.call import ToolResult
from placet.values.principal import Principal
from placet.wiring import Agent

PAGE = Path(__file__).resolve().parents[2] / "docs" / "tools.md"
SECRET = "what nobody may read"
NOT_FOUND = "there is no such text file (name a file in the folder, as in notes/today.txt)"


@pytest.fixture(scope="module")
def shown() -> dict[str, Any]:
    """What the page defines, by name."""
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    (block,) = [block for block in blocks if "class ReadFile" in block]
    names: dict[str, Any] = {"__name__": "shown"}
    exec(block, names)  # noqa: S102 - our own page
    return names


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    inside = tmp_path / "inside"
    (inside / "notes").mkdir(parents=True)
    (inside / "notes" / "today.txt").write_text("Buy rice.")
    (tmp_path / "inside-too").mkdir()
    for outside in (tmp_path / "secret.txt", tmp_path / "inside-too" / "secret.txt"):
        outside.write_text(SECRET)
    (inside / "link.txt").symlink_to(tmp_path / "secret.txt")
    (inside / "relative.txt").symlink_to("../secret.txt")
    (inside / "up").symlink_to(tmp_path)
    (inside / "loop").symlink_to("loop")
    (inside / "null").symlink_to("/dev/null")
    (inside / "binary.bin").write_bytes(b"\xff\xfe\x00")
    os.mkfifo(inside / "pipe")
    return inside


async def read(shown: dict[str, Any], folder: Path, name: str, **options: Any) -> ToolResult:
    tools = Toolset([shown["ReadFile"]], providers={shown["Folder"]: shown["Folder"](folder, **options)})
    async with Agent(AgentDefinition(name="files"), tools=tools, model=ScriptedModel(), store="memory:") as agent:
        result = await agent.tools.execute("read_file", {"name": name}, Principal("p1"))
        assert isinstance(result, ToolResult)
        return result


@pytest.mark.parametrize("name", ["notes/today.txt", "./notes/today.txt", "notes//today.txt", "notes/./today.txt"])
async def test_a_file_of_the_folder_is_read(shown: dict[str, Any], folder: Path, name: str) -> None:
    assert (await read(shown, folder, name)).content == "Buy rice."


ATTACKS: dict[str, Callable[[Path], str]] = {
    "up": lambda _: "../secret.txt",
    "up and down": lambda folder: f"../{folder.name}-too/secret.txt",
    "up from within": lambda _: "notes/../../secret.txt",
    "absolute": lambda folder: str(folder.parent / "secret.txt"),
    "absolute, twice the slash": lambda folder: f"/{folder.parent}/secret.txt",
    "absolute, of the folder itself": lambda folder: str(folder / "notes" / "today.txt"),
    "a link out": lambda _: "link.txt",
    "a relative link out": lambda _: "relative.txt",
    "through a linked folder": lambda _: "up/secret.txt",
    "a link to itself": lambda _: "loop",
    "a link to a device": lambda _: "null",
    "a device": lambda _: "/dev/zero",
    "a pipe": lambda _: "pipe",
    "the folder": lambda _: ".",
    "a folder": lambda _: "notes",
    "a file as a folder": lambda _: "notes/today.txt/x",
    "nothing": lambda _: "",
    "NUL": lambda _: "notes/today.txt\0.png",
    "NUL alone": lambda _: "\0",
    "backslashes": lambda _: "..\\secret.txt",
    "escaped": lambda _: "%2e%2e/secret.txt",
    "home": lambda _: "~/secret.txt",
    "a long step": lambda _: "x" * 300,
    "no text": lambda _: "binary.bin",
    "missing": lambda _: "notes/tomorrow.txt",
}


@pytest.mark.parametrize("attack", ATTACKS)
async def test_what_is_not_a_file_of_the_folder_looks_as_if_it_did_not_exist(
    shown: dict[str, Any], folder: Path, attack: str
) -> None:
    result = await read(shown, folder, ATTACKS[attack](folder))

    assert (result.code, result.is_error) == ("tool_error", True)
    assert result.content == NOT_FOUND


async def test_a_lone_surrogate_is_no_name(shown: dict[str, Any], folder: Path) -> None:
    result = await read(shown, folder, "\udcff")

    assert result.is_error
    assert SECRET not in result.content


async def test_a_large_file_is_read_to_its_cap(shown: dict[str, Any], folder: Path) -> None:
    (folder / "large.txt").write_text("é" * 1_000_000)

    result = await read(shown, folder, "large.txt", max_bytes=101)

    assert result.content == "é" * 50 + "\n[the file goes on; this is its beginning]"


async def test_of_an_endless_file_only_the_beginning_is_looked_at(shown: dict[str, Any], folder: Path) -> None:
    with (folder / "endless.txt").open("wb") as endless:
        endless.write(b"hello")
        endless.truncate(1 << 40)  # sparse: it takes no room

    result = await read(shown, folder, "endless.txt", max_bytes=5)

    assert result.content == "hello\n[the file goes on; this is its beginning]"


async def test_a_file_of_exactly_the_cap_is_whole(shown: dict[str, Any], folder: Path) -> None:
    assert (await read(shown, folder, "notes/today.txt", max_bytes=len("Buy rice."))).content == "Buy rice."


def test_a_folder_that_becomes_a_link_meanwhile_leads_nowhere(shown: dict[str, Any], folder: Path) -> None:
    """Whoever looks first and opens later loses this race within a few thousand tries."""
    opened = shown["Folder"](folder)
    real, link = folder / "real", folder / "swap"
    real.mkdir()
    (real / "secret.txt").write_text("harmless")
    elsewhere = folder.parent / "inside-too"
    done = threading.Event()

    def swap() -> None:
        while not done.is_set():
            real.rename(link)
            link.rename(real)
            link.symlink_to(elsewhere)
            link.unlink()

    def looks() -> Iterator[bytes]:
        for _ in range(1_000_000):  # how many come to nothing depends on who gets the processor
            with contextlib.suppress(OSError):
                yield opened.read("swap/secret.txt")

    swapping = threading.Thread(target=swap)
    swapping.start()
    try:
        seen = set(itertools.islice(looks(), 500))
    finally:
        done.set()
        swapping.join()
    assert seen == {b"harmless"}
