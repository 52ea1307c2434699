"""ToolSpec: what a tool declares about itself."""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from datetime import timedelta
from enum import StrEnum
from typing import Any, Final, TypeAlias

from placet.errors import ToolDefinitionError
from placet.values.approval import ApprovalRule, untrusted_alone
from placet.values.construction import dataclass
from placet.values.json import JsonObject, canonical
from placet.values.limits import RESULT_BYTES, TOOL_MEMORY_BYTES, TOOL_TIMEOUT, Limit, ValueLimit
from placet.values.principal import Principal

Authorise: TypeAlias = Callable[[Principal, Any, Any], bool]
"""Pure: from the principal, the loaded resource (None without a loader) and the validated
arguments to whether the call may be made. Anything but True refuses."""

TOOL_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
"""What every provider accepts as a tool's name (OpenAI and Anthropic: 64 of these)."""

SOURCE_NAME: Final = re.compile(r"(?=.{1,24}\Z)[A-Za-z][A-Za-z0-9-]*(?:_[A-Za-z0-9-]+)*")
"""What a source may be called. It holds no `__` and does not end in `_`, so that what stands before the
first `__` of `source__name` is the source, and two sources never share a name."""

MAX_REMOTE_NAME: Final = 256
"""Characters that the name of a remote tool may have. MCP asks for at most 128."""


class Effect(StrEnum):
    """What a tool does to the world."""

    READ = "read"
    WRITE = "write"
    DESTRUCTIVE = "destructive"


class Survival(StrEnum):
    """How a write survives a crash between its intent and its outcome."""

    ONCE = "once"
    """Never run again by itself: the outcome is unknown until a person settles it."""
    KEY = "key"
    """Run again with the same idempotency key: the other side deduplicates."""
    TRANSACTION = "transaction"
    """Effect and ledger commit in one transaction of the store: run again only if neither did."""


class Isolation(StrEnum):
    """Where a tool's code runs."""

    THREAD = "thread"
    """In this process: an async tool on the loop, a sync tool in the pool. A sync tool that
    passes its timeout may still be running, and its result says so."""
    PROCESS = "process"
    """In a child process, killed for real at the timeout, that can take `max_memory_bytes` and no more."""


