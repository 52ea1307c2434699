"""Ending: what the model is told of how a tool ended, what the audit log is told, and what is known of its effect."""

import json
from dataclasses import replace
from typing import Any, Final, assert_never

from placet.errors import ToolError
from placet.runtime.attempt import Ready
from placet.runtime.execute import Ending, Raised, Returned, TimedOut, ends_the_run, says_nothing_was_done
from placet.runtime.redacted import without_login
from placet.runtime.sentences import answer_sentence, refusal_sentence
from placet.runtime.world import World
from placet.tools.output import Shaped
from placet.tools.text import cut, words_of
from placet.values.call import ToolResult
from placet.values.construction import dataclass, made_quickly, maker
from placet.values.decision import Reason
from placet.values.effect import EffectState, NotCommitted
from placet.values.limits import RESULT_BYTES
from placet.values.tool import Survival

FATAL: Final = "fatal"
"""Code of a result whose tool has ended the run. The model never reads it."""

_DOUBT: Final = " It is not known whether it had an effect; do not repeat it."


@made_quickly
@dataclass(frozen=True, slots=True)
class Observed:
    """An ending, put into words.

    Attributes:
        result: What the model is told.
        detail: What only the audit log is told; not yet redacted.
        is_json: Whether the content is a whole JSON text.
        data: What the tool gave for hooks and telemetry alone.
    """

    result: ToolResult
    detail: str = ""
    is_json: bool = False
    data: Any = None


_new_result: Final = maker(ToolResult)
_new_observed: Final = maker(Observed)


def observe(world: World, ready: Ready, ending: Ending) -> Observed:
    """Return an ending in words.

    What a tool gave back is checked, stripped, encoded, cut and fenced. What it raised is
    told as written if it is a `ToolError`, and else as a code and a reference: its text is
    for the audit log alone.
    """
    match ending:
        case Returned(value=value):
            return _returned(world, ready, value)
        case Raised(error=ToolError() as error):
            said = _said(world, ready, error)
            told = _hide_words(world, ready, said) if ready.tool.spec.redact_for_model else said
            return Observed(told, error.detail or "")
        case Raised(error=error):
            reference = world.ids.new("err")
            doubt = _doubt(ready)
            content = f"the tool failed (reference {reference}).{doubt} Go on without it, or tell the person."
            code = FATAL if ends_the_run(ending) else "internal_error"
            words = words_of(error, RESULT_BYTES)[0]
            return Observed(_failed(ready, code, content), f"{reference}: {type(error).__name__}: {words}")
        case TimedOut():
            return Observed(_failed(ready, "timeout", _timeout_text(ready, ending)))
        case _:
            assert_never(ending)


def _returned(world: World, ready: Ready, value: object) -> Observed:
    site, spec = ready.attempt.site, ready.tool.spec
    # What has run in a process of its own was shaped there: no object of it comes here.
    shaped = value if ready.tool.home and isinstance(value, Shaped) else ready.tool.output.shape(value)
    if spec.redact_for_model:
        shaped = _hide(world, ready, shaped)
    answer = ""
    if site.wants_answer:
        answer = shaped.content if shaped.is_error else answer_sentence(spec, shaped, site.language)
    result = _new_result(
        ready.attempt.call.id,
        shaped.content,
        shaped.is_error,
        shaped.code,
        world.ids.mark(),
        shaped.cut_from,
        answer,
    )
    return _new_observed(
        result, shaped.detail or "", shaped.written is not None and shaped.cut_from is None, shaped.data
    )


