"""A policy as TOML.

```toml
roles = ["customer", "support", "finance"]
products = ["support-chat", "back-office"]

[[rule]]
id = "support reads orders"
permit = ["get_order_status", "list_orders"]
roles = ["support"]

[[rule]]
id = "no large refunds in the chat"
forbid = ["refund_order"]
roles = ["*"]
products = ["support-chat"]
when = { amount = { at_least = 1000 }, "principal.region" = { one_of = ["RO", "BR"] } }
```
"""

import tomllib
from collections.abc import Mapping
from typing import Any, Final

from placet.errors import PolicyError
from placet.values.json import is_array, is_object
from placet.values.policy import Comparison, Condition, Policy, Rule, Verdict

_KEYS: Final = frozenset({"roles", "products", "rule"})
_RULE_KEYS: Final = frozenset({"id", "permit", "forbid", "roles", "products", "when"})


def parse_policy(text: str, *, product: str = "") -> Policy:
    """Return the policy that a TOML text defines, as it is in force for a product.

    Raises:
        PolicyError: It is no TOML, has unknown keys, or a rule that can never match.
    """
    try:
        form = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise PolicyError(f"the policy is no TOML: {error}") from error
    unknown = sorted(set(form) - _KEYS)
    if unknown:
        raise PolicyError(f"the policy has unknown keys {unknown}; known are {sorted(_KEYS)}")
    rules = form.get("rule", [])
    if not is_array(rules):
        raise PolicyError("write each rule under [[rule]]")
    return Policy(
        rules=tuple(_rule(rule) for rule in rules),
        roles=_words(form, "roles", "the policy"),
        product=product,
        products=_words(form, "products", "the policy") if "products" in form else frozenset(),
    )


def _rule(form: Any) -> Rule:
    if not is_object(form):
        raise PolicyError("write each rule under [[rule]]")
    name = form.get("id")
    if not isinstance(name, str) or not name:
        raise PolicyError("a rule needs an id, by which it is read in the audit log")
    unknown = sorted(set(form) - _RULE_KEYS)
    if unknown:
        raise PolicyError(f"rule {name!r} has unknown keys {unknown}; known are {sorted(_RULE_KEYS)}")
    verdicts = [verdict for verdict in Verdict if verdict.value in form]
    if len(verdicts) != 1:
        raise PolicyError(f"rule {name!r} must either permit or forbid: permit = ['tool'] or forbid = ['tool']")
    (verdict,) = verdicts
    return Rule(
        id=name,
        verdict=verdict,
        tools=_words(form, verdict.value, f"rule {name!r}"),
        roles=_words(form, "roles", f"rule {name!r}"),
        products=_words(form, "products", f"rule {name!r}") if "products" in form else frozenset(),
        conditions=tuple(_conditions(name, form.get("when", {}))),
    )


def _words(form: Mapping[str, Any], key: str, where: str) -> frozenset[str]:
    words = form.get(key)
    if not is_array(words) or not all(isinstance(word, str) and word for word in words):
        raise PolicyError(f"{where}: {key!r} must be a list of words, not {words!r}")
    return frozenset(words)


def _conditions(rule: str, when: Any) -> list[Condition]:
    if not is_object(when):
        raise PolicyError(f"rule {rule!r}: 'when' must say facts and comparisons, as {{ amount = {{ at_most = 50 }} }}")
    conditions: list[Condition] = []
    for fact, comparisons in when.items():
        if not is_object(comparisons) or not comparisons:
            raise PolicyError(f"rule {rule!r}: {fact} needs a comparison, as {{ at_most = 50 }}")
        for word, value in comparisons.items():
            if word not in set(Comparison):
                known = [comparison.value for comparison in Comparison]
                raise PolicyError(f"rule {rule!r}: {fact} has the unknown comparison {word!r}; known are {known}")
            conditions.append(Condition(fact, Comparison(word), value))
    return conditions