@dataclass(frozen=True, slots=True)
class Remote:
    """A tool that comes from elsewhere, as it is called there.

    Attributes:
        source: Which server or program, as the application calls it.
        name: Its exact name there, which no provider need take. It is what runs; matched character by character.

    Raises:
        ToolDefinitionError: The source's name is none, or the tool's is empty, too long, or
            holds characters that nobody sees.
    """

    source: str
    name: str

    def __post_init__(self) -> None:
        if not SOURCE_NAME.fullmatch(self.source):
            msg = (
                f"{self.source!a} cannot be what a source of tools is called: letters, digits, '-' and single '_' "
                "between them, at most 24, starting with a letter"
            )
            raise ToolDefinitionError(msg)
        if not self.name or len(self.name) > MAX_REMOTE_NAME or not self.name.isprintable():
            msg = (
                f"source {self.source!r} names a tool {self.name[:MAX_REMOTE_NAME]!a}: a name has 1 to "
                f"{MAX_REMOTE_NAME} characters that can be seen; leave that tool out"
            )
            raise ToolDefinitionError(msg)

    def __str__(self) -> str:
        """The source and the exact name, in quotes and with what is not ASCII escaped, so that no two look alike."""
        return f"{self.source}: {self.name!a}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """Everything that is declared about a tool, and nothing of how it is done.

    Attributes:
        name: What the model calls it by. Matched exactly.
        description: The prompt: what it does and when to use it.
        effect: What it does to the world.
        input_schema: JSON Schema of the arguments that the model may send; injected
            parameters never stand in it.
        output_schema: JSON Schema of what comes back, or None for free text.
        roles: Who may see and call it; `{EVERYONE}` for every known principal. None says
            nothing, so that only a policy can permit it.
        open_world: Whether it calls out. A read that calls out can carry data away, so its
            intent is recorded first, as a write's is.
        authorise: Whether this principal may do this to this resource.
        loads: Whether the tool names a loader for the resource.
        approval: Whose yes it needs, and when.
        waiver: Why a write needs neither authorisation nor approval. A toolset with a write
            that has none of the three does not build.
        limits: How many calls, or how much of an argument, in how long.
        timeout: Bounds each loading, preview and execution.
        survival: How a write survives a crash.
        isolation: Where its code runs.
        redact: Arguments and result fields that are kept out of the audit log, of spans and reports.
        redact_for_model: Whether the model reads the tool's results as the audit log does: without the
            redacted fields, secrets and personal data.
        secret_fields: Of these, the ones found by type (`SecretStr`) or by name.
        writable_output: Whether others can write what the tool gives back, so that values
            first seen there are untrusted.
        trusted_arguments: Arguments that must not come from untrusted output without approval.
        max_result_bytes: Cap of one result, UTF-8.
        max_memory_bytes: What an isolated call may take beyond what its process holds when the call comes.
        progress: What a person reads while it runs, by language: `{"pt-BR": "consultando o
            pedido {order_id}…"}`. Filled with redacted arguments, escaped.
        answer: What a person reads when a model that writes no prose has called it, by
            language. Filled with the result's fields.
        remote: What it is called where it comes from, or None for the application's own.
        identity: Which tool it is, for digests of calls: the name, and for a tool from elsewhere what is
            called there, so that nothing said of one counts for another that gets its name later.
        digest: SHA-256 over all that the model and the approver are told of the tool.
        has_effect: Whether the ledger of effects keeps the call: it must not happen twice.
        records_intent: Whether the call's intent must be stored before it runs.
    """

    name: str
    description: str
    effect: Effect
    input_schema: JsonObject
    output_schema: JsonObject | None = None
    roles: frozenset[str] | None = None
    open_world: bool = False
    authorise: Authorise | None = None
    loads: bool = False
    approval: ApprovalRule | None = None
    waiver: str | None = None
    limits: tuple[Limit, ...] = ()
    timeout: timedelta = TOOL_TIMEOUT
    survival: Survival = Survival.ONCE
    isolation: Isolation = Isolation.THREAD
    redact: frozenset[str] = frozenset()
    redact_for_model: bool = False
    secret_fields: frozenset[str] = frozenset()
    writable_output: bool = False
    trusted_arguments: frozenset[str] = frozenset()
    max_result_bytes: int = RESULT_BYTES
    max_memory_bytes: int = TOOL_MEMORY_BYTES
    progress: Mapping[str, str] = field(default_factory=dict[str, str])
    answer: Mapping[str, str] = field(default_factory=dict[str, str])
    remote: Remote | None = None
    identity: str = field(init=False)
    digest: str = field(init=False)
    has_effect: bool = field(init=False)
    records_intent: bool = field(init=False)

    def __post_init__(self) -> None:
        if not TOOL_NAME.fullmatch(self.name):
            msg = (
                f"tool name {self.name!r} is not one that every provider takes: "
                "letters, digits, '_' and '-', at most 64, not starting with a digit"
            )
            raise ToolDefinitionError(msg)
        if not self.description.strip():
            msg = f"tool {self.name!r} has no description; the model chooses by it: write a docstring"
            raise ToolDefinitionError(msg)
        if self.approval is not None and self.approval.condition is untrusted_alone and not self.trusted_arguments:
            msg = f"tool {self.name!r} asks for a yes when_untrusted, and names no trusted_arguments={{…}} to look at"
            raise ToolDefinitionError(msg)
        for limit in self.limits:
            if isinstance(limit, ValueLimit):
                self._check_counted(limit)
        declared = [
            self.name, self.description, self.effect, self.open_world, self.input_schema, self.output_schema
        ]  # fmt: skip
        if self.remote is not None:
            declared += [self.remote.source, self.remote.name]
        has_effect = self.effect is not Effect.READ
        identity = self.name if self.remote is None else canonical([self.name, self.remote.source, self.remote.name])
        object.__setattr__(self, "identity", identity)
        object.__setattr__(self, "has_effect", has_effect)
        object.__setattr__(self, "records_intent", self.open_world or has_effect)
        object.__setattr__(self, "digest", hashlib.sha256(canonical(declared).encode()).hexdigest())

    def _check_counted(self, limit: ValueLimit) -> None:
        properties, required = self.input_schema.get("properties"), self.input_schema.get("required")
        form = properties.get(limit.argument) if isinstance(properties, Mapping) else None
        always = isinstance(required, Sequence) and limit.argument in required
        if not isinstance(form, Mapping) or not (always or form.get("default") is not None):
            msg = (
                f"tool {self.name!r} is limited to {limit}, but {limit.argument!r} is not an argument that every "
                "call has; name one that is required, or give it a default"
            )
            raise ToolDefinitionError(msg)


@dataclass(frozen=True, slots=True)
class VisibleTools:
    """The tools that one set of roles may see, built once and shared by all their runs.

    Attributes:
        specs: In the order of the toolset.
        wire: Where an adapter keeps what it has compiled from the specs, by its own name,
            so that no schema is converted twice.
    """

    specs: tuple[ToolSpec, ...]
    wire: dict[str, Any] = field(default_factory=dict[str, Any], compare=False, repr=False)
