"""Construction: how our values become dataclasses, at a third of what it takes the standard library.

`dataclasses` writes the source of six methods for every frozen class and compiles each of them. With a
hundred and fifty classes that was most of what `import placet` took. `dataclass` here gives the same
class, and compiles one method of it, `__init__`, when the first instance is made; the others are closures
over the names of the fields.

`made_quickly` goes on top of it, for values that are made for every call; where most of them are made, a
`maker` makes them.
"""

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, FrozenInstanceError
from functools import partial
from operator import attrgetter
from reprlib import recursive_repr
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeAlias, TypeVar, get_origin

__all__ = ["dataclass", "made_quickly", "maker"]

T = TypeVar("T")
P = ParamSpec("P")

Setter: TypeAlias = Callable[..., None]


class _LeftOut:
    """Stands for an argument whose default is made anew each time."""

    def __repr__(self) -> str:
        return "<factory>"


_LEFT_OUT: Final = _LeftOut()
_OWN: Final = frozenset({
    "__init__", "__repr__", "__eq__", "__hash__", "__setattr__", "__delattr__", "__getstate__", "__setstate__",
})  # fmt: skip
"""A class with one of these of its own is left to the standard library, which knows how they go together."""


def _dataclass(*, frozen: bool = False, slots: bool = False, **options: Any) -> Callable[[type[T]], type[T]]:
    """Return what makes of a class what `dataclasses.dataclass` would.

    Frozen classes with slots and without bases are made here. All others, and all that ask for more
    than `kw_only` and `eq`, are made by the standard library.
    """
    ours = frozen and slots and options.keys() <= {"kw_only", "eq"}

    def decorate(cls: type[T]) -> type[T]:
        if ours and cls.__bases__ == (object,) and _OWN.isdisjoint(vars(cls)):
            return _freeze(cls, **options)
        return dataclasses.dataclass(frozen=frozen, slots=slots, **options)(cls)

    return decorate


def _freeze(cls: type[T], *, eq: bool = True, kw_only: bool = False) -> type[T]:
    made: Any = dataclasses.dataclass(init=False, repr=False, eq=False, slots=True, kw_only=kw_only)(cls)
    declared: tuple[Field[Any], ...] = dataclasses.fields(made)
    if len(declared) != len(made.__dataclass_fields__):
        raise TypeError(f"{cls.__name__} has a ClassVar or an InitVar, which are not made here")
    setters: dict[str, Setter] = {one.name: getattr(made, one.name).__set__ for one in declared}
    scope = {f"_set_{name}": setter for name, setter in setters.items()}
    made.__init__ = _Unwritten(made, partial(_write_init, made, scope, "_set_{0}(self, {1})"))
    made.__repr__ = _show([one.name for one in declared if one.repr])
    made.__setattr__, made.__delattr__ = _bar(made, frozenset(setters))
    made.__getstate__, made.__setstate__ = _state(setters)
    if eq:
        made.__eq__, made.__hash__ = _comparison(declared)
    known = made.__dataclass_params__
    known.init, known.repr, known.eq, known.frozen = True, True, eq, True
    frozen: type[T] = made
    return frozen


def _show(names: Iterable[str]) -> Callable[[Any], str]:
    @recursive_repr()
    def __repr__(self: Any) -> str:  # noqa: N807 - a method of the class that is made
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__qualname__}({fields})"

    return __repr__


def _bar(made: type[object], names: frozenset[str]) -> tuple[Setter, Callable[[Any, str], None]]:
    """Return what refuses to set and to delete; a subclass may do so with attributes of its own."""

    def __setattr__(self: object, name: str, value: Any) -> None:  # noqa: N807 - as above
        if type(self) is made or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        object.__setattr__(self, name, value)

    def __delattr__(self: object, name: str) -> None:  # noqa: N807 - as above
        if type(self) is made or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        object.__delattr__(self, name)

    return __setattr__, __delattr__


def _state(setters: Mapping[str, Setter]) -> tuple[Callable[[Any], list[Any]], Callable[[Any, Sequence[Any]], None]]:
    """Return what copying and pickling take from an instance and give to another."""

    def __getstate__(self: Any) -> list[Any]:  # noqa: N807 - as above
        return [getattr(self, name) for name in setters]

    def __setstate__(self: Any, state: Sequence[Any]) -> None:  # noqa: N807 - as above
        for setter, value in zip(setters.values(), state, strict=True):
            setter(self, value)

    return __getstate__, __setstate__


def _comparison(declared: Iterable[Field[Any]]) -> tuple[Callable[[Any, object], bool], Callable[[Any], int]]:
    compared = _values(one.name for one in declared if one.compare)
    hashed = _values(one.name for one in declared if (one.compare if one.hash is None else one.hash))

    def __eq__(self: Any, other: object) -> bool:  # noqa: N807 - as above
        return compared(self) == compared(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: Any) -> int:  # noqa: N807 - as above
        return hash(hashed(self))

    return __eq__, __hash__