def _said(world: World, ready: Ready, error: ToolError) -> ToolResult:
    """Return what a tool says of its own failure: as written, but safe, and no longer than a result may be.

    Where others can write what the tool gives back, its complaints may quote them: they are fenced, too.
    """
    most = ready.tool.spec.max_result_bytes
    message, cut_from = words_of(error.message, most)
    content = message
    if error.hint is not None:
        hint = words_of(error.hint, most // 2)[0]
        room = most - len(hint.encode()) - len(" ()")
        shown, cut_from = words_of(error.message, room)
        content = f"{shown} ({hint})"
    if not content or content.isspace():
        content = "(no text)"
    answer = message if ready.attempt.site.wants_answer else ""
    call_id = ready.attempt.call.id
    content, answer = (without_login(world, ready.tool, text) for text in (content, answer))
    mark = world.ids.mark() if world.is_writable(ready.tool.name) else ""
    return ToolResult(call_id, content, is_error=True, code=error.code, fence=mark, cut_from=cut_from, answer=answer)


def _hide(world: World, ready: Ready, shaped: Shaped) -> Shaped:
    """Return a result as the audit log may hold it, for a model that may read no more."""
    redactor, most = world.redactor(ready.tool), ready.tool.output.max_bytes
    if shaped.written is None:
        return replace(shaped, content=redactor.text(shaped.content, known=redactor.secrets_in(ready.arguments.json)))
    written = redactor.json_text(shaped.written.decode())
    told = json.loads(written) if written.startswith('"') else written
    was_longer = shaped.cut_from is not None and len(shaped.written) <= most
    content, cut_from = cut(told, most, more=was_longer)
    return replace(shaped, content=content, cut_from=cut_from, written=written.encode())


def _hide_words(world: World, ready: Ready, said: ToolResult) -> ToolResult:
    """Return what a tool has said itself as the audit log may hold it."""
    redactor = world.redactor(ready.tool)
    known = redactor.secrets_in(ready.arguments.json)
    return replace(
        said, content=redactor.text(said.content, known=known), answer=redactor.text(said.answer, known=known)
    )


def _failed(ready: Ready, code: str, content: str) -> ToolResult:
    site = ready.attempt.site
    answer = refusal_sentence(Reason.CHECK_FAILED, site.language) if site.wants_answer else ""
    return ToolResult(ready.attempt.call.id, content, is_error=True, code=code, answer=answer)


def _doubt(ready: Ready) -> str:
    spec = ready.tool.spec
    return _DOUBT if spec.has_effect and spec.survival is not Survival.TRANSACTION else ""


def _timeout_text(ready: Ready, ending: TimedOut) -> str:
    seconds = ready.tool.spec.timeout.total_seconds()
    if not ending.started:
        return f"every place to run was taken for {seconds:g} s, so this call did not run; try again later"
    running = " (may_still_be_running: true)" if ending.may_still_be_running else ""
    doubt = _doubt(ready)
    return f"the tool took longer than {seconds:g} s and was given up{running}.{doubt}"


def refused_by_the_store(world: World, ready: Ready, refused: NotCommitted) -> Observed:
    """Return in words that nothing of a tool's transaction stands."""
    if refused.otherwise:
        answer = refused.otherwise if ready.attempt.site.wants_answer else ""
        result = ToolResult(ready.attempt.call.id, refused.otherwise, is_error=True, code=ToolError.code, answer=answer)
        return Observed(result, refused.detail)
    reference = world.ids.new("err")
    content = f"the tool failed, and nothing was done (reference {reference}). Go on without it, or tell the person."
    return Observed(_failed(ready, "internal_error", content), f"{reference}: {refused.detail}")


def state_of(ready: Ready, ending: Ending, observed: Observed) -> EffectState:
    """Return what is known of an effect: certain only when the tool came to its end or said so itself.

    What writes in the store's own transaction is certain always: until that is committed,
    nothing was done.
    """
    if ready.tool.spec.survival is Survival.TRANSACTION:
        wrote = isinstance(ending, Returned) and not observed.result.is_error
        return EffectState.DONE if wrote else EffectState.FAILED
    if isinstance(ending, Returned):
        return EffectState.DONE
    return EffectState.FAILED if says_nothing_was_done(ending) else EffectState.UNKNOWN
