"""Whether what a policy's conditions look at exists, and can be what they compare it with.

A rule that looks at a misspelt field, or compares a date with a number, can never apply: one that
forbids would forbid nothing, and nobody would see it.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from placet.errors import PolicyError
from placet.values.json import Json, is_array, is_mapping
from placet.values.policy import Comparison, Condition
from placet.values.tool import ToolSpec

_NEEDS: Final[Mapping[Comparison, frozenset[str]]] = {
    Comparison.AT_MOST: frozenset({"number", "integer"}),
    Comparison.AT_LEAST: frozenset({"number", "integer"}),
    Comparison.STARTS_WITH: frozenset({"string"}),
    Comparison.ENDS_WITH: frozenset({"string"}),
}
"""Which types of JSON Schema can be compared so; the other comparisons take what is of the value's own type."""

Form = Mapping[str, Any]


def check_condition(rule: str, condition: Condition, tool: ToolSpec) -> None:
    """Refuse a condition that can never hold of a call of the tool.

    Raises:
        PolicyError: It looks at an argument, or at something inside one, that the tool does not
            have, or compares it with what it can never be.
    """
    first, *inside = condition.fact.split(".")
    if first == "principal":
        if inside[:1] in ([], ["roles"]):
            raise PolicyError(
                f"rule {rule!r} looks at {condition.fact!r}, which is no fact: say roles = [...] for roles, "
                "'principal.id' for who it is, and 'principal.<attribute>' for anything else"
            )
        return
    root = tool.input_schema
    forms = [*_alternatives(root, root)]
    for depth, name in enumerate([first, *inside]):
        if depth and any(_is_open(form) for form in forms):
            return
        found = [one for form in forms for one in _alternatives(_field(form, name, argument=not depth), root)]
        if not found:
            known = sorted({known for form in forms for known in _properties(form)})
            raise PolicyError(
                f"rule {rule!r} looks at the argument {condition.fact!r}, which tool {tool.name!r} does not have: "
                f"{name!r} is none of {known}"
            )
        forms = found
    if not any(_can_hold(form, condition) for form in forms):
        raise PolicyError(
            f"rule {rule!r}: {condition.fact} {condition.comparison} {condition.value!r} can never hold of tool "
            f"{tool.name!r}, where it is {_shown(forms)}"
        )


def _properties(form: Form) -> Mapping[str, Any]:
    properties = form.get("properties")
    return properties if is_mapping(properties) else {}


def _field(form: Form, name: str, *, argument: bool) -> object:
    """Return the schema of a field; an argument is one of those that are named, whatever else may be sent."""
    return _properties(form).get(name, None if argument else form.get("additionalProperties"))


def _alternatives(form: object, root: Form, seen: frozenset[str] = frozenset()) -> Iterator[Form]:
    """Yield each of the forms that a schema allows, references followed."""
    if form is True:
        yield {}
    if not is_mapping(form):
        return
    reference = form.get("$ref")
    if isinstance(reference, str):
        if reference not in seen:
            yield from _alternatives(_referred(root, reference), root, seen | {reference})
        return
    branches = [form[word] for word in ("anyOf", "oneOf", "allOf") if is_array(form.get(word))]
    for branch in branches:
        for one in branch:
            yield from _alternatives(one, root, seen)
    if not branches or "properties" in form:
        yield form


def _referred(root: Form, reference: str) -> object:
    found: Any = root
    for part in reference.removeprefix("#").strip("/").split("/"):
        found = found.get(part) if is_mapping(found) else None
    return found


def _is_open(form: Form) -> bool:
    """Whether anything may stand inside, so that nothing can be said of it."""
    types = _types(form)
    return (not types or "object" in types) and not ({"properties", "additionalProperties", "const", "enum"} & {*form})


def _types(form: Form) -> frozenset[str]:
    types = form.get("type", ())
    return frozenset([types] if isinstance(types, str) else types)


def _can_hold(form: Form, condition: Condition) -> bool:
    wanted = condition.value
    if condition.comparison is Comparison.EQUALS:
        return _can_be(form, wanted)
    if condition.comparison is Comparison.ONE_OF:
        return isinstance(wanted, list | tuple) and any(_can_be(form, one) for one in wanted)
    types, needs = _types(form), _NEEDS.get(condition.comparison)
    return needs is None or not types or bool(types & needs)


def _can_be(form: Form, wanted: Json) -> bool:
    """Whether a value of this form may be the one that is wanted."""
    types = _types(form)
    listed: Any = form.get("enum", [form["const"]] if "const" in form else None)
    if is_array(listed):
        return wanted in listed
    return not types or any(kind in types for kind in _kinds(wanted))


def _kinds(value: Json) -> tuple[str, ...]:
    """Return the types of JSON Schema that a value has."""
    if isinstance(value, bool):
        return ("boolean",)
    if isinstance(value, int | float):
        return ("number", "integer")
    if isinstance(value, str):
        return ("string",)
    return ("null",) if value is None else ("object",) if is_mapping(value) else ("array",)


def _shown(forms: list[Form]) -> str:
    return " or ".join(sorted({str(form.get("enum", form.get("const", form.get("type")))) for form in forms}))
