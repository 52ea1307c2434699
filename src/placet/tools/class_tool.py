"""A tool from a class: constructed with its dependencies, executed by its `execute` method."""

import inspect
import re
from dataclasses import replace
from typing import Any

from placet.errors import ToolDefinitionError
from placet.tools.context import RuntimePort
from placet.tools.docstring import read_docstring
from placet.tools.parameters import read_signature
from placet.tools.plan import Providers, provide
from placet.tools.tool import Declaration, Declared, Tool, assemble, form_of


def build_class_tool(declaration: Declaration, providers: Providers, instance: Any = None) -> Tool:
    """Return the tool of a class, constructing it with its dependencies unless there is an instance.

    Raises:
        ToolDefinitionError: There is no `execute`, or a dependency is not provided.
    """
    kind, options = declaration.kind, declaration.options
    if not callable(getattr(kind, "execute", None)):
        msg = f"class {kind.__name__!r} is a tool without an execute method{_misnamed(kind)}"
        raise ToolDefinitionError(msg)
    nested = False
    if instance is None:
        instance, nested = _construct(kind, providers)
    name = options.get("name") or _snake_case(kind.__name__)
    signature = read_signature(instance.execute)
    doc = read_docstring(signature.doc)
    description = options.get("description") or read_docstring(kind.__doc__ or "").text or doc.text
    form = form_of(signature, name, doc.parameters, options.get("redact", ()))
    declared = Declared(name=name, description=description, effect=declaration.effect, options=options)
    tool = assemble(declared, instance.execute, signature, form, nested=nested).bind(providers)
    return replace(tool, dependencies=(instance, *tool.dependencies))


def _construct(kind: type, providers: Providers) -> tuple[Any, bool]:
    """Return an instance with its dependencies, and whether it holds the port for nested runs."""
    constructor = inspect.getattr_static(kind, "__init__")
    if constructor is object.__init__:
        return kind(), False
    wanted = read_signature(constructor).parameters[1:]  # the first is self
    who = f"the constructor of class {kind.__name__!r}"
    nested = any(parameter.annotation is RuntimePort for parameter in wanted)
    return kind(**{parameter.name: provide(parameter, providers, who) for parameter in wanted}), nested


def _misnamed(kind: type) -> str:
    own = [name for name, value in vars(kind).items() if not name.startswith("_") and inspect.isfunction(value)]
    if own:
        return f": it has {', '.join(map(repr, own))}; rename the one that does the work to 'execute'"
    return ": write one that takes the arguments and does the work"


def _snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
