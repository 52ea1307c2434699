"""Context: what an executing tool may know of its call. The port through which it starts a nested run."""

from contextvars import ContextVar, Token
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, Protocol, TypeVar

from placet.errors import ConfigurationError
from placet.tools.transaction import Transaction
from placet.values.principal import Principal

Deps = TypeVar("Deps")


class RuntimePort(Protocol):
    """The port to the runtime, for a tool that starts a nested run.

    A class tool asks for it in its constructor (`runtime: RuntimePort`); any tool finds it
    as `context.runtime`. A nested run shares the principal and the budget of the call in
    which it is started, appears under it in the audit log, and passes the same gate.
    """

    async def run(self, agent: Any, question: str, **options: Any) -> Any:
        """Return the outcome of a nested run.

        Args:
            agent: The agent, workflow, or the name of one.
            question: What it is asked.
            options: What the runtime offers further.
        """
        ...


@dataclass(slots=True, kw_only=True, eq=False)
class Context(Generic[Deps]):
    """What an executing tool may know. Built by the runtime, anew for each call.

    Attributes:
        deps: What the host application hands to its tools.
        principal: On whose behalf the call is made, with today's roles.
        language: Of the person, as `"en"`, `"pt-BR"` or `"ro"`.
        run_id: The run, or empty for a direct call without an idempotency key.
        call_key: The key of this call: `run:turn.index`, or an id of its own where there is no run.
        idempotency_key: The same whenever this call is tried again; hand it to the other side.
        deadline: When the call must have ended, in monotonic seconds.
        now: The time of the call, aware and in UTC.
        runtime: The port for nested runs, or None where there is none.
        state: The workflow's state, or None outside a workflow.
        version: Of the loaded resource, as it was authorised, for a tool that declares `version`: what it changes, it
            changes on this condition. Else None.
        transaction: Where a tool with `survival="transaction"` adds what it writes; None for any other.
    """

    deps: Deps
    principal: Principal
    language: str
    run_id: str
    call_key: str
    idempotency_key: str
    deadline: float
    now: datetime
    runtime: Any = None
    state: Any = None
    version: str | int | None = None
    transaction: Transaction | None = None


_runtime: ContextVar[Any] = ContextVar("placet_runtime", default=None)


class NestedRuns:
    """A `RuntimePort` for constructors: it finds the runtime of the call that is executing.

    An instance is shared by all calls of a tool, while a nested run belongs to one call.
    """

    __slots__ = ()

    async def run(self, agent: Any, question: str, **options: Any) -> Any:
        """Return the outcome of a run nested in the call that is executing.

        Raises:
            ConfigurationError: No call is executing here, or its door has no runtime.
        """
        runtime = _runtime.get()
        if runtime is None:
            msg = "no call is executing here, so there is no run to nest in: call run() from within execute()"
            raise ConfigurationError(msg)
        return await runtime.run(agent, question, **options)


def enter_call(context: Context[Any]) -> Token[Any]:
    """Make the runtime of this call the one that `NestedRuns` finds; return a token for `leave_call`."""
    return _runtime.set(context.runtime)


def leave_call(token: Token[Any]) -> None:
    """Undo `enter_call`."""
    _runtime.reset(token)
