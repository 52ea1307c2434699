from dataclasses import replace
from datetime import date
from decimal import Decimal
from itertools import permutations
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import HttpUrl

from placet.errors import PolicyError
from placet.gate.policy import check_names, check_policy, is_open
from placet.gate.policy_text import parse_policy
from placet.values.decision import Allow, Deny
from placet.values.policy import Comparison, Condition, Policy, forbid, permit
from placet.values.principal import EVERYONE, Principal
from tests.gate.conftest import LOOK, MakeRequest

ROLES = frozenset({"support", "finance"})


def policy_of(*rules, product: str = "") -> Policy:  # type: ignore[no-untyped-def]
    return Policy(rules=rules, roles=ROLES, product=product)


EVERYBODY_LOOKS = permit("everybody looks", ["look"], roles=[EVERYONE])


def test_what_no_rule_permits_is_refused(make_request: MakeRequest) -> None:
    assert isinstance(check_policy(make_request(policy=policy_of())), Deny)
    assert isinstance(check_policy(make_request(policy=policy_of(permit("p", ["pay"], roles=["support"])))), Deny)
    assert isinstance(check_policy(make_request(policy=policy_of(permit("p", ["look"], roles=["finance"])))), Deny)


def test_one_forbid_outweighs_every_permit_in_any_order(make_request: MakeRequest) -> None:
    rules = [permit("a", ["look"], roles=["support"]), permit("b", ["look"], roles=[EVERYONE])]
    rules.append(forbid("no", ["look"], roles=["support"]))

    for order in permutations(rules):
        decision = check_policy(make_request(policy=policy_of(*order)))
        assert isinstance(decision, Deny)
        assert decision.rule == "forbidden by no"


def test_a_permit_is_named_in_the_decision(make_request: MakeRequest) -> None:
    assert check_policy(make_request(policy=policy_of(permit("reads", ["look"], roles=["support"])))) == Allow(
        "rule reads"
    )


@pytest.mark.parametrize(
    ("fact", "comparison", "value", "holds"),
    [
        ("euro", Comparison.AT_MOST, 5, True),
        ("euro", Comparison.AT_MOST, 4.99, False),
        ("euro", Comparison.AT_LEAST, 5, True),
        ("euro", Comparison.EQUALS, 5, True),
        ("euro", Comparison.EQUALS, True, False),
        ("euro", Comparison.EQUALS, "5", False),
        ("euro", Comparison.ONE_OF, [4, 5], True),
        ("to", Comparison.STARTS_WITH, "RO", True),
        ("to", Comparison.ENDS_WITH, "RO", False),
        ("to", Comparison.SAME_AS, "principal.iban", True),
        ("to", Comparison.SAME_AS, "principal.phone", False),
        ("nothing", Comparison.EQUALS, None, False),
        ("address.city", Comparison.EQUALS, "Cluj", True),
        ("principal.id", Comparison.EQUALS, "s1", True),
        ("to", Comparison.AT_MOST, 5, False),
        ("flag", Comparison.AT_MOST, 5, False),
        ("flag", Comparison.EQUALS, 1, False),
        ("one", Comparison.EQUALS, True, False),
        ("one", Comparison.ONE_OF, [True], False),
        ("digits", Comparison.AT_MOST, 5, False),
        ("empty", Comparison.EQUALS, None, True),
    ],
)
def test_conditions_compare_facts_of_the_call(fact: str, comparison: Comparison, value: object, *, holds: bool) -> None:
    principal = Principal("s1", {"support"}, {"iban": "RO49"})
    arguments = SimpleNamespace(euro=5, to="RO49", address={"city": "Cluj"}, flag=True, one=1, digits="5", empty=None)

    assert Condition(fact, comparison, value).holds(principal, arguments, {}) is holds  # type: ignore[arg-type]  # JSON all of them
    assert Condition(fact, comparison, value).holds(principal, None, vars(arguments)) is holds  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("fact", "comparison", "value"),
    [
        ("url", Comparison.STARTS_WITH, "http://"),
        ("day", Comparison.EQUALS, "2026-11-29"),
        ("fromAccount", Comparison.EQUALS, "RO49"),
        ("amount", Comparison.AT_LEAST, 5),
        ("amount", Comparison.EQUALS, 5),
        ("amount", Comparison.EQUALS, "5.00"),
    ],
)
def test_a_fact_is_compared_as_json_writes_it_under_the_name_of_the_schema(
    make_request: MakeRequest, fact: str, comparison: Comparison, value: Any
) -> None:
    arguments = SimpleNamespace(
        url=HttpUrl("http://a.example/"), day=date(2026, 11, 29), from_account="RO49", amount=Decimal("5.00")
    )
    written = {"url": "http://a.example/", "day": "2026-11-29", "fromAccount": "RO49", "amount": "5.00"}
    rule = forbid("never", ["look"], roles=["*"], conditions=[Condition(fact, comparison, value)])

    request = make_request(policy=policy_of(EVERYBODY_LOOKS, rule), arguments=arguments, written=written)

    assert isinstance(check_policy(request), Deny)


