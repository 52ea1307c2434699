"""Policy: rules without order. Nothing undeclared is permitted; one forbid outweighs every permit.

The words and the law are Cedar's (default deny; a forbid beats every permit; the answer does
not depend on order).
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from types import CodeType
from typing import Any, Final, TypeAlias

from placet.errors import PolicyError
from placet.values.construction import dataclass
from placet.values.json import Json, canonical, is_mapping
from placet.values.principal import EVERYONE, Principal

When: TypeAlias = Callable[[Principal, Any], bool]
"""A rule's own predicate in code: pure, from principal and validated arguments to whether it applies."""


class Verdict(StrEnum):
    """What a rule says when it applies."""

    PERMIT = "permit"
    FORBID = "forbid"


class Comparison(StrEnum):
    """How a condition compares."""

    EQUALS = "equals"
    ONE_OF = "one_of"
    AT_MOST = "at_most"
    AT_LEAST = "at_least"
    STARTS_WITH = "starts_with"
    ENDS_WITH = "ends_with"
    SAME_AS = "same_as"
    """Equal to a fact of the principal, named as `principal.id` or `principal.tenant`."""


MISSING: Final = object()
"""What is read where there is nothing."""


@dataclass(frozen=True, slots=True)
class Condition:
    """One comparison of one fact.

    Attributes:
        fact: `principal.id`, `principal.<attribute>`, or the name of an argument, dotted
            for what stands inside it.
        comparison: How it is compared.
        value: With what.
    """

    fact: str
    comparison: Comparison
    value: Json

    def holds(
        self, principal: Principal, arguments: Any, written: Mapping[str, Json], *, in_doubt: bool = False
    ) -> bool:
        """Return whether it holds. What is missing does not.

        A fact of the call is compared as JSON writes it, under the name that the schema has for it,
        and as the tool gets it: an address or a date is a text in the one and an object in the other,
        an exact decimal a text in the one and a number in the other.

        Args:
            principal: Of today.
            arguments: As the tool gets them.
            written: The same as JSON.
            in_doubt: What is said of a fact that is there and cannot be compared.
        """
        wanted = self.value
        if self.comparison is Comparison.SAME_AS:
            wanted = read_fact(str(self.value), principal, written)
        if wanted is MISSING:
            return False
        forms = [read_fact(self.fact, principal, written), read_fact(self.fact, principal, arguments)]
        answers = [self._compare(found, wanted) for found in forms if found is not MISSING]
        return True in answers or (in_doubt and bool(answers) and False not in answers)

    def _compare(self, found: Any, wanted: Any) -> bool | None:
        answer = _COMPARE[self.comparison](found, wanted)
        return False if answer is None and found is None else answer  # nothing at all is no doubt

    def __post_init__(self) -> None:
        try:
            canonical(self.value)
        except (TypeError, ValueError) as error:
            raise PolicyError(
                f"{self.fact} {self.comparison} {self.value!r}: that is no JSON; write a date as a text in quotes"
            ) from error
        limits = (Comparison.AT_MOST, Comparison.AT_LEAST)
        if self.comparison in limits and _number(self.value) is None:
            raise PolicyError(f"{self.fact} {self.comparison} {self.value!r}: a number is needed")
        if self.comparison is Comparison.ONE_OF and not isinstance(self.value, list | tuple):
            raise PolicyError(f"{self.fact} {self.comparison} {self.value!r}: a list is needed")
        if self.comparison is Comparison.SAME_AS and not str(self.value).startswith("principal."):
            raise PolicyError(f"{self.fact} {self.comparison} {self.value!r}: name a fact as 'principal.id'")


def read_fact(fact: str, principal: Principal, arguments: Any) -> Any:
    """Return a fact of the principal or of the arguments, or `MISSING`."""
    first, *rest = fact.split(".")
    if first == "principal":
        if rest == ["id"]:
            return principal.id
        found: Any = principal.attributes
    else:
        found, rest = arguments, [first, *rest]
    for name in rest:
        found = found.get(name, MISSING) if is_mapping(found) else getattr(found, name, MISSING)
        if found is MISSING:
            return MISSING
    return found


