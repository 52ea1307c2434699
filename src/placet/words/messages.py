"""The messages that runtime and command line say to people, by what they are about.

The English text is the message's id (`placet.words.catalog.say`). Tables for sets of words
stand here, so that a word without a message shows in a test; single messages may be said
where they are needed, as a literal. Both kinds are found by `scripts/compile_catalogues.py`.
"""

from collections.abc import Mapping
from typing import Final

from placet.values.approval import ApprovalStatus
from placet.values.audit import AuditKind
from placet.values.decision import Reason
from placet.values.effect import EffectState
from placet.values.provenance import Origin
from placet.values.run import RunStatus, StopReason
from placet.values.tool import Effect

LAST_WORDS: Final[Mapping[StopReason, str]] = {
    StopReason.TURNS: "Sorry, I could not finish within the limit of steps. You can ask me again in smaller parts.",
    StopReason.CALLS: "Sorry, I could not finish within the limit of actions. You can ask me again in smaller parts.",
    StopReason.SECONDS: "Sorry, I could not finish in time. Please try again.",
    StopReason.TOKENS: "Sorry, this request became too long for me to finish. Please try a shorter one.",
    StopReason.COST: "Sorry, this request has reached its spending limit.",
    StopReason.CANCELLED: "This request was cancelled. What had already been done was not undone.",
    StopReason.FATAL: "Sorry, something went wrong and I had to stop here.",
    StopReason.MODEL: "Sorry, I cannot answer right now. Please try again in a moment.",
    StopReason.REFUSAL: "Sorry, I cannot help with this request.",
    StopReason.OUTPUT: "Sorry, I could not put the answer into the form that was asked for.",
    StopReason.UNRECORDED: "Sorry, I had to stop because what I do could not be recorded. Please try again later.",
    StopReason.STAGE: "Sorry, one of the steps failed, so I had to stop here.",
}
"""What a person reads when a run ends short of an answer."""

REFUSALS: Final[Mapping[Reason, str]] = {
    Reason.UNKNOWN_TOOL: "This action is not available to you.",
    Reason.INVALID_ARGUMENTS: "The details of this request are not valid.",
    Reason.NOT_PERMITTED: "You are not allowed to do this.",
    Reason.NOT_FOUND: "What you asked for was not found.",
    Reason.UNTRUSTED_ARGUMENT: "A value came from a source that is not trusted, so this was not done.",
    Reason.LIMIT_REACHED: "The limit for this action has been reached. Please try again later.",
    Reason.BUDGET_SPENT: "The limit for this request has been reached.",
    Reason.CHECK_FAILED: "This could not be checked, so it was not done.",
    Reason.REJECTED: "The request was rejected.",
    Reason.EXPIRED: "Nobody answered in time, so the request expired.",
    Reason.APPROVAL_VOID: "Something has changed since this was approved, so it needs a new approval.",
    Reason.APPROVAL_USED: "This approval has already been used.",
    Reason.EFFECT_RUNNING: "The same action is still running.",
    Reason.EFFECT_UNKNOWN: "It is not known whether the same action was already carried out. Someone has to check.",
    Reason.KEY_CONFLICT: "This idempotency key was already used for a different request.",
    Reason.KEY_REQUIRED: "This action needs an idempotency key.",
    Reason.CUT_OFF: "The request was cut off, so it was not done.",
    Reason.UNRECORDED: "This could not be recorded, so it did not go ahead.",
    Reason.LEASE_LOST: "This request has been taken over elsewhere.",
    Reason.CANCELLED: "This was cancelled before it ran.",
}
"""What a person reads when a call, or what they asked of placet, is refused."""

CUT_ANSWER: Final = "This answer is not complete: it was cut off at its length limit."
"""What a person reads beside words that the token limit has cut."""

FAILURES: Final[Mapping[str, str]] = {
    "tool_error": "This did not work.",
    "internal_error": "Something went wrong.",
    "timeout": "This took too long. It may still be running.",
    "bad_output": "The answer could not be used.",
}
"""What a person reads for the codes of a call that ran and failed."""

RUN_STATUSES: Final[Mapping[RunStatus, str]] = {
    RunStatus.RUNNING: "running",
    RunStatus.WAITING: "waiting for a person",
    RunStatus.READY: "ready to go on",
    RunStatus.DONE: "done",
    RunStatus.STOPPED: "stopped",
}