@pytest.mark.parametrize("amount", ["lots", "5000", True, [5000]])
@pytest.mark.parametrize("comparison", [Comparison.AT_LEAST, Comparison.AT_MOST])
def test_in_doubt_a_rule_that_forbids_applies_and_one_that_permits_does_not(
    make_request: MakeRequest, amount: Any, comparison: Comparison
) -> None:
    conditions = [Condition("amount", comparison, 1000)]
    forbids = policy_of(EVERYBODY_LOOKS, forbid("never", ["look"], roles=["*"], conditions=conditions))
    permits = policy_of(permit("some", ["look"], roles=["support"], conditions=conditions))
    given: dict[str, Any] = {"arguments": SimpleNamespace(amount=amount), "written": {"amount": amount}}

    assert isinstance(check_policy(make_request(policy=forbids, **given)), Deny)
    assert isinstance(check_policy(make_request(policy=permits, **given)), Deny)


@pytest.mark.parametrize("written", [{}, {"amount": None}])
def test_what_is_missing_is_no_doubt(make_request: MakeRequest, written: Any) -> None:
    rule = forbid("never", ["look"], roles=["*"], conditions=[Condition("amount", Comparison.AT_LEAST, 1000)])
    request = make_request(policy=policy_of(EVERYBODY_LOOKS, rule), arguments=SimpleNamespace(), written=written)

    assert isinstance(check_policy(request), Allow)


def test_a_predicate_that_answers_neither_true_nor_false_is_broken(make_request: MakeRequest) -> None:
    rule = permit("p", ["look"], roles=["support"], when=lambda _principal, _arguments: "yes")  # type: ignore[arg-type,return-value]  # that is the point

    with pytest.raises(TypeError):
        check_policy(make_request(policy=policy_of(rule)))


DEEP = replace(
    LOOK,
    input_schema={
        "type": "object",
        "$defs": {
            "Address": {
                "type": "object",
                "properties": {"city": {"type": "string"}, "next": {"$ref": "#/$defs/Address"}},
            },
            "Loop": {"$ref": "#/$defs/Loop"},
        },
        "properties": {
            "to": {"anyOf": [{"$ref": "#/$defs/Address"}, {"type": "null"}]},
            "euro": {"anyOf": [{"type": "number"}, {"type": "string"}]},
            "day": {"type": ["string", "null"]},
            "mood": {"enum": ["glad", "sad"]},
            "rank": {"const": 1},
            "many": {"type": "array", "items": {"type": "object"}},
            "some": {"type": "object", "additionalProperties": {"type": "integer"}},
            "free": {"type": "object"},
            "any": True,
            "flag": {"type": "boolean"},
            "loop": {"$ref": "#/$defs/Loop"},
        },
    },
)
"""A tool whose arguments hold further things."""


def looks(*condition: Any) -> Policy:
    return policy_of(permit("p", ["look"], roles=["support"], conditions=[Condition(*condition)]))


@pytest.mark.parametrize(
    "condition",
    [
        ("to.city", Comparison.STARTS_WITH, "C"),
        ("to.next.next.city", Comparison.EQUALS, "Cluj"),
        ("euro", Comparison.AT_MOST, 5),
        ("mood", Comparison.ONE_OF, ["glad", "furious"]),
        ("mood", Comparison.ONE_OF, ("glad", "furious")),
        ("rank", Comparison.EQUALS, 1),
        ("day", Comparison.EQUALS, None),
        ("flag", Comparison.EQUALS, True),
        ("many", Comparison.EQUALS, [{}]),
        ("to", Comparison.EQUALS, {"city": "Cluj"}),
        ("to.city", Comparison.SAME_AS, "principal.city"),
        ("euro", Comparison.EQUALS, 5),
        ("any", Comparison.EQUALS, [5]),
        ("some.thing", Comparison.AT_LEAST, 5),
        ("free.thing.inside", Comparison.AT_LEAST, 5),
        ("any.thing", Comparison.AT_LEAST, 5),
        ("any", Comparison.AT_LEAST, 5),
        ("principal.region", Comparison.EQUALS, "RO"),
    ],
)
def test_a_rule_may_look_into_an_argument(condition: Any) -> None:
    check_names(looks(*condition), {"look": DEEP})


