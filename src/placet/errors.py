"""Every exception that placet raises, in one tree, split by who can mend it.

```text
PlacetError
├── ConfigurationError        the developer: something is built wrong, said when it is built
│   ├── DuplicateToolError      two tools of one name in a toolset
│   ├── ToolDefinitionError     a tool that cannot be one (no docstring, no type, no effect …)
│   ├── PolicyError             a rule that names what does not exist, or can never match
│   ├── AgentFileError          an agent file that cannot be read as one
│   └── SkillError              a skill that is broken, or has drifted from its lock
├── ToolError                 the model: raised by a tool, said to the model as written
│   └── StageError              a workflow stopped at one of its stages
├── FatalToolError            nobody, in this run: raised by a tool, ends the run
├── ModelError                the provider or the network
│   ├── ModelUnavailableError   try again later (time-outs, 429, 5xx, no connection)
│   ├── ModelRequestError       the request will never do (401, 400, unknown model)
│   └── ModelProtocolError      an answer that cannot be understood
└── StoreError                the operator: what must be remembered cannot be
    ├── StoreVersionError       the store was written by a newer placet
    └── LeaseLostError          another worker has taken this run over
```

Refusals and pauses are values, not exceptions (`placet.values.decision`,
`placet.values.outcome`): an exception as control flow gets caught by a stranger.
"""

from datetime import timedelta


class PlacetError(Exception):
    """The root of everything that placet raises."""


class ConfigurationError(PlacetError):
    """Something is built wrong. The message names it and says how to mend it."""


class DuplicateToolError(ConfigurationError):
    """Two tools of one name: which of them would run must never be a matter of order."""


class ToolDefinitionError(ConfigurationError):
    """What was given cannot be a tool. The message names the tool and the mend."""


class PolicyError(ConfigurationError):
    """A rule that can never do what it says: it names something that does not exist."""


class AgentFileError(ConfigurationError):
    """An agent file that is missing, malformed, or names what does not exist."""


class SkillError(ConfigurationError):
    """A skill that breaks a rule, or tells the model something else than what was accepted."""


class ToolError(PlacetError):
    """A failure that a tool knows and words itself. The model is told the text as written.

    Raising it from a write says that nothing was done: the effect is settled as failed,
    and the model may propose the call again.

    Args:
        message: What the model is told, for instance `"city not found: 'Oslp'"`.
        hint: What the model could do next, for instance `"use the English name"`.
        detail: What only the audit log is told, redacted.

    Attributes:
        code: The stable code of the result.
    """

    code = "tool_error"

    def __init__(self, message: str, *, hint: str | None = None, detail: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.detail = detail


class StageError(ToolError):
    """A workflow has stopped at one of its stages, and says so to whoever has started it.

    Args:
        message: Which stage, and why.
        code: Why, as a `StopReason`.
    """

    def __init__(self, message: str, *, code: str) -> None:
        super().__init__(message)
        self.code = code


class FatalToolError(PlacetError):
    """Ends the run. The text goes to the audit log alone, neither to model nor to report."""


class ModelError(PlacetError):
    """A model could not be asked, or its answer could not be used."""


class ModelUnavailableError(ModelError):
    """The provider is out of reach or overloaded; the same request may do later.

    Attributes:
        retry_after: How long the provider asks to wait, or None when it has not said.
    """

    def __init__(self, message: str = "", *, retry_after: timedelta | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ModelRequestError(ModelError):
    """The provider refuses the request, and would refuse it again."""


class ModelProtocolError(ModelError):
    """The answer contradicts itself or the wire format, so nothing of it is used."""


class StoreError(PlacetError):
    """The store could not be read or written. What was not written did not happen."""


class StoreVersionError(StoreError):
    """The store's schema is newer than this code. Upgrade placet; nothing was touched."""


class LeaseLostError(StoreError):
    """Another worker owns this run now; whatever this one was about to do, it must not."""


def described(error: BaseException) -> str:
    """Return an exception as the audit log may be told of it. Never raises, whatever it does when it is asked."""
    try:
        return repr(error)
    except Exception:  # noqa: BLE001 - a stranger's exception
        return f"{type(error).__name__} that cannot be put into words"
