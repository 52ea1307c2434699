"""Construction: frozen values that are made for every call, at a third of the cost."""

from collections.abc import Callable
from dataclasses import MISSING, fields
from typing import Any, Final, TypeVar

T = TypeVar("T")

_LEFT_OUT: Final = object()
"""Stands for an argument whose default is made anew each time."""


def made_quickly(cls: type[T]) -> type[T]:
    """Return the frozen dataclass, with an `__init__` that costs a third and does the same.

    A frozen dataclass sets each attribute through `object.__setattr__`, which was a quarter of
    what the gate cost. Here an instance is open while it is made, as an instance of a twin
    without that bar, and frozen before `__post_init__` or anybody else sees it.

    Args:
        cls: A dataclass with `frozen=True, slots=True`, without a base of its own. It cannot
            have subclasses: they would not be built.

    Raises:
        TypeError: It is not frozen, or has no slots of its own.
    """
    declared = [field for field in fields(cls) if field.init]  # type: ignore[arg-type]  # checked on the next line
    if "__slots__" not in vars(cls) or "__setattr__" not in vars(cls) or len(declared) != len(fields(cls)):  # type: ignore[arg-type]  # a dataclass
        raise TypeError(f"{cls.__name__} is no frozen dataclass with slots, all of whose fields are arguments")
    twin = type(cls.__name__, (), {"__slots__": vars(cls)["__slots__"], "__module__": cls.__module__})
    scope: dict[str, Any] = {"_open": object.__setattr__, "_twin": twin, "_frozen": cls, "_left_out": _LEFT_OUT}
    required: list[str] = []
    given: list[str] = []
    keywords: list[str] = []
    lines: list[str] = []
    for field in declared:
        name = field.name
        value = name
        parameter = name
        if field.default is not MISSING:
            scope[f"_default_{name}"] = field.default
            parameter = f"{name}=_default_{name}"
        elif field.default_factory is not MISSING:
            scope[f"_make_{name}"] = field.default_factory
            parameter = f"{name}=_left_out"
            value = f"_make_{name}() if {name} is _left_out else {name}"
        (keywords if field.kw_only else given if parameter != name else required).append(parameter)
        lines.append(f"    self.{name} = {value}")
    parameters = ["self", *required, *given, *(["*", *keywords] if keywords else [])]
    lines = [f"def __init__({', '.join(parameters)}):", "    _open(self, '__class__', _twin)", *lines]
    lines.append("    self.__class__ = _frozen")
    if hasattr(cls, "__post_init__"):
        lines.append("    self.__post_init__()")
    exec("\n".join(lines), scope)  # noqa: S102 - of the names of our own fields, as `dataclasses` does
    made: Callable[..., None] = scope["__init__"]
    made.__annotations__ = cls.__init__.__annotations__
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    cls.__init__ = made  # type: ignore[method-assign]  # this is what the decorator is for
    return cls
