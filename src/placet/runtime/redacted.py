"""Redacted: texts about a run or a call, without what its tools declare is to be kept out of records.

A tool's own record is redacted field by field. Whoever speaks of it elsewhere, the model in its
answer or an exception, quotes values and no fields: those values are looked for, too.
"""

from collections.abc import Iterator

from placet.redaction.held import secrets_in, texts_in
from placet.redaction.redact import hide_known
from placet.runtime.attempt import Attempt
from placet.runtime.world import World
from placet.tools.tool import Tool
from placet.values.message import AssistantMessage, ToolMessage
from placet.values.run import Run


def answer_of(world: World, run: Run) -> str:
    """Return a run's last words, redacted: without what its tools' arguments and results hold of redacted fields."""
    known: set[str] = set()
    for tool, text in _said(world, run):
        known.update(world.redactor(tool).secrets_in_text(text))
    return world.redactor(None).text(run.text, known=frozenset(known))


def detail_of(world: World, attempt: Attempt, detail: str) -> str:
    """Return what went wrong with a call, redacted: without what its arguments hold of redacted fields."""
    tool = world.toolset.find(attempt.call.name)
    redactor = world.redactor(tool)
    known = redactor.secrets_in_text(attempt.call.arguments) | given_to(world, tool)
    if attempt.site.approval is not None:
        known |= redactor.secrets_in(attempt.site.approval.arguments)
    return redactor.text(detail, known=known)


def given_to(world: World, tool: Tool | None) -> frozenset[str]:
    """Return the texts that code of a tool may quote and that stand in no argument: what the program has given it."""
    return texts_in(tool.dependencies if tool is not None else ()) | secrets_in([world.deps])


def without_login(world: World, tool: Tool, text: str) -> str:
    """Return what a tool says for the model without the secrets that the program has given it: no model needs them."""
    return hide_known(text, secrets_in([*tool.dependencies, world.deps]))


def _said(world: World, run: Run) -> Iterator[tuple[Tool, str]]:
    """Yield the arguments and results of calls whose tools declare something, as they were said."""
    tools: dict[str, Tool] = {}
    called: dict[str, Tool | None] = {}  # a long run calls few tools many times
    for message in run.transcript:
        if isinstance(message, AssistantMessage):
            for call in message.calls:
                if call.name not in called:
                    called[call.name] = world.find_tool(call.name)
                tool = called[call.name]
                if tool is not None and (tool.spec.redact or tool.spec.secret_fields):
                    tools[call.id] = tool
                    yield tool, call.arguments
        elif isinstance(message, ToolMessage):
            for result in message.results:
                if result.call_id in tools:
                    yield tools[result.call_id], result.content