APPROVAL_STATUSES: Final[Mapping[ApprovalStatus, str]] = {
    ApprovalStatus.PENDING: "pending",
    ApprovalStatus.APPROVED: "approved",
    ApprovalStatus.REJECTED: "rejected",
    ApprovalStatus.EXPIRED: "expired",
    ApprovalStatus.USED: "used",
    ApprovalStatus.VOID: "void",
}

EFFECT_STATES: Final[Mapping[EffectState, str]] = {
    EffectState.RUNNING: "running",
    EffectState.DONE: "done",
    EffectState.FAILED: "failed",
    EffectState.UNKNOWN: "outcome unknown",
}

EFFECTS: Final[Mapping[Effect, str]] = {
    Effect.READ: "reads",
    Effect.WRITE: "changes data",
    Effect.DESTRUCTIVE: "changes data for good",
}

DECISIONS: Final[Mapping[str, str]] = {
    "allow": "allowed by {rule}",
    "deny": "refused by {rule}",
    "approve": "waits for approval by: {approvers}",
    "confirm": "waits for your confirmation",
    "approved": "approved by {person}",
    "confirmed": "confirmed by {person}",
    "rejected": "rejected by {person}",
    "expired": "expired: nobody answered in time",
    "executed": "carried out",
    "failed": "failed",
    "unknown": "outcome unknown: someone has to check",
}
"""One line for one decision, as the chat and `placet audit show` print it."""

KINDS: Final[Mapping[AuditKind, str]] = {
    AuditKind.WRITER: "opened",
    AuditKind.QUESTION: "question",
    AuditKind.CALL: "call",
    AuditKind.APPROVAL: "approval",
    AuditKind.INTENT: "intent",
    AuditKind.OUTCOME: "outcome",
    AuditKind.ANSWER: "answer",
    AuditKind.TURN: "turn",
    AuditKind.STAGE: "stage",
    AuditKind.PURGE: "purge",
}
"""What a record of the audit log tells of."""

ORIGINS: Final[Mapping[Origin, str]] = {
    Origin.PERSON: "said by the person",
    Origin.DEVELOPER: "set by the application",
    Origin.TOOL: "found by a tool",
    Origin.MODEL: "worked out by the model",
    Origin.UNTRUSTED: "not trusted: others can write where it comes from",
}
"""Where the value of an argument came from, as an approver reads it."""

YES_WORDS: Final[Mapping[str, frozenset[str]]] = {
    "en": frozenset({"y", "yes"}),
    "pt-BR": frozenset({"s", "sim", "y", "yes"}),
    "ro": frozenset({"d", "da", "y", "yes"}),
}
"""What counts as a yes at a prompt, by language. Everything else is a no."""


def is_yes(answer: str, language: str) -> bool:
    """Return whether what a person typed is a yes, exactly, in their language or in English.

    Silence, and everything that is not clearly a yes, is a no.
    """
    return answer.strip().casefold() in YES_WORDS.get(language, YES_WORDS["en"])


# ── audit log ─────────────────────────────────────────────────────────────────────────

CHAIN_INTACT: Final = ("{n} record, chain intact", "{n} records, chain intact")
CHAINS_READ: Final = ("written by {n} process", "written by {n} processes")
CHAIN_BROKEN: Final = "the log is not intact: chain {writer}, record {sequence}: {message}"
ANCHORED: Final = "anchored: compared with an exported head"
UNANCHORED: Final = "unanchored: a cut tail is not detectable"

# ── time ──────────────────────────────────────────────────────────────────────────────

EXPIRES: Final = "expires in {left}"
EXPIRES_SOON: Final = "expires in less than a minute"
WAITING_CALLS: Final = ("{n} call waits for you", "{n} calls wait for you")
CALLS_DONE: Final = ("{n} call", "{n} calls")
RUNS_PURGED: Final = ("{n} run purged", "{n} runs purged")
TURNS_TAKEN: Final = ("{n} answer of the model", "{n} answers of the model")

# ── prompts ───────────────────────────────────────────────────────────────────────────

CONFIRM: Final = "Confirm? [y/N]"
GOODBYE: Final = "Goodbye."
WARN_HIDDEN: Final = "Warning: this text hid characters; they are shown as ⟨U+…⟩."
WARN_MIXED: Final = "Warning: letters of different alphabets are mixed in: {words}"

