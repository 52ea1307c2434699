"""Parts: what an agent is built from, read from where it stands. `wiring` puts them together."""

import secrets
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from placet.agent.definition import AgentDefinition
from placet.errors import AgentFileError, ConfigurationError, PolicyError
from placet.gate.policy import check_names
from placet.ports import Store
from placet.runtime.hooks import Hooks
from placet.runtime.keys import read_or_make_secret
from placet.stores.url import POSTGRES, no_store
from placet.tools.toolset import Toolset
from placet.values.limits import Budget
from placet.values.policy import Policy
from placet.values.principal import EVERYONE
from placet.values.tool import ToolSpec


def load_agent(path: Path) -> AgentDefinition:
    """Return the agent that a Markdown file defines; its name is the file's.

    Raises:
        AgentFileError: It cannot be read, or is no agent file.
    """
    from placet.agent.agent_file import parse_agent  # noqa: PLC0415 - it needs YAML, which is heavy

    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        mend = "" if path.suffix else "; an agent made in code is AgentDefinition(name=…)"
        raise AgentFileError(f"the agent file {str(path)!r} cannot be read: {error}{mend}") from error
    return parse_agent(text, name=path.name.removesuffix(".md").removesuffix(".agent"))


def read_policy(policy: Policy | Path | str | None, product: str) -> Policy | None:
    """Return the policy, read from its file where it is the path of one.

    Args:
        policy: A policy, the path of a TOML file, or None.
        product: For which product the file is read.

    Raises:
        PolicyError: The file cannot be read, or is no policy; or a product is named for a policy that is in
            force for another, or for none.
    """
    if policy is None or isinstance(policy, Policy):
        if product and (policy is None or policy.product != product):
            raise PolicyError(
                f"product={product!r} is for a policy file: give policy='policy.toml', or Policy(product=…)"
            )
        return policy
    from placet.gate.policy_text import parse_policy  # noqa: PLC0415 - it needs TOML

    try:
        return parse_policy(Path(policy).read_text("utf-8"), product=product)
    except (OSError, UnicodeDecodeError) as error:
        raise PolicyError(f"the policy {str(policy)!r} cannot be read: {error}") from error


def choose_tools(tools: Toolset | Iterable[Any], definition: AgentDefinition, policy: Policy | None) -> Toolset:
    """Return the toolset of an agent: those of the tools that its definition names.

    Raises:
        ConfigurationError: A tool cannot be kept beside the others, or a write has nothing that guards it.
        PolicyError: The policy names what does not exist, or a tool a role that the policy does not declare.
        AgentFileError: The definition names tools that were not given.
    """
    permits = {name for rule in policy.rules for name in rule.tools} if policy is not None else set[str]()
    toolset = tools if isinstance(tools, Toolset) else Toolset(tools, policy_permits=permits)
    if policy is not None:
        check_names(policy, {tool.name: tool.spec for tool in toolset})
        for tool in toolset:
            _check_roles(tool.spec, policy)
    if definition.tools is None:
        return toolset
    missing = [name for name in definition.tools if name not in toolset.names]
    if missing:
        raise AgentFileError(
            f"agent {definition.name!r} names tools that it was not given: {missing}; it has {sorted(toolset.names)}"
        )
    named = frozenset(definition.tools)
    return toolset.filter(lambda spec: spec.name in named)


def _check_roles(tool: ToolSpec, policy: Policy) -> None:
    """Refuse a tool that names a role which the policy does not know: nobody could hold it, or say yes by it."""
    asked = tool.approval.approvers if tool.approval is not None else frozenset[str]()
    named = asked | (tool.roles or frozenset[str]())
    unknown = sorted(named - policy.roles - {EVERYONE})
    if unknown:
        raise PolicyError(
            f"tool {tool.name!r} names the role {unknown[0]!r}, which the policy does not declare; "
            f"roles are {sorted(policy.roles)}"
        )


def check_given(store: object, directory: object, budget: object, hooks: object, sinks: object) -> None:
    """Refuse at the build what is of another kind and would break at the first call.

    Raises:
        ConfigurationError: Says what each is.
    """
    if not isinstance(store, str) and not hasattr(store, "claim"):
        raise ConfigurationError(f"store is a URL, as 'sqlite:///placet.db', or a Store; not {_kind(store)}")
    if directory is not None and not hasattr(directory, "find"):
        raise ConfigurationError(f"directory has an async def find(principal_id); {_kind(directory)} has none")
    if budget is not None and not isinstance(budget, Budget):
        raise ConfigurationError(f"budget is a Budget, as Budget(turns=5); not {_kind(budget)}")
    if not isinstance(hooks, Sequence) or not all(isinstance(one, Hooks) for one in hooks):
        raise ConfigurationError(f"hooks is a list of Hooks, as [Hooks(before_tool=…)]; not {_kind(hooks)}")
    if not isinstance(sinks, Sequence) or not all(callable(one) for one in sinks):
        raise ConfigurationError(f"audit is a list of functions that take an AuditEntry; not {_kind(sinks)}")


def _kind(given: object) -> str:
    """Return what something is, and in a list what stands there."""
    inner = {type(one).__name__ for one in given} if isinstance(given, list | tuple | set) else set()
    return type(given).__name__ + (f" of {', '.join(sorted(inner))}" if inner else "")


def secret_of(store: Store | str) -> bytes:
    """Return the secret of a store: from its key file, or random for one that forgets.

    Raises:
        ConfigurationError: The URL names no store, the store is shared and needs a secret from outside, or its key
            file is gone or cannot be read.
    """
    if isinstance(store, str) and store.startswith("sqlite:///"):
        path = Path(store.removeprefix("sqlite:///"))
        key = path.with_name(path.name + ".key")
        if not key.exists() and _is_placets(path) and not key.exists():  # who makes a store makes its key first
            raise ConfigurationError(
                f"the store {str(path)!r} is there and its key file {str(key)!r} is not: bring it back; "
                "under another key the ledger does not know what ran, and the audit log does not verify"
            )
        return read_or_make_secret(key)
    if isinstance(store, str) and store != "memory:":
        if not store.startswith(POSTGRES):
            raise no_store(store)
        raise ConfigurationError(f"the store {store!r} needs secret=…: at least 32 bytes that are kept outside of it")
    return secrets.token_bytes(32)


def _is_placets(path: Path) -> bool:
    """Return whether a file is a store that placet has made, and not one that is yet to be made."""
    from placet.stores.sqlite_connection import is_placets  # noqa: PLC0415 - each store where it is asked for

    return path.is_file() and is_placets(path)
