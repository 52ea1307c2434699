"""A tool from a class: its constructor is injected, its `execute` runs."""

import dataclasses
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from placet.errors import ConfigurationError, ToolDefinitionError
from placet.tools.context import Context, NestedRuns, RuntimePort
from placet.tools.parameters import Injected, Input, State
from placet.tools.tool import Tool, tool
from placet.tools.toolset import Toolset
from placet.values.principal import EVERYONE
from tests.tools.cases import CONTEXT
from tests.tools.test_tool import Refund, finish, run


class Folder:
    """A dependency: one folder, out of which nothing leads."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()


@tool(name="read_file", description="Read a file of the folder.", effect="read", roles={EVERYONE})
class ReadFile:
    def __init__(self, folder: Folder, limit: int = 100) -> None:
        self.folder = folder
        self.limit = limit

    def execute(self, path: str) -> str:
        found = (self.folder.root / path).resolve()
        if not found.is_relative_to(self.folder.root):
            return "outside"
        return found.read_text()[: self.limit]


def test_the_constructor_is_injected_by_type(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hello")

    made = Toolset([ReadFile], providers={Folder: Folder(tmp_path)}).find("read_file")

    assert made is not None
    assert made.spec.description == "Read a file of the folder."
    assert run(made, '{"path": "a.txt"}') == "hello"
    assert run(made, '{"path": "../../etc/passwd"}') == "outside"


def test_a_class_stays_a_class(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hello")

    assert ReadFile(Folder(tmp_path), limit=4).execute("a.txt") == "hell"


def test_an_instance_is_taken_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hello")

    (made,) = Toolset([ReadFile(Folder(tmp_path), limit=2)])

    assert run(made, '{"path": "a.txt"}') == "he"


def test_a_dependency_that_nobody_provides_is_refused() -> None:
    with pytest.raises(ToolDefinitionError, match=r"class 'ReadFile' asks for 'folder' of type Folder.*providers="):
        Toolset([ReadFile])


def test_name_and_description_come_from_the_class() -> None:
    @tool(effect="read", roles={EVERYONE})
    class FindHTTPPage:
        """Find a page."""

        def execute(self, words: str) -> str:
            return words

    (made,) = Toolset([FindHTTPPage])

    assert (made.name, made.spec.description) == ("find_http_page", "Find a page.")


def test_descriptions_of_parameters_come_from_execute() -> None:
    @tool(effect="read", roles={EVERYONE})
    class Find:
        """Find a page."""

        def execute(self, words: str) -> str:
            """Do it.

            Args:
                words: What to look for.
            """
            return words

    (made,) = Toolset([Find])
    properties: Any = made.spec.input_schema["properties"]

    assert properties["words"]["description"] == "What to look for."


PARAMETERS = ("folder: Injected[Folder]", "context: Context[Any]", "what: Input[Refund]", "state: State[dict]")


@pytest.mark.parametrize("order", [*permutations(PARAMETERS)], ids=lambda order: " ".join(part[:2] for part in order))
def test_parameters_of_execute_are_resolved_in_any_order(order: tuple[str, ...]) -> None:
    source = (
        "@tool(effect='read', roles={EVERYONE}, description='Pay.')\nclass Pay:\n"
        f"    def execute(self, {', '.join(order)}) -> str:\n"
        "        return f'{folder.root} {context.principal.id} {what.order} {state}'"
    )
    marks = {"Injected": Injected, "Input": Input, "State": State, "Context": Context, "Refund": Refund}
    names = {**globals(), **marks, "__name__": __name__}
    exec(source, names)  # noqa: S102 - written out for each order
    (made,) = Toolset([names["Pay"]], providers={Folder: Folder(Path("/"))})
    properties: Any = made.spec.input_schema["properties"]

    assert list(properties) == ["order", "cents"]
    context = dataclasses.replace(CONTEXT, state={"day": 1})
    assert run(made, '{"order": "A-1"}', context=context) == "/ u1 A-1 {'day': 1}"


def test_an_undecorated_class_is_refused() -> None:
    class Find:
        def execute(self, words: str) -> str:
            return words

    for given in (Find, Find()):
        with pytest.raises(ToolDefinitionError, match=r"class 'Find' is not declared as a tool: put @tool\(effect="):
            Toolset([given])


def test_a_subclass_must_be_decorated_itself() -> None:
    class ReadAnything(ReadFile):
        pass

    with pytest.raises(ToolDefinitionError, match="class 'ReadAnything' is not declared"):
        Toolset([ReadAnything], providers={Folder: Folder(Path("/"))})


def test_a_missing_execute_is_refused() -> None:
    @tool(effect="read", roles={EVERYONE})
    class Find:
        """Find a page."""

    with pytest.raises(ToolDefinitionError, match="class 'Find' is a tool without an execute method: write one"):
        Toolset([Find])


def test_a_misnamed_execute_is_refused_by_its_name() -> None:
    @tool(effect="read", roles={EVERYONE})
    class Find:
        """Find a page."""

        def excute(self, words: str) -> str:
            return words

    with pytest.raises(ToolDefinitionError, match=r"class 'Find'.*it has 'excute'; rename"):
        Toolset([Find])


class Recorder:
    """A runtime that answers with its own name."""

    def __init__(self, name: str) -> None:
        self.name = name

    async def run(self, agent: Any, question: str, **options: Any) -> str:
        return f"{self.name}: {agent} {question} {options}"


@tool(effect="read", roles={EVERYONE})
class Ask:
    """Ask another agent."""

    def __init__(self, runtime: RuntimePort) -> None:
        self.runtime = runtime

    async def execute(self, question: str) -> str:
        return str(await self.runtime.run("expert", question, turns=2))


def in_runtime(runtime: Any) -> Context[None]:
    return Context(
        deps=None, principal=CONTEXT.principal, language="en", run_id="r", call_key="k", idempotency_key="k",
        deadline=1.0, now=CONTEXT.now, runtime=runtime,
    )  # fmt: skip


def asking() -> Tool:
    (made,) = Toolset([Ask])
    return made


async def test_the_port_in_a_constructor_is_that_of_the_call_that_executes() -> None:
    made = asking()

    first = await finish(run(made, '{"question": "why"}', context=in_runtime(Recorder("one"))))
    second = await finish(run(made, '{"question": "how"}', context=in_runtime(Recorder("two"))))

    assert first == "one: expert why {'turns': 2}"
    assert second == "two: expert how {'turns': 2}"


async def test_outside_a_call_there_is_no_run_to_nest_in() -> None:
    with pytest.raises(ConfigurationError, match="no call is executing"):
        await NestedRuns().run("expert", "why")


async def test_after_a_call_its_runtime_is_forgotten() -> None:
    await finish(run(asking(), '{"question": "why"}', context=in_runtime(Recorder("one"))))

    with pytest.raises(ConfigurationError, match="no call is executing"):
        await NestedRuns().run("expert", "why")


async def test_a_provided_port_goes_before() -> None:
    (made,) = Toolset([Ask], providers={RuntimePort: Recorder("provided")})

    assert (await finish(run(made, '{"question": "why"}'))).startswith("provided")
