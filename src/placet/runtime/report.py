"""Report: one run as a tree of workflow, stages, agents, answers of models and calls of tools.

It is made from the audit log, which holds nothing that was to be kept out, and from how far
the stored run is. What only the audit log is told (the text of an exception, a
`FatalToolError`'s message) stands in no report, and neither do digests.

```json
{"version": 1, "run": "run_…", "status": "done", "tree": {"kind": "agent", "name": "orders", "children": [
    {"kind": "model", "name": "gpt-…", "status": "done", "usage": {"input_tokens": 812}},
    {"kind": "tool", "name": "get_order_status", "status": "done", "decision": "allow", "rule": "role customer"}]}}
```
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

import jiter

from placet.agent.snapshot import load_run
from placet.ports import Finish, StoredRun
from placet.runtime.book import NOTE
from placet.runtime.world import World
from placet.values.audit import AuditEntry, AuditKind
from placet.values.call import OK
from placet.values.decision import REASONS
from placet.values.json import JsonObject, is_object
from placet.values.run import Run, RunStatus, Usage

VERSION: Final = 1
"""Of the JSON form."""

Node = dict[str, Any]
"""One thing that happened, with what happened within it as `children`."""

_KEY: Final = re.compile(r"(?P<run>.+):(?P<turn>\d+)\.(?P<index>\d+)")
_ROUND: Final = re.compile(r"(?P<loop>.+)\[(?P<number>\d+)\]")
_USAGE: Final = tuple(Usage.__slots__)
_GIVEN: Final = 0
"""The turn of the one call with which a workflow begins: no model has answered before it."""


@dataclass(slots=True, eq=False)
class Records:
    """What the audit log has on one run tree.

    Attributes:
        questions: The record with which each run began, by run.
        ends: The record with which each run ended, by run.
        answers: Records that hold the shapes of answers of a model, by run.
        failures: Records of models that gave no answer, by run.
        calls: Everything about each call, by its key, in order.
        stages: Stages that have ended, by the key of the workflow's call.
    """

    questions: dict[str, AuditEntry] = field(default_factory=dict[str, AuditEntry])
    ends: dict[str, AuditEntry] = field(default_factory=dict[str, AuditEntry])
    answers: dict[str, list[AuditEntry]] = field(default_factory=dict[str, list[AuditEntry]])
    failures: dict[str, list[AuditEntry]] = field(default_factory=dict[str, list[AuditEntry]])
    calls: dict[str, list[AuditEntry]] = field(default_factory=dict[str, list[AuditEntry]])
    stages: dict[str, list[AuditEntry]] = field(default_factory=dict[str, list[AuditEntry]])

    def add(self, entry: AuditEntry) -> None:
        """Sort one record in."""
        match entry.kind:
            case AuditKind.QUESTION:
                self.questions.setdefault(entry.run_id, entry)
            case AuditKind.ANSWER if entry.decision == "model failed":
                self.failures.setdefault(entry.run_id, []).append(entry)
            case AuditKind.ANSWER:
                self.ends[entry.run_id] = entry
                self.answers.setdefault(entry.run_id, []).append(entry)
            case AuditKind.TURN:
                self.answers.setdefault(entry.run_id, []).append(entry)
            case AuditKind.STAGE:
                self.stages.setdefault(entry.call_key, []).append(entry)
            case _ if entry.call_key:
                self.calls.setdefault(entry.call_key, []).append(entry)
            case _:
                pass

    def nested_in(self, key: str) -> list[str]:
        """Return the runs that a call has started."""
        return [run_id for run_id, entry in self.questions.items() if entry.call_key == key]

    def calls_of(self, run_id: str) -> list[tuple[int, int, str]]:
        """Return the calls of a run as turn, index and key, in order."""
        found = [(_KEY.fullmatch(key), key) for key in self.calls]
        return sorted(
            (int(match["turn"]), int(match["index"]), key)
            for match, key in found
            if match is not None and match["run"] == run_id
        )


async def make_report(world: World, run_id: str) -> JsonObject | None:
    """Return the report of a run, or None when nothing is known of it.

    Args:
        world: Whose store is asked.
        run_id: The outermost run of a tree; of a nested run, only its own part is told.

    Raises:
        StoreError: The store cannot be read.
    """
    stored = await world.store.load_run(run_id)
    run = load_run(stored.snapshot, stored.journal) if stored is not None else None
    records = await _gather(world, run_id, run)
    if stored is None and run_id not in records.questions and not records.calls_of(run_id):
        return None
    tree = _run_node(records, run_id, run.agent if run is not None else "")
    if stored is not None and run is not None:
        _take_stored(tree, stored, run)
    asked, ended = records.questions.get(run_id), records.ends.get(run_id)
    return {
        "version": VERSION,
        "run": run_id,
        "status": tree["status"],
        "language": run.language if run is not None else "en",
        "principal": asked.principal_id if asked is not None else stored.principal_id if stored is not None else "",
        "question": _body(asked).get("text", "") if asked is not None else "",
        "answer": _body(ended).get("text", "") if ended is not None else "",
        "cut": tree.get("cut", False),
        "tree": tree,
    }


async def _gather(world: World, run_id: str, run: Run | None) -> Records:
    """Return the records of a run and of all that are nested in it, found by what their calls tell."""
    records = Records()
    children = run.children.values() if run is not None else ()
    pending = [run_id, *(child.id for child in children if child.agent != NOTE)]
    seen: set[str] = set()
    while pending:
        next_id = pending.pop()
        if next_id in seen:
            continue
        seen.add(next_id)
        async for record in world.store.read(run_id=next_id):
            records.add(record.entry)
            if record.entry.call_key:
                nested = _body(record.entry).get("nested", [])
                pending += [one for one in nested if isinstance(one, str) and one.startswith(run_id)]
    for entries in records.calls.values():
        entries.sort(key=lambda entry: entry.at)
    return records


def _take_stored(tree: Node, stored: StoredRun, run: Run) -> None:
    """Take from the stored run how far it is and what it has used up: its records may not tell yet."""
    if stored.status not in (RunStatus.DONE, RunStatus.STOPPED):
        tree["status"] = stored.status.value
    tree["started_at"] = stored.created_at.isoformat()
    tree["usage"] = _used(run.usage)


# ── runs ──────────────────────────────────────────────────────────────────────────────


def _run_node(records: Records, run_id: str, agent: str = "") -> Node:
    asked, ended = records.questions.get(run_id), records.ends.get(run_id)
    name = str(_body(asked).get("agent", agent)) if asked is not None else agent
    children = _turns(records, run_id)
    node: Node = {"kind": "agent", "name": name, "id": run_id, "status": "running"}
    given = [key for turn, _, key in records.calls_of(run_id) if turn == _GIVEN]
    if given:
        (call,) = [child for child in children if child.get("id") == given[0]]
        node = {**call, **node, "kind": "workflow"}
        children = call["children"]
    if ended is not None:
        node["status"] = "done" if ended.decision == "done" else "stopped"
        if ended.decision != "done":
            node["stop"] = ended.decision
    elif any(child["status"] == "waiting" for child in children):
        node["status"] = "waiting"
    if asked is not None:
        node["question"] = _body(asked).get("text", "")
    if ended is not None:
        node["answer"] = _body(ended).get("text", "")
    if ended is not None and ended.decision == "done" and _was_cut(ended):
        node["cut"] = True
    return _timed(node, asked.at if asked is not None else None, ended.at if ended is not None else None, children)


def _was_cut(ended: AuditEntry) -> bool:
    """Return whether the last word of a run ends where the token limit was reached."""
    asked: list[Node] = _body(ended).get("asked") or []
    return bool(asked) and asked[-1].get("finish") == Finish.LENGTH


def _turns(records: Records, run_id: str) -> list[Node]:
    """Return answers and calls of a run, in order: each answer before the calls that it wishes."""
    placed: list[tuple[int, int, Node]] = []
    for entry in records.answers.get(run_id, []):
        placed += [(int(shape["turn"]), -1, _model_node(shape)) for shape in _body(entry).get("asked", [])]
    last = max((turn for turn, _, _ in placed), default=0)
    for entry in records.failures.get(run_id, []):
        node: Node = {"kind": "model", "name": "", "status": "error", "children": []}
        node["ended_at"] = entry.at.isoformat()
        placed.append((last + 1, -1, node))
    for turn, index, key in records.calls_of(run_id):
        placed.append((turn, index, _call_node(records, key)))
    return [node for _, _, node in sorted(placed, key=lambda one: one[:2])]


def _model_node(shape: Mapping[str, Any]) -> Node:
    return {
        "kind": "model",
        "name": shape.get("model", ""),
        "turn": shape["turn"],
        "status": "done",
        "ms": shape["ms"],
        "finish": shape["finish"],
        "usage": _used(_usage_of(shape)),
        "children": [],
    }


# ── calls ─────────────────────────────────────────────────────────────────────────────


def _call_node(records: Records, key: str) -> Node:
    entries = records.calls[key]
    last, body = entries[-1], _body(entries[-1])
    settled = [entry for entry in entries if entry.kind in (AuditKind.CALL, AuditKind.OUTCOME)]
    if settled:
        last, body = settled[-1], _body(settled[-1])
    asked = [entry for entry in entries if entry.kind is AuditKind.APPROVAL]
    open_approval = bool(asked) and asked[-1] is entries[-1] and asked[-1].decision in ("waiting", "approval_void")
    node: Node = {
        "kind": "tool",
        "name": last.tool,
        "id": key,
        "status": "waiting" if open_approval else _call_status(last, body),
        "decision": "waiting" if open_approval else last.decision,
        "rule": last.rule,
        "arguments": body.get("arguments", {}),
    }
    for name in ("code", "result", "wire"):
        if name in body:
            node[name] = body[name]
    approvals = _approvals(asked)
    if approvals:
        node["approvals"] = approvals
    began = min(entry.at - timedelta(milliseconds=float(_body(entry).get("ms", 0))) for entry in entries)
    node = _timed(node, began, last.at if settled else None, _within(records, key))
    if settled and "ms" in body:
        node["ms"] = body["ms"]  # of the last execution: waiting for a person is not the tool's time
    return node


def _call_status(last: AuditEntry, body: Mapping[str, Any]) -> str:
    code = body.get("code", "")
    if last.kind is AuditKind.INTENT:
        return "running"
    if last.decision == "waiting" or code == "waiting":
        return "waiting"
    if last.decision in ("unknown", "cancelled"):
        return last.decision
    if last.decision in REASONS:
        return "refused"
    return "done" if code in (OK, "") and last.decision in ("allow", "late", "done") else "error"


def _approvals(entries: Iterable[AuditEntry]) -> list[Node]:
    """Return what was asked of persons about a call, with what they said."""
    found: dict[str, Node] = {}
    for entry in entries:
        body = _body(entry)
        known = found.setdefault(str(body.get("approval", "")), {"id": body.get("approval", "")})
        if entry.decision == "waiting":
            known |= {"asked_at": entry.at.isoformat(), "decision": "waiting"}
            known |= {name: body[name] for name in ("yes", "approvers", "expires_at", "preview") if body.get(name)}
        else:
            known |= {"decision": entry.decision, "by": entry.principal_id, "at": entry.at.isoformat()}
            known |= {name: body[name] for name in ("note", "edited") if body.get(name)}
    return list(found.values())


# ── what is nested in a call ──────────────────────────────────────────────────────────


def _within(records: Records, key: str) -> list[Node]:
    """Return the stages and runs within a call, as a tree by their paths."""
    runs = {run_id.removeprefix(f"{key}/"): _run_node(records, run_id) for run_id in records.nested_in(key)}
    stages = {str(_body(entry).get("stage", "")): _stage_node(entry) for entry in records.stages.get(key, [])}
    whole: Node = {"children": []}
    for path in {**runs, **stages}:
        # An agent's stage is its run: two records tell of one thing.
        _place(whole, path, {**stages.get(path, {}), **runs.get(path, {})})
    _finish(whole)
    children: list[Node] = whole["children"]
    return children


def _stage_node(entry: AuditEntry) -> Node:
    body = _body(entry)
    began = entry.at - timedelta(milliseconds=float(body.get("ms", 0)))
    node: Node = {
        "kind": "stage",
        "type": body.get("kind", ""),
        "status": "error" if entry.decision == "failed" else "done",
        "ms": body.get("ms", 0.0),
        "started_at": began.isoformat(),
        "ended_at": entry.at.isoformat(),
    }
    return node | {"stop": entry.decision} if entry.decision == "exhausted" else node


def _place(whole: Node, path: str, node: Node) -> None:
    """Put a node into the tree by its path; what stands above it is made where no record tells of it."""
    parts: list[str] = []
    for part in path.split("/"):
        turning = _ROUND.fullmatch(part)
        parts += [turning["loop"], part] if turning is not None else [part]
    here = whole
    for part in parts:
        within = _children(here)
        known = [child for child in within if child["stage"] == part]
        if not known:
            turning = _ROUND.fullmatch(part)
            made: Node = {"kind": "stage", "stage": part, "status": "running", "name": part, "children": []}
            if turning is not None:
                made |= {"type": "round", "name": turning["number"]}
            within.append(made)
            known = [made]
        here = known[0]
    here.update({**node, "stage": parts[-1], "children": [*_children(here), *_children(node)]})


def _children(node: Node) -> list[Node]:
    children: list[Node] = node.setdefault("children", [])
    return children


def _finish(node: Node) -> None:
    """Put children in the order in which they began; a node without a record of its own tells what its children do."""
    children = _children(node)
    for child in children:
        if child["kind"] == "stage":
            _finish(child)
    children.sort(key=_began)
    if node.get("kind") != "stage":
        return
    _sum_up(node)
    if "started_at" not in node and node["children"]:
        statuses = [child["status"] for child in node["children"]]
        node["status"] = next((one for one in ("waiting", "error", "stopped", "running") if one in statuses), "done")
        node["started_at"] = node["children"][0].get("started_at", "")


def _began(node: Node) -> str:
    return str(node.get("started_at", ""))


def _timed(node: Node, began: datetime | None, ended: datetime | None, children: list[Node]) -> Node:
    node["children"] = children
    if began is not None:
        node["started_at"] = began.isoformat()
    if ended is not None:
        node["ended_at"] = ended.isoformat()
    if began is not None and ended is not None:
        node["ms"] = round((ended - began).total_seconds() * 1000, 2)
    _sum_up(node)
    return node


def _sum_up(node: Node) -> None:
    """Give a node the usage of everything within it."""
    usage = Usage()
    for child in node["children"]:
        usage += _usage_of(child.get("usage", {}))
    if usage != Usage():
        node["usage"] = _used(usage)


def _usage_of(told: Mapping[str, Any]) -> Usage:
    return Usage(**{name: told[name] for name in _USAGE if told.get(name)})


def _used(usage: Usage) -> dict[str, Any]:
    """Return what was used up, without what is zero; money as text, which is exact."""
    used = {name: count for name in _USAGE if (count := getattr(usage, name))}
    return {**used, "cost": format(usage.cost, "f")} if usage.cost else used


def _body(entry: AuditEntry | None) -> dict[str, Any]:
    """Return what a record tells, without digests and without what only the audit log may tell."""
    if entry is None:
        return {}
    try:
        body: Any = jiter.from_json(entry.body.encode("utf-8", "surrogatepass"))
    except ValueError:
        return {}
    if not is_object(body):
        return {}
    return {name: value for name, value in body.items() if name != "detail" and not name.endswith("digest")}