def _values(names: Iterable[str]) -> Callable[[Any], tuple[Any, ...]]:
    """Return what gives the values of these attributes as a tuple, also of none and of one."""
    listed = tuple(names)
    if len(listed) > 1:
        return attrgetter(*listed)
    return lambda self: tuple(getattr(self, name) for name in listed)


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
    declared = dataclasses.fields(cls)  # type: ignore[arg-type]  # checked on the next line
    if "__slots__" not in vars(cls) or "__setattr__" not in vars(cls) or not all(one.init for one in declared):
        raise TypeError(f"{cls.__name__} is no frozen dataclass with slots, all of whose fields are arguments")
    scope = {"_open": object.__setattr__, "_twin": _open_twin(cls), "_frozen": cls}
    write = partial(
        _write_init, cls, scope, "self.{0} = {1}", "_open(self, '__class__', _twin)", "self.__class__ = _frozen"
    )
    cls.__init__ = _Unwritten(cls, write)  # type: ignore[assignment]  # this is what the decorator is for
    return cls


def maker(cls: Callable[P, T]) -> Callable[P, T]:
    """Return a function that makes what calling the class makes, at half the cost.

    Of a class that is called Python gathers the arguments, and hands them to `__init__` through its own
    C code. A function takes them as they come.

    Args:
        cls: A dataclass with slots, without a base of its own.

    Raises:
        TypeError: It has no slots of its own, or a field that is no argument.
    """
    made: Any = cls
    if "__slots__" not in vars(made) or not all(one.init for one in dataclasses.fields(made)):
        raise TypeError(f"{made.__name__} is no dataclass with slots, all of whose fields are arguments")
    frozen = "__setattr__" in vars(made)
    parameters, statements, scope = _arguments(made, "self.{0} = {1}")
    scope |= {"_new": object.__new__, "_open": _open_twin(made) if frozen else made, "_frozen": made}
    close = "self.__class__ = _frozen" if frozen else ""
    write: Any = _compile(
        made.__name__, parameters, ["self = _new(_open)", *statements, close, _check(made), "return self"], scope
    )
    make: Callable[P, T] = write
    return make


def _open_twin(cls: type[Any]) -> type[Any]:
    """Return a class whose instances can become instances of a frozen one, and are open until then."""
    return type(cls.__name__, (), {"__slots__": vars(cls)["__slots__"], "__module__": cls.__module__})


class _Unwritten:
    """Stands for the `__init__` of a class until it is first asked for: of most classes a program makes none."""

    __slots__ = ("_cls", "_write")

    def __init__(self, cls: type[Any], write: Callable[[], FunctionType]) -> None:
        self._cls = cls
        self._write = write

    def __get__(self, instance: object | None, owner: type[Any] | None = None) -> Callable[..., None]:
        made = self._write()
        self._cls.__init__ = made
        return made if instance is None else made.__get__(instance, owner)


def _write_init(cls: type[Any], scope: dict[str, Any], setting: str, before: str = "", after: str = "") -> FunctionType:
    """Return the `__init__` of a dataclass.

    Args:
        cls: The class.
        scope: What the statements name beside `self` and the arguments.
        setting: The statement that sets a field: `{0}` is its name, `{1}` its value.
        before: A statement before them.
        after: A statement after them, before `__post_init__`.
    """
    parameters, statements, named = _arguments(cls, setting)
    made = _compile("__init__", ["self", *parameters], [before, *statements, after, _check(cls)], {**scope, **named})
    types = {field.name: field.type for field in dataclasses.fields(cls) if field.init}
    made.__annotations__ = {**types, "return": None}
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    return made


def _arguments(cls: type[Any], setting: str) -> tuple[list[str], list[str], dict[str, Any]]:
    """Return the fields of a dataclass as parameters, the statements that set them, and what both of them name."""
    scope: dict[str, Any] = {"_left_out": _LEFT_OUT}
    required: list[str] = []
    given: list[str] = []
    keywords: list[str] = []
    statements: list[str] = []
    for field in dataclasses.fields(cls):
        name = field.name
        parameter, value = name, name
        if field.default is not MISSING:
            scope[f"_default_{name}"] = field.default
            parameter = f"{name}=_default_{name}"
        elif field.default_factory is not MISSING:
            # Without its types, as `dict` for `dict[str, int]`: with them it takes ten times as long to call.
            scope[f"_make_{name}"] = get_origin(field.default_factory) or field.default_factory
            parameter = f"{name}=_left_out"
            value = f"_make_{name}() if {name} is _left_out else {name}"
        if field.init:
            (keywords if field.kw_only else given if parameter != name else required).append(parameter)
        elif parameter == name:
            continue  # `__post_init__` sets it
        else:
            value = f"_make_{name}()" if field.default is MISSING else f"_default_{name}"
        statements.append(setting.format(name, value))
    return [*required, *given, *(["*", *keywords] if keywords else [])], statements, scope


def _check(cls: type[Any]) -> str:
    """Return the statement that checks an instance once all of its fields are set."""
    return "self.__post_init__()" if hasattr(cls, "__post_init__") else ""


def _compile(name: str, parameters: list[str], statements: list[str], scope: dict[str, Any]) -> FunctionType:
    lines = [f"    {statement}" for statement in statements if statement] or ["    pass"]
    exec("\n".join([f"def {name}({', '.join(parameters)}):", *lines]), scope)  # noqa: S102 - of the names of our own fields, as `dataclasses` does
    made: FunctionType = scope[name]
    return made


if TYPE_CHECKING:  # type checkers know what the library's makes of a class; ours makes the same
    from dataclasses import dataclass
else:
    dataclass = _dataclass
