"""The report of a run as one page: self-contained, without scripts, light and dark.

Everything in it that comes from a model, a tool or a person is escaped, and what a reader
could not see is shown as `⟨U+202E⟩`. The page asks nobody for anything: its content security
policy forbids it.
"""

import html
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final

from placet.values.decision import REASONS, Reason
from placet.values.json import Json, JsonObject, is_mapping
from placet.words.catalog import say
from placet.words.escape import escape_for_person, escape_json
from placet.words.formats import show_datetime
from placet.words.messages import (
    CUT_ANSWER,
    DECISIONS,
    NODE_KINDS,
    NODE_STATUSES,
    REFUSALS,
    REPORT_COST,
    REPORT_MADE,
    REPORT_TITLE,
    REPORT_TOKENS,
    REPORT_UNPRICED,
)

_STYLE: Final = """
:root{color-scheme:light dark;--ink:#1d2430;--soft:#5b6472;--line:#d8dde5;--page:#fff;--card:#f6f8fa;
--done:#1a7f37;--bad:#b3261e;--wait:#8a5a00;--run:#0b5cad}
@media (prefers-color-scheme:dark){:root{--ink:#e6eaf0;--soft:#9aa4b2;--line:#333b47;--page:#12161c;--card:#1a2029;
--done:#5cc978;--bad:#ff8a80;--wait:#f0b849;--run:#7db8ff}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,sans-serif}
main{max-width:64rem;margin:0 auto;padding:1.5rem 1rem 4rem}
h1{font-size:1.35rem;margin:0 0 1rem;overflow-wrap:anywhere}
dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.15rem 1rem;margin:.4rem 0}
dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere;white-space:pre-wrap}
details,.node{border-inline-start:2px solid var(--line);padding-inline-start:.9rem;margin:.35rem 0}
summary,.head{display:flex;flex-wrap:wrap;gap:.2rem .7rem;align-items:baseline;padding:.15rem 0;overflow-wrap:anywhere}
summary{cursor:pointer;list-style:none}summary::-webkit-details-marker{display:none}
summary::before{content:"▸";color:var(--soft)}details[open]>summary::before{content:"▾"}
summary:focus-visible{outline:2px solid var(--run);outline-offset:2px}
.kind{color:var(--soft);font-size:.85rem}.name{font-weight:600}.more{color:var(--soft);font-size:.85rem}
.status{font-size:.85rem;font-weight:600}
.s-done{color:var(--done)}.s-error,.s-refused,.s-stopped,.s-unknown{color:var(--bad)}
.s-waiting{color:var(--wait)}.s-running,.s-ready{color:var(--run)}
pre{background:var(--card);border:1px solid var(--line);border-radius:4px;padding:.4rem .6rem;margin:.1rem 0;
white-space:pre-wrap;overflow-wrap:anywhere;font:13px/1.45 ui-monospace,monospace}
footer{color:var(--soft);font-size:.85rem;margin-top:2rem}
@media print{details{break-inside:avoid}}
"""

_MARKS: Final[Mapping[str, str]] = {
    "done": "✓", "error": "✗", "refused": "✗", "stopped": "■", "cancelled": "■", "waiting": "⏸", "unknown": "?",
    "running": "▸", "ready": "▸",
}  # fmt: skip
"""A sign beside the word, so that colour never stands alone."""


def render_report(report: JsonObject, language: str = "en") -> str:
    """Return the page of a report.

    Args:
        report: As `Agent.report` gives it.
        language: Of whoever reads the page.
    """
    return _Page(language, str(report.get("language", "en"))).render(report)


