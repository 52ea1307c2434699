"""Build the wheel, install it into an empty environment and try it there, away from the checkout."""

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

TRIAL = """
import asyncio
from placet import Agent, AgentDefinition, Answer, Principal, tool
from placet.testing import ScriptedModel

@tool(effect="read", roles={"clerk"}, progress={"en": "adding {a} and {b}…"})
async def add(a: int, b: int) -> int:
    "Add two numbers."
    return a + b

async def main() -> None:
    model = ScriptedModel().calls("add", a=2, b=3).says("five")
    async with Agent(AgentDefinition(name="trial"), tools=[add], model=model, store="sqlite:///trial.db") as agent:
        answer = await agent.ask("2 and 3?", principal=Principal("p1", roles={"clerk"}), language="ro")
        assert isinstance(answer, Answer) and answer.text == "five", answer
        verified = await agent.store.verify()
        assert verified.fault is None and verified.records == 4, verified

asyncio.run(main())
"""


def main() -> None:
    """Build, install, try."""
    with tempfile.TemporaryDirectory(prefix="placet-wheel-") as folder:
        there = Path(folder)
        build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(there), str(ROOT)]
        subprocess.run(build, check=True)  # noqa: S603 - our own command
        (wheel,) = there.glob("placet-*.whl")
        venv.create(there / "env", with_pip=True)
        python = there / "env" / "bin" / "python"
        run = lambda *words: subprocess.run([str(python), *words], check=True, cwd=there)  # noqa: E731, S603 - short and ours
        run("-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(wheel))
        run("-I", "-c", TRIAL)
        run("-m", "placet", "--version")
        run("-m", "placet", "--help")
    print(f"{wheel.name}: built, installed into an empty environment, and tried")


if __name__ == "__main__":
    main()