# ── tables of the command line ────────────────────────────────────────────────────────

COLUMNS: Final = (
    "Id", "Tool", "On behalf of", "Arguments", "What would change", "Where it came from", "Who may approve", "Expires",
    "Status", "Asked", "Rule", "Decision", "Reason", "When", "Who", "Run", "Agent", "Steps", "Calls", "Result",
    "Duration", "Effect", "Roles", "Limit", "Description", "Started", "Key", "Approval", "Timeout",
)  # fmt: skip

# ── the command line ──────────────────────────────────────────────────────────────────

THINKING: Final = "Thinking…"
RUNNING_TOOL: Final = "Running {tool}…"
WAITS_FOR_APPROVAL: Final = "{tool} waits for approval {id}"
WAITS_FOR_YOU: Final = "{tool} waits for your confirmation"
WAITS_FOR_REQUESTER: Final = "{tool} waits for your confirmation: {id}"
PREVIEW: Final = "preview:"
REDACTED: Final = "Redacted: only who may decide sees the arguments as they will run."
REQUESTER: Final = "the requester"
APPROVED: Final = "Approved."
CONFIRMED: Final = "Confirmed."
REJECTED: Final = "Rejected."
ASKED_ANEW: Final = "What was approved has changed meanwhile, so it is asked anew."
NOT_CONFIRMED: Final = "Not confirmed; nothing was done."
SETTLED: Final = "The outcome was settled as {state}."
NOTHING_WAITS: Final = "Nothing is waiting for approval."
WHY_STOPPED: Final = "Why it stopped:"
NO_RUNS: Final = "There are no runs."
NO_TOOLS: Final = "No tools are open to this person."
EMPTY_LOG: Final = "The audit log is empty."
NOBODY_OWNS: Final = "nobody owns it: it can be resumed"
CHAT_OPENS: Final = "What would you like to know? (/history shows the conversation, /quit ends it)"
WHO_ASKED: Final = "you"
WHO_ANSWERED: Final = "assistant"
STATE_UNKNOWN: Final = "Unknown outcomes block the same call until somebody settles them:"

WRONG_CONFIGURATION: Final = "The configuration is wrong: {message}"
NEWER_STORE: Final = "The store was written by a newer placet. Upgrade placet; nothing was touched."
FAILED: Final = "Error: {message}"
WHO_ASKS: Final = "Who asks? Name them with --as."
DEMO_ONLY: Final = "--as and --role count only on a demonstration store: anybody could type any name."
DEMO_FIX: Final = "On this store the application says who asks, once it has authenticated them."
ROLES_FROM_DIRECTORY: Final = "--role does not count here: the application's own directory says who has which roles."
UNKNOWN_PRINCIPAL: Final = "The principal {id} is not known."
STATE_ROLES: Final = "Nobody has said yet who that is. Say it with --role, once for each role."
NOT_IN_DIRECTORY: Final = "The application's own directory does not know them."
NO_APPROVAL: Final = "There is no approval {id}."
NO_RUN: Final = "There is no run {id}."
NO_TOOL: Final = "There is no tool {name}."
NO_TOOL_BUT: Final = "There is no tool {name}. Did you mean {near}?"
NO_EFFECT: Final = "There is no call {key} whose outcome could be settled."
OUTCOME_KNOWN: Final = "The outcome of {key} is known: {state}"
STILL_RUNNING: Final = "The call {key} may still end by itself; try again after {until}."
ALREADY: Final = "Approval {id} is already {status}."
NEEDS_ROLE: Final = "Approval {id} needs one of these roles: {roles}"
OWN_CALL: Final = "You cannot approve what was asked on your own behalf."
NEEDS_APPROVAL: Final = "This call needs the approval of another person."
NEEDS_CONFIRMATION: Final = "Only the requester can confirm this call."
NO_ARGUMENTS: Final = "The arguments are not a JSON object: {message}"
HEADS_DO_NOT_FIT: Final = (
    "The heads in {path} cannot be used: they were edited, belong to another store, or are no exported heads."
)
NO_FILE: Final = "The file {path} does not exist."
NO_WRITING: Final = "The file {path} cannot be written."
OWNED: Final = "Another process owns this run until {until}."
RUN_ENDED: Final = "This run has ended: {status}"
OPTIONAL: Final = "optional"
ONE_OF: Final = "one of {values}"
UNDER_A_CONDITION: Final = "under a condition"
DONE_OR_FAILED: Final = "Say how it ended: --done or --failed."
KEY_FIX: Final = "Give one with --key, and the same one when you try again: nothing runs twice under one key."