@pytest.mark.parametrize(
    "condition",
    [
        ("day", Comparison.AT_MOST, 5),
        ("mood", Comparison.EQUALS, "furious"),
        ("mood", Comparison.ONE_OF, ["furious", "calm"]),
        ("rank", Comparison.EQUALS, 2),
        ("many", Comparison.EQUALS, "Cluj"),
        ("many", Comparison.ONE_OF, ["Cluj", "Iași"]),
        ("to", Comparison.EQUALS, "Cluj"),
        ("day", Comparison.EQUALS, 5),
        ("day", Comparison.ONE_OF, []),
        ("flag", Comparison.EQUALS, "yes"),
        ("many", Comparison.STARTS_WITH, "a"),
    ],
)
def test_a_comparison_that_can_never_hold_does_not_build(condition: Any) -> None:
    with pytest.raises(PolicyError, match="can never hold"):
        check_names(looks(*condition), {"look": DEEP})


@pytest.mark.parametrize(
    ("rule", "names"),
    [
        (permit("p", ["lok"], roles=["support"]), "lok"),
        (permit("p", ["look"], roles=["support"], conditions=[Condition("amout", Comparison.AT_MOST, 5)]), "amout"),
        *(
            (permit("p", ["look"], roles=["support"], conditions=[Condition(fact, Comparison.EQUALS, "x")]), fact)
            for fact in (
                "principal",
                "principal.roles",
                "to.citty",
                "to.next.citty",
                "day.month",
                "many.city",
                "loop",
                "loop.city",
                "mood.x",
            )
        ),
    ],
)
def test_a_rule_that_names_what_does_not_exist_does_not_build(rule, names: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(PolicyError, match=names):
        check_names(policy_of(rule), {"look": DEEP})


def test_an_undeclared_role_and_a_repeated_id_do_not_build() -> None:
    with pytest.raises(PolicyError, match="suport"):
        policy_of(permit("p", ["look"], roles=["suport"]))
    with pytest.raises(PolicyError, match="two rules"):
        policy_of(permit("p", ["look"], roles=["support"]), forbid("p", ["look"], roles=["support"]))


def test_a_tool_that_no_rule_could_permit_is_not_seen() -> None:
    policy = policy_of(permit("p", ["look"], roles=["finance"]))

    assert not is_open(LOOK, Principal("s1", {"support"}), policy)
    assert is_open(LOOK, Principal("s1", {"support"}), None)


TOML = """
roles = ["support", "finance"]
products = ["chat", "office"]
[[rule]]
id = "reads"
permit = ["look"]
roles = ["support"]
[[rule]]
id = "no large ones in the chat"
forbid = ["look"]
roles = ["*"]
products = ["chat"]
when = { euro = { at_least = 5 } }
"""


def test_toml_says_the_same_and_rules_of_other_products_are_out_of_force(make_request: MakeRequest) -> None:
    assert isinstance(check_policy(make_request(policy=parse_policy(TOML, product="chat"))), Deny)
    assert isinstance(check_policy(make_request(policy=parse_policy(TOML, product="office"))), Allow)
    assert parse_policy(TOML, product="chat").digest != parse_policy(TOML, product="office").digest


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('permit = ["look"]', ""),
        ('permit = ["look"]', 'permit = "look"'),
        ('permit = ["look"]', 'permit = ["look"]\nforbid = ["look"]'),
        ('permit = ["look"]', 'permit = ["look"]\npermitt = ["pay"]'),
        ('id = "reads"', ""),
        ("at_least = 5", "at_leas = 5"),
        ("at_least = 5", 'at_least = "five"'),
        ("at_least = 5", "equals = 2026-12-24"),
        ("at_least = 5", "one_of = [2026-12-24]"),
        ('roles = ["*"]', "roles = []"),
        ("[[rule]]", "[[rules]]"),
        ("roles = [", "roles = ["[:-1]),
        ('products = ["chat", "office"]', 'products = "chat"'),
        ('products = ["chat", "office"]', 'products = ["office"]'),
        ('products = ["chat", "office"]', ""),
    ],
)
def test_toml_with_a_fault_does_not_build(old: str, new: str) -> None:
    with pytest.raises(PolicyError):
        parse_policy(TOML.replace(old, new, 1), product="chat")