def _same(left: Any, right: Any) -> bool:
    """Whether two values are the same; True is no 1, and an Enum is its value."""
    left, right = getattr(left, "value", left), getattr(right, "value", right)
    if isinstance(left, bool) is not isinstance(right, bool):
        return False
    return bool(left == right)


def _number(value: Any) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _at_most(found: Any, wanted: Any) -> bool | None:
    left, right = _number(found), _number(wanted)
    return None if left is None or right is None else left <= right


def _at_least(found: Any, wanted: Any) -> bool | None:
    left, right = _number(found), _number(wanted)
    return None if left is None or right is None else left >= right


_COMPARE: Final[Mapping[Comparison, Callable[[Any, Any], bool | None]]] = {
    Comparison.EQUALS: _same,
    Comparison.ONE_OF: lambda found, wanted: any(_same(found, one) for one in wanted),
    Comparison.AT_MOST: _at_most,
    Comparison.AT_LEAST: _at_least,
    Comparison.STARTS_WITH: lambda found, wanted: found.startswith(str(wanted)) if isinstance(found, str) else None,
    Comparison.ENDS_WITH: lambda found, wanted: found.endswith(str(wanted)) if isinstance(found, str) else None,
    Comparison.SAME_AS: _same,
}
"""Whether a fact compares so; None where the two cannot be compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule.

    Attributes:
        id: Unique in its policy; the audit log and a person read it.
        verdict: What it says when it applies.
        tools: To which tools, by their exact names.
        roles: To principals who hold any of these; `{EVERYONE}` to all.
        conditions: All of them must hold.
        when: And this, when it is given.
        products: In which products it is in force; empty means all.

    Raises:
        PolicyError: It names no tools or no roles.
    """

    id: str
    verdict: Verdict
    tools: frozenset[str]
    roles: frozenset[str]
    conditions: tuple[Condition, ...] = ()
    when: When | None = None
    products: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if not self.id:
            raise PolicyError("a rule needs an id, by which it is read in the audit log")
        if not self.tools or not self.roles:
            raise PolicyError(f"rule {self.id!r} names no {'roles' if self.tools else 'tools'}, so it can never match")

    def concerns(self, tool: str, roles: frozenset[str]) -> bool:
        """Return whether it is about this tool and somebody of these roles."""
        return tool in self.tools and (EVERYONE in self.roles or not self.roles.isdisjoint(roles))

    def applies(self, tool: str, principal: Principal, arguments: Any, written: Mapping[str, Json]) -> bool:
        """Return whether it applies to a call. In doubt, one that forbids does and one that permits does not.

        Args:
            tool: Its name.
            principal: Of today.
            arguments: As the tool gets them.
            written: The same as JSON, by the names of the tool's schema.

        Raises:
            TypeError: Its own predicate answers neither True nor False.
        """
        if not self.concerns(tool, principal.roles):
            return False
        doubt = self.verdict is Verdict.FORBID
        if not all(condition.holds(principal, arguments, written, in_doubt=doubt) for condition in self.conditions):
            return False
        if self.when is None:
            return True
        answer = self.when(principal, arguments)
        if answer is not True and answer is not False:
            raise TypeError(f"the predicate of rule {self.id!r} answered {answer!r} instead of True or False")
        return answer


def permit(
    id: str,  # noqa: A002 - the field's own name
    tools: Iterable[str],
    *,
    roles: Iterable[str],
    when: When | None = None,
    conditions: Iterable[Condition] = (),
) -> Rule:
    """Return a rule that permits.

    Raises:
        PolicyError: It can never match.
    """
    return _rule(id, Verdict.PERMIT, tools, roles, when, conditions)


def forbid(
    id: str,  # noqa: A002 - the field's own name
    tools: Iterable[str],
    *,
    roles: Iterable[str],
    when: When | None = None,
    conditions: Iterable[Condition] = (),
) -> Rule:
    """Return a rule that forbids, whatever permits.

    Raises:
        PolicyError: It can never match.
    """
    return _rule(id, Verdict.FORBID, tools, roles, when, conditions)


