"""One application, started anew for each thing that is done with it.

`python -m tests.workflow.deep_office PATH ask`, and then the token in place of `ask`. A workflow asks an agent,
whose tool is a workflow, whose agent pays. What is paid is appended to a file.
"""

import asyncio
import sys
from pathlib import Path

from placet.agent.definition import AgentDefinition
from placet.models.scripted import ScriptedModel
from placet.tools.parameters import State
from placet.tools.tool import tool
from placet.values.approval import Approval
from placet.values.outcome import Answer, Waiting
from placet.values.principal import EVERYONE, Principal
from placet.wiring import Agent
from placet.workflow import AgentStage, Workflow
from tests.workflow.conftest import Draft

SECRET = b"a secret of thirty-two bytes or more"


def application(path: Path, *, asked: bool) -> Workflow[Draft]:
    """The application; which answers its models have left depends on whether it was asked before."""

    def note(line: str) -> None:
        with path.with_name("done.txt").open("a") as done:
            done.write(f"{line}\n")

    @tool(effect="write", roles={EVERYONE}, approval=Approval.always(approvers={"finance"}))
    async def transfer(amount: int, draft: State[Draft]) -> str:
        """Transfer money."""
        note(f"transfer {amount}")
        draft.log.append("transferred")
        return f"transferred {amount}"

    def begin(state: Draft) -> None:
        note("begin")
        state.log.append("begun")

    def end(state: Draft) -> None:
        note("end")
        state.log.append("ended")

    pays = ScriptedModel().says("the clerk is done") if asked else ScriptedModel().calls("transfer", amount=7)
    leads = ScriptedModel().says("all done") if asked else ScriptedModel().calls("inner", question="the rent")
    clerk = Agent(AgentDefinition(name="clerk"), tools=[transfer], model=pays, store="memory:")
    stages = [AgentStage(clerk, ask="transfer for {question}", into="text")]
    inner = Workflow("inner", state=Draft, stages=stages, answer="{text}", store="memory:")
    head = Agent(AgentDefinition(name="head"), tools=[inner.as_tool()], model=leads, agents=[inner], store="memory:")
    whole = [begin, AgentStage(head, into="text"), end]
    return Workflow("flow", state=Draft, stages=whole, store=f"sqlite:///{path}", secret=SECRET)


async def main(path: Path, what: str) -> str:
    async with application(path, asked=what != "ask") as flow:
        if what == "ask":
            outcome = await flow.ask("Hi", principal=Principal("s1", roles={"support"}))
            assert isinstance(outcome, Waiting), outcome
            return outcome.approvals[0].token
        outcome = await flow.approve(what, by=Principal("f1", roles={"finance"}))
        assert isinstance(outcome, Answer), outcome
        assert isinstance(outcome.output, Draft)
        assert (await flow.store.verify()).fault is None
        return outcome.output.model_dump_json()


if __name__ == "__main__":
    sys.stdout.write(asyncio.run(main(Path(sys.argv[1]), sys.argv[2])))