def test_a_rule_of_an_undeclared_product_does_not_build() -> None:
    with pytest.raises(PolicyError, match="names the product 'caht'"):
        policy_of(replace(EVERYBODY_LOOKS, products=frozenset({"caht"})))


def test_a_policy_with_products_is_read_for_one_of_them() -> None:
    assert len(parse_policy(TOML, product="chat").rules) == 2
    for forgotten_or_misspelt in ("", "caht"):
        with pytest.raises(PolicyError, match="is none of"):
            parse_policy(TOML, product=forgotten_or_misspelt)
    with pytest.raises(PolicyError, match="is none of"):
        policy_of(EVERYBODY_LOOKS, product="chat")


FIVE, ROME = Condition("euro", Comparison.EQUALS, 5), Condition("to", Comparison.EQUALS, "Rome")


@pytest.mark.parametrize(("euro", "to", "applies"), [(5, "Rome", True), (6, "Rome", False), (5, "Cluj", False)])
def test_a_rule_applies_where_all_of_its_conditions_hold(
    make_request: MakeRequest, euro: int, to: str, *, applies: bool
) -> None:
    narrow = permit("narrow", ["look"], roles=["support"], conditions=[FIVE, ROME])
    wide = permit("wide", ["look"], roles=["support"])
    never = forbid("never", ["look"], roles=["support"], conditions=[FIVE, ROME])
    arguments = SimpleNamespace(euro=euro, to=to)

    permitted = check_policy(make_request(policy=policy_of(narrow), arguments=arguments))
    forbidden = check_policy(make_request(policy=policy_of(wide, never), arguments=arguments))

    assert isinstance(permitted, Allow) is applies
    assert isinstance(forbidden, Deny) is applies


@pytest.mark.parametrize("applies", [True, False])
def test_a_rule_applies_where_its_predicate_holds(make_request: MakeRequest, *, applies: bool) -> None:
    rule = permit("p", ["look"], roles=["support"], when=lambda _principal, arguments: arguments.euro == 5)
    arguments = SimpleNamespace(euro=5 if applies else 6)

    assert isinstance(check_policy(make_request(policy=policy_of(rule), arguments=arguments)), Allow) is applies


def test_whatever_a_rule_says_is_in_the_digest_to_which_a_yes_is_bound() -> None:
    def made(**changes: Any) -> str:
        given: dict[str, Any] = {"roles": ["support"], "conditions": [FIVE], "when": lambda _p, _a: True, **changes}
        return policy_of(permit(given.pop("id", "p"), given.pop("tools", ["look"]), **given)).digest

    predicates: list[Any] = [
        None, lambda _p, a: a.euro <= 5, lambda _p, a: a.euro <= 50, lambda _p, a: a.cents <= 5,
        lambda _p, a: a.euro in {5, 6}, lambda _p, a: a.euro in {5, 7}, lambda _p, a: any(n < 5 for n in a.all),
        lambda _p, a: any(n < 6 for n in a.all),
    ]  # fmt: skip
    others = [
        made(id="q"), made(tools=["pay"]), made(roles=["finance"]), made(conditions=[]), made(conditions=[FIVE, ROME]),
        *(made(when=predicate) for predicate in predicates),
    ]  # fmt: skip

    assert made() == made()
    assert len({made(), *others}) == len(others) + 1


@pytest.mark.parametrize(
    ("tools", "roles", "conditions"),
    [
        ("look", ["support"], ()),
        (["look"], "support", ()),
        (["look"], ["support"], ("euro", Comparison.AT_MOST, "five")),
        (["look"], ["support"], ("euro", Comparison.ONE_OF, "5")),
        (["look"], ["support"], ("to", Comparison.SAME_AS, "iban")),
    ],
)
def test_a_rule_that_could_never_say_what_it_means_does_not_build(tools: Any, roles: Any, conditions: Any) -> None:
    with pytest.raises(PolicyError):
        permit("p", tools, roles=roles, conditions=[Condition(*conditions)] if conditions else [])
