"""Starting: `import placet`, and a first run after it, load no library that they do not need."""

import subprocess
import sys

HEAVY = frozenset({
    "anthropic", "cryptography", "difflib", "griffe", "http", "httpx2", "jsonschema_rs", "mcp", "multiprocessing",
    "openai", "opentelemetry", "psycopg", "rich", "sqlite3", "tomllib", "typer", "urllib.request", "xml", "yaml",
})  # fmt: skip
FIRST_RUN = """
from placet import Agent, AgentDefinition, Principal, tool
from placet.testing import ScriptedModel

@tool(effect="read", roles={"support"})
async def check_stock(product: str) -> int:
    "Return how many units of a product there are."
    return 42

model = ScriptedModel().calls("check_stock", product="rice").says("We have 42.")
agent = Agent(AgentDefinition(name="stock"), tools=[check_stock], model=model, store="memory:")
assert agent.ask_sync("How much rice?", principal=Principal("s1", roles={"support"})).text == "We have 42."
"""


def loaded_by(program: str, **environment: str) -> set[str]:
    """What a Python program has imported when it ends."""
    code = f"{program}\nimport sys\nprint(*sys.modules)"
    command = [sys.executable, "-I", "-c", code]
    ended = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)  # noqa: S603 - this interpreter, and the code above
    return set(ended.stdout.split())


def test_importing_loads_no_library_before_it_is_used() -> None:
    assert not loaded_by("import placet") & (HEAVY | {"email", "importlib.metadata", "zipfile"})


def test_a_first_run_loads_no_library_that_it_does_not_need() -> None:
    assert not loaded_by(FIRST_RUN) & HEAVY  # pydantic looks for its plug-ins, with `importlib.metadata`


def test_the_command_loads_no_library_before_it_is_used() -> None:
    of_the_command = {"difflib", "rich", "typer", "tomllib"}  # it reads placet.toml

    assert (
        not loaded_by("import placet.cli.app") & (HEAVY | {"email", "importlib.metadata", "zipfile"}) - of_the_command
    )


def test_telemetry_that_the_environment_asks_for_is_loaded() -> None:
    loaded = loaded_by(FIRST_RUN, OTEL_PYTHON_TRACER_PROVIDER="sdk_tracer_provider")

    assert "opentelemetry.sdk.trace" in loaded


def test_the_values_of_our_rooms_are_made_by_our_own_decorator() -> None:
    """The standard library's takes three times as long: `placet.values.construction`."""
    program = """
import dataclasses, sys, placet
for room in list(sys.modules.values()):
    for value in list(vars(room).values()):
        if room.__name__.startswith("placet.") and isinstance(value, type) and value.__module__ == room.__name__:
            made = vars(value).get("__dataclass_params__")
            if made and made.frozen and "__slots__" in vars(value) and value.__bases__ == (object,):
                print(value.__module__ + "." + value.__name__, value.__delattr__.__module__)
"""
    ended = subprocess.run([sys.executable, "-I", "-c", program], check=True, capture_output=True, text=True)  # noqa: S603 - as above
    makers = dict(line.split() for line in ended.stdout.splitlines())

    assert len(makers) > 90
    others = {name for name, maker in makers.items() if maker != "placet.values.construction"}
    assert others == {"placet.values.principal.Principal", "placet.runtime.keys.Keys"}  # with methods of their own
