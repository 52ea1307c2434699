"""Home: where an isolated tool stands, as `module:name`, so that another process finds the same one."""

import importlib
import sys
from collections.abc import Callable
from typing import Any, Final

from placet.errors import ToolDefinitionError
from placet.tools.parameters import Signature, Source

_MAIN: Final = "__main__"


def home_of(call: Callable[..., Any], signature: Signature, name: str) -> str:
    """Return where a tool's code stands.

    Args:
        call: A function at the top level of a module.
        signature: What it takes.
        name: The tool's name, for the message.

    Raises:
        ToolDefinitionError: Another process could not find it, or could not give it what it takes.
    """
    module, where = getattr(call, "__module__", None), getattr(call, "__qualname__", "<no name>")
    if module == _MAIN:
        spec = getattr(sys.modules[_MAIN], "__spec__", None)
        module = spec.name if spec is not None else None
    if module is None or not where.isidentifier():
        msg = (
            f"tool {name!r} has isolation='process', so another process must find it: write it with @tool "
            "as a function at the top level of a module that can be imported (not of the script that is started)"
        )
        raise ToolDefinitionError(msg)
    for parameter in signature.parameters:
        if parameter.source not in (Source.ARGUMENT, Source.INPUT, Source.CONTEXT):
            msg = (
                f"tool {name!r} has isolation='process' and takes {parameter.name!r} ({parameter.source.value}), "
                "which stays in this process; such a tool takes its arguments and the context alone"
            )
            raise ToolDefinitionError(msg)
    return f"{module}:{where}"


def at_home(home: str) -> object:
    """Return what stands there, importing its module if it must, or None.

    Raises:
        ImportError: There is no such module.
    """
    module, _, where = home.partition(":")
    return getattr(importlib.import_module(module), where, None)