class _Page:
    """One page in one language; what the run's person said and read is in the run's own."""

    def __init__(self, language: str, spoken: str) -> None:
        self._language = language
        self._spoken = spoken

    def _say(self, message: str, /, **values: Any) -> str:
        return html.escape(say(message, self._language, **values))

    def render(self, report: JsonObject) -> str:
        tree = _mapping(report.get("tree"))
        title = self._say(REPORT_TITLE, agent=str(tree.get("name", "")), status=self._status_word(tree))
        facts = [
            ("Run", _shown(report.get("run", ""))),
            ("On behalf of", _shown(report.get("principal", ""))),
            ("Started", self._moment(tree.get("started_at"))),
            ("Ended", self._moment(tree.get("ended_at"))),
            ("Duration", self._duration(tree.get("ms"))),
            ("Tokens", self._tokens(tree)),
            ("Reason", _shown(tree.get("stop", ""))),
            ("Asked", self._said(report.get("question", ""))),
            ("Result", self._answer(report)),
        ]
        return (
            f'<!doctype html>\n<html lang="{html.escape(self._language)}">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
            f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n"
            f"{self._facts(facts)}\n{self._node(tree, opened=True)}\n"
            f"<footer>{self._say(REPORT_MADE)}</footer>\n</main>\n</body>\n</html>\n"
        )

    # ── nodes ─────────────────────────────────────────────────────────────────────────

    def _node(self, node: Mapping[str, Any], *, opened: bool) -> str:
        head = self._head(node)
        inner = self._inside(node) + "".join(
            self._node(child, opened=child.get("kind") not in ("tool", "model")) for child in _nodes(node)
        )
        if not inner:
            return f'<div class="node"><div class="head">{head}</div></div>\n'
        is_open = " open" if opened or node.get("status") != "done" else ""
        return f"<details{is_open}><summary>{head}</summary>\n{inner}</details>\n"

    def _head(self, node: Mapping[str, Any]) -> str:
        status = str(node.get("status", ""))
        kind = str(node.get("type") or node.get("kind", "")) if node.get("kind") == "stage" else str(node.get("kind"))
        mark = _MARKS.get(status, "")
        more = [self._decision(node), self._duration(node.get("ms")), self._tokens(node)]
        return "".join(
            [
                f'<span class="kind">{self._say(NODE_KINDS.get(kind, NODE_KINDS["stage"]))}</span>',
                f'<span class="name">{_shown(node.get("name", ""))}</span>' if node.get("name") else "",
                f'<span class="status s-{html.escape(status)}">{mark} {html.escape(self._status_word(node))}</span>',
                *(f'<span class="more">{one}</span>' for one in more if one),
            ]
        )

    def _inside(self, node: Mapping[str, Any]) -> str:
        facts: list[tuple[str, str]] = []
        if node.get("arguments"):
            facts.append(("Arguments", _code(node["arguments"])))
        if node.get("result"):
            facts.append(("Result", _code(str(node["result"]))))
        if node.get("kind") != "workflow" and node.get("question"):
            facts.append(("Asked", self._said(node["question"])))
        if node.get("kind") != "workflow" and node.get("answer"):
            facts.append(("Result", self._answer(node)))
        if node.get("code") not in (None, "", "ok"):
            facts.append(("Code", _shown(node["code"])))
        if node.get("stop"):
            facts.append(("Reason", _shown(node["stop"])))
        for approval in node.get("approvals", []):
            facts += self._approval(_mapping(approval))
        return self._facts(facts)

    def _approval(self, approval: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        yield "Approval", _shown(approval.get("id", ""))
        word = str(approval.get("decision", ""))
        if word == "waiting":
            names = ", ".join(str(name) for name in approval.get("approvers", []))
            yield (
                "Decision",
                self._say(DECISIONS["approve"], approvers=names) if names else self._say(DECISIONS["confirm"]),
            )
        elif word in DECISIONS:
            yield "Decision", self._say(DECISIONS[word], person=str(approval.get("by", "")))
        else:
            yield "Decision", _shown(word)
        if approval.get("at"):
            yield "When", self._moment(approval["at"])
        if approval.get("preview"):
            yield "Preview", _code(str(approval["preview"]))
        if approval.get("edited"):
            yield "Arguments", _code(approval["edited"])
        if approval.get("note"):
            yield "Reason", _shown(approval["note"])

    # ── words ─────────────────────────────────────────────────────────────────────────

    def _facts(self, facts: Iterable[tuple[str, str]]) -> str:
        rows = "".join(f"<dt>{self._say(label)}</dt><dd>{value}</dd>\n" for label, value in facts if value)
        return f"<dl>\n{rows}</dl>\n" if rows else ""

    def _status_word(self, node: Mapping[str, Any]) -> str:
        status = str(node.get("status", ""))
        return say(NODE_STATUSES[status], self._language) if status in NODE_STATUSES else status

    def _decision(self, node: Mapping[str, Any]) -> str:
        decision, rule = str(node.get("decision", "")), str(node.get("rule", ""))
        if node.get("kind") != "tool" or not decision:
            return ""
        if decision in ("allow", "late"):
            return self._say(DECISIONS["allow"], rule=rule)
        if node.get("status") == "refused":
            by = f" · {self._say(DECISIONS['deny'], rule=rule)}" if rule else ""
            words = self._say(REFUSALS[Reason(decision)]) if decision in REASONS else ""
            return f"{words} ({_shown(decision)}){by}"
        return ""

    def _said(self, text: Json) -> str:
        """Return what a person or a model has said, marked with its own language."""
        shown = _lines(str(text))
        return f'<span lang="{html.escape(self._spoken)}" dir="auto">{shown}</span>' if shown else ""

    def _answer(self, told: Mapping[str, Any]) -> str:
        """Return the words of an answer, and that they are cut where they are."""
        cut = f' <em class="more">{self._say(CUT_ANSWER)}</em>' if told.get("cut") else ""
        return self._said(told.get("answer", "")) + cut

    def _moment(self, at: Any) -> str:
        if not at:
            return ""
        text = html.escape(show_datetime(datetime.fromisoformat(str(at)), self._language))
        return f'<time datetime="{html.escape(str(at))}">{text}</time>'

    def _duration(self, ms: Any) -> str:
        if not isinstance(ms, int | float):
            return ""
        return html.escape(f"{ms / 1000:.1f} s" if ms >= 1000 else f"{ms:.0f} ms" if ms >= 1 else "< 1 ms")

    def _tokens(self, node: Mapping[str, Any]) -> str:
        usage = _mapping(node.get("usage"))
        if not usage:
            return ""
        told = [self._say(REPORT_TOKENS, input=usage.get("input_tokens", 0), output=usage.get("output_tokens", 0))]
        if usage.get("cost"):
            told.append(self._say(REPORT_COST, cost=str(usage["cost"])))
        if usage.get("unpriced") and usage.get("cost"):
            told.append(self._say(REPORT_UNPRICED, count=usage["unpriced"]))
        return ", ".join(told)


def _shown(text: Json) -> str:
    return html.escape(escape_for_person(str(text)).text)


def _lines(text: str) -> str:
    return html.escape(escape_for_person(text, lines=True).text)


def _code(value: Json) -> str:
    text = _lines(value) if isinstance(value, str) else html.escape(escape_json(value).text)
    return f'<pre dir="auto">{text}</pre>'


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if is_mapping(value) else {}


def _nodes(node: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    children: list[Any] = node.get("children", [])
    return [_mapping(child) for child in children]
