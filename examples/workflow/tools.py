"""Tools of the agents: notes that are read from one folder alone, and publishing, which an editor approves."""

from pathlib import Path
from typing import Any

from placet import Approval, Context, Preview, State, Tool, ToolError, Toolset, tool
from placet.values.principal import EVERYONE
from workflow.state import Brief


class Notes:
    """A folder of notes.

    Attributes:
        folder: Where they lie.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()

    def names(self) -> list[str]:
        """Return the names of all notes."""
        return sorted(file.stem for file in self.folder.glob("*.md"))


@tool(effect="read", roles={EVERYONE}, name="list_notes", description="List the names of all notes.")
class ListNotes:
    def __init__(self, notes: Notes) -> None:
        self._notes = notes

    def execute(self) -> list[str]:
        return self._notes.names()


@tool(
    effect="read",
    roles={EVERYONE},
    name="read_note",
    description="Read one note, by a name that list_notes gives.",
    progress={"en": "reading {name}…", "pt-BR": "lendo {name}…", "ro": "citesc {name}…"},
)
class ReadNote:
    def __init__(self, notes: Notes) -> None:
        self._notes = notes

    def execute(self, name: str) -> str:
        if name not in self._notes.names():  # a name from the list, never a path
            raise ToolError(f"there is no note {name!r}", hint=f"there are {self._notes.names()}")
        return (self._notes.folder / f"{name}.md").read_text("utf-8")


def preview_publishing(arguments: object, resource: object, context: Context[Any]) -> Preview:
    del arguments, resource
    draft = context.state.draft if isinstance(context.state, Brief) else ""
    return Preview(draft, {"draft": draft})


@tool(
    effect="write",
    roles={EVERYONE},
    approval=Approval.always(approvers={"editor"}, ttl="2 days"),
    preview=preview_publishing,
)
def publish(brief: State[Brief], context: Context[Any]) -> str:
    """Publish the draft as it stands. Use once it is approved."""
    board: Path = context.deps
    board.parent.mkdir(parents=True, exist_ok=True)
    board.write_text(brief.draft, "utf-8")
    brief.published = board.name
    return "published"


def reading(folder: Path) -> Toolset:
    """Return the tools that read, kept inside one folder."""
    return Toolset([ListNotes, ReadNote], providers={Notes: Notes(folder)})


PUBLISHING: tuple[Tool, ...] = (publish,)