COMMAND_LINE: Final = (
    THINKING, RUNNING_TOOL, WAITS_FOR_APPROVAL, WAITS_FOR_YOU, WAITS_FOR_REQUESTER, PREVIEW, REDACTED, REQUESTER,
    APPROVED, CONFIRMED, REJECTED, ASKED_ANEW, NOT_CONFIRMED, WHY_STOPPED, SETTLED, NOTHING_WAITS, NO_RUNS, NO_TOOLS,
    EMPTY_LOG, NOBODY_OWNS,
    CHAT_OPENS, WHO_ASKED, WHO_ANSWERED, STATE_UNKNOWN, WRONG_CONFIGURATION, NEWER_STORE, FAILED, WHO_ASKS,
    DEMO_ONLY, DEMO_FIX, ROLES_FROM_DIRECTORY, UNKNOWN_PRINCIPAL, STATE_ROLES, NOT_IN_DIRECTORY,
    NO_APPROVAL, NO_RUN, NO_TOOL,
    NO_TOOL_BUT, NO_EFFECT, OUTCOME_KNOWN, STILL_RUNNING, ALREADY, NEEDS_ROLE, OWN_CALL, NEEDS_APPROVAL,
    NEEDS_CONFIRMATION, NO_ARGUMENTS, HEADS_DO_NOT_FIT, NO_FILE, NO_WRITING, OWNED, RUN_ENDED, OPTIONAL, ONE_OF,
    UNDER_A_CONDITION, DONE_OR_FAILED, KEY_FIX,
)  # fmt: skip

# ── the report of a run ───────────────────────────────────────────────────────────────

NODE_KINDS: Final[Mapping[str, str]] = {
    "workflow": "workflow",
    "agent": "agent",
    "model": "model",
    "tool": "tool",
    "stage": "stage",
    "function": "function",
    "sequence": "sequence",
    "loop": "loop",
    "round": "round",
    "parallel": "side by side",
}
"""What a node of a report is."""

NODE_STATUSES: Final[Mapping[str, str]] = {
    "done": "done",
    "error": "failed",
    "refused": "refused",
    "stopped": "stopped",
    "cancelled": "cancelled",
    "waiting": "waiting for a person",
    "ready": "ready to go on",
    "running": "running",
    "unknown": "outcome unknown",
}
"""How far a node of a report is."""

REPORT_TITLE: Final = "Run of {agent}: {status}"
REPORT_MADE: Final = "Made from the audit log. What is redacted there is redacted here."
REPORT_TOKENS: Final = "{input} tokens read, {output} written"
REPORT_COST: Final = "cost: {cost}"
REPORT_UNPRICED: Final = "answers of unknown cost: {count}"
REPORT_LABELS: Final = ("Tokens", "Preview", "Code", "Ended")
REPORT: Final = (
    *NODE_KINDS.values(), *NODE_STATUSES.values(), REPORT_TITLE, REPORT_MADE, REPORT_TOKENS, REPORT_COST,
    REPORT_UNPRICED, *REPORT_LABELS,
)  # fmt: skip

PLURALS: Final = (CHAIN_INTACT, CHAINS_READ, WAITING_CALLS, CALLS_DONE, RUNS_PURGED, TURNS_TAKEN)
"""Pairs for `say_plural`."""

SINGLES: Final = (
    *LAST_WORDS.values(), *REFUSALS.values(), *FAILURES.values(), *RUN_STATUSES.values(), *APPROVAL_STATUSES.values(),
    *EFFECT_STATES.values(), *EFFECTS.values(), *DECISIONS.values(), *KINDS.values(), *ORIGINS.values(), CHAIN_BROKEN,
    ANCHORED, UNANCHORED, EXPIRES, EXPIRES_SOON, CONFIRM, GOODBYE, WARN_HIDDEN, WARN_MIXED, *COLUMNS, *COMMAND_LINE,
    *REPORT, CUT_ANSWER,
)  # fmt: skip
"""Messages for `say`."""