def _rule(
    name: str,
    verdict: Verdict,
    tools: Iterable[str],
    roles: Iterable[str],
    when: When | None,
    conditions: Iterable[Condition],
) -> Rule:
    if isinstance(tools, str) or isinstance(roles, str):
        raise PolicyError(f"rule {name!r}: tools and roles are sets of words, not one text")
    return Rule(
        id=name,
        verdict=verdict,
        tools=frozenset(tools),
        roles=frozenset(roles),
        when=when,
        conditions=tuple(conditions),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Who may call what.

    Attributes:
        rules: Without order.
        roles: Every role that there is; a rule that names another does not build.
        product: Which product it is in force for; rules of other products are left out.
        products: Every product that there is; a rule that names another does not build. Where there are
            some, `product` is one of them, so that no rule is left out by a name that was forgotten or misspelt.
        digest: Over all rules; an approval is bound to it. Predicates in code
            count by name, instructions and constants, not by what they close over.

    Raises:
        PolicyError: Two rules have one id, or a rule names an undeclared role or product, or the product is none.
    """

    rules: tuple[Rule, ...]
    roles: frozenset[str]
    product: str = ""
    products: frozenset[str] = frozenset()
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        ids = [rule.id for rule in self.rules]
        twice = sorted({name for name in ids if ids.count(name) > 1})
        if twice:
            raise PolicyError(
                f"two rules are called {twice[0]!r}; which one was meant must be readable in the audit log"
            )
        for rule in self.rules:
            unknown = sorted(rule.roles - self.roles - {EVERYONE})
            if unknown:
                raise PolicyError(
                    f"rule {rule.id!r} names the role {unknown[0]!r}, which is not declared; "
                    f"roles are {sorted(self.roles)}"
                )
            strange = sorted(rule.products - self.products)
            if strange:
                raise PolicyError(
                    f"rule {rule.id!r} names the product {strange[0]!r}, which is not declared; "
                    f"products are {sorted(self.products)}"
                )
        if (self.product or self.products) and self.product not in self.products:
            raise PolicyError(
                f"the product {self.product!r} is none of {sorted(self.products)}; say for which the policy is in force"
            )
        in_force = tuple(rule for rule in self.rules if not rule.products or self.product in rule.products)
        object.__setattr__(self, "rules", in_force)
        object.__setattr__(
            self, "digest", hashlib.sha256(canonical([_form(rule) for rule in in_force]).encode()).hexdigest()
        )

    def may_permit(self, tool: str, roles: frozenset[str]) -> bool:
        """Return whether some rule could permit the tool to somebody of these roles: whether they may see it."""
        return any(rule.verdict is Verdict.PERMIT and rule.concerns(tool, roles) for rule in self.rules)

    def applying(
        self, tool: str, principal: Principal, arguments: Any, written: Mapping[str, Json]
    ) -> tuple[Rule, ...]:
        """Return the rules that apply to a call; see `Rule.applies`.

        Raises:
            TypeError: A predicate in code answers neither True nor False.
        """
        return tuple(rule for rule in self.rules if rule.applies(tool, principal, arguments, written))


def _form(rule: Rule) -> dict[str, Any]:
    code = getattr(rule.when, "__code__", None)
    return {
        "id": rule.id,
        "verdict": rule.verdict,
        "tools": sorted(rule.tools),
        "roles": sorted(rule.roles),
        "conditions": [[c.fact, c.comparison, c.value] for c in rule.conditions],
        "when": None
        if rule.when is None
        else [getattr(rule.when, "__qualname__", ""), _written(code) if code is not None else ""],
    }


def _written(constant: Any) -> str:
    """Return a constant of a predicate, or its code with all of its constants, alike in every process."""
    if isinstance(constant, CodeType):
        return "".join([constant.co_code.hex(), *constant.co_names, *map(_written, constant.co_consts)])
    if isinstance(constant, frozenset):
        return f"{{{sorted(map(_written, constant))}}}"
    return f"({', '.join(map(_written, constant))})" if isinstance(constant, tuple) else repr(constant)
