"""A tool from a function and from parts: what is declared, and what runs."""

import functools
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field
from typing_extensions import Doc, TypedDict

from placet.errors import ConfigurationError, ToolDefinitionError
from placet.tools.arguments import Arguments
from placet.tools.context import Context
from placet.tools.encode import MAX_ITEMS
from placet.tools.parameters import Injected, Input, Loaded, State
from placet.tools.tool import Tool, tool
from placet.values.approval import Approval, Confirmation
from placet.values.limits import RateLimit
from placet.values.principal import EVERYONE, Principal
from placet.values.tool import Effect, Isolation, Survival
from tests.tools.cases import CONTEXT


class Refund(BaseModel):
    order: str
    cents: int = Field(default=5, description="How much, in cents.")


@dataclass
class RefundData:
    order: str
    cents: int = 5


class RefundDict(TypedDict):
    order: str


def load(_arguments: Any, _context: Context[Any]) -> str:
    return "loaded"


def owns(_principal: Principal, _resource: Any, _arguments: Any) -> bool:
    return True


def preview(_arguments: Any, _resource: Any, _context: Context[Any]) -> str:
    return "preview"


def run(made: Tool, arguments: str = "{}", resource: Any = None, context: Context[Any] = CONTEXT) -> Any:
    read = made.reader.read(arguments)
    assert isinstance(read, Arguments), read
    return made.execute(read.value, resource, context)


async def finish(awaitable: Any) -> Any:
    return await awaitable


# ── declared ──────────────────────────────────────────────────────────────────────────


def test_what_is_declared_stands_in_the_spec() -> None:
    approval = Approval.when(lambda arguments: arguments.cents > 50, approvers={"supervisor"})

    @tool(
        effect="write", roles={"support"}, timeout=2, limit=["10/minute", RateLimit(3, timedelta(hours=1))],
        resource=load, authorise=owns, approval=approval, preview=preview, redact={"order"}, open_world=True,
        survival="key", writable_output=True, trusted_arguments={"order"}, max_result_bytes=900,
        progress="refunding {order}", answer={"pt-BR": "feito", "ro": "gata"},
    )  # fmt: skip
    def refund(order: str, cents: int) -> str:
        """Refund an order.

        Use when the customer was charged wrongly.

        Args:
            order: Its number.
            cents: How much.

        Returns:
            A receipt.
        """
        return f"{order} {cents}"

    spec = refund.spec
    assert (spec.name, spec.effect, spec.roles) == ("refund", Effect.WRITE, frozenset({"support"}))
    assert spec.description == (
        "Refund an order.\n\nUse when the customer was charged wrongly.\n\nReturns:\n    A receipt."
    )
    assert spec.timeout == timedelta(seconds=2)
    assert spec.limits == (RateLimit(10, timedelta(minutes=1)), RateLimit(3, timedelta(hours=1)))
    assert (spec.approval, spec.authorise, spec.loads) == (approval, owns, True)
    assert (spec.survival, spec.isolation, spec.open_world) == (Survival.KEY, Isolation.THREAD, True)
    assert (spec.redact, spec.trusted_arguments, spec.writable_output) == (
        frozenset({"order"}),
        frozenset({"order"}),
        True,
    )
    assert (spec.max_result_bytes, refund.output.max_bytes) == (900, 900)
    assert spec.progress == {"en": "refunding {order}"}
    assert spec.answer == {"pt-BR": "feito", "ro": "gata"}
    assert (refund.load, refund.preview, refund.is_async) == (load, preview, False)


def test_the_effect_must_be_one() -> None:
    with pytest.raises(ToolDefinitionError, match="'harmless'"):

        @tool(effect="harmless")
        def look() -> str:
            """Look."""
            return ""


def test_a_function_without_a_docstring_is_no_tool() -> None:
    with pytest.raises(ToolDefinitionError, match="write a docstring"):

        @tool(effect="read")
        def look() -> str:
            return ""


def test_a_lambda_needs_a_name() -> None:
    with pytest.raises(ToolDefinitionError, match="<lambda>"):
        tool(effect="read", description="Do it.")(lambda: "a")

    assert tool(effect="read", name="say", description="Do it.")(lambda: "a").name == "say"


async def no_rule(*_: Any) -> bool:
    return True


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"redact": {"ordr"}}, "did you mean 'order'"),
        ({"trusted_arguments": {"iban"}}, "trusted_arguments"),
        ({"progress": "for {ordr}…"}, "progress"),
        ({"progress": {"ro": "{order} {client.name}"}}, "'client.name'"),
        ({"progress": "for {order"}, "progress of tool 'refund'.*lone '{'"),
        ({"answer": "{#cents}{/refund}"}, "closes nothing"),
        ({"answer": "paid {centz}"}, "did you mean 'cents'"),
        ({"roles": "support"}, r"as in roles=\{'support'\}, not 'support'"),
        ({"authorize": lambda *_: False}, "'authorize', .*; did you mean 'authorise'"),
        ({"limits": "1/hour"}, "did you mean 'limit'"),
        ({"frobnicate": 1}, "there are answer, approval, authorise"),
        ({"timeout": 0}, "above zero"),
        ({"limit": "often"}, "10/minute"),
        ({"effect": "delete"}, "effect is one of 'read', 'write', 'destructive', not 'delete'"),
        ({"survival": "maybe"}, "survival is one of 'once', .*, not 'maybe'"),
        ({"isolation": "none"}, "isolation is one of .*, not 'none'"),
        ({"name": "refund order"}, "refund order"),
        ({"resource": lambda arguments: arguments}, r"\(arguments, context\)"),
        ({"preview": lambda arguments: arguments}, r"\(arguments, resource, context\)"),
        ({"authorise": lambda principal: principal}, r"\(principal, resource, arguments\)"),
        ({"authorise": no_rule}, "must not be async"),
        ({"approval": Confirmation.when(no_rule)}, "must not be async"),  # type: ignore[arg-type]  # the same
        ({"approval": Confirmation.when(True)}, r"approval condition of tool 'refund' must take \(arguments\)"),  # type: ignore[arg-type]  # untyped code may say anything
    ],
)
def test_an_option_that_says_nothing_sensible_is_refused(options: Any, message: str) -> None:
    def refund(order: str) -> Refund:
        return Refund(order=order)

    with pytest.raises(ConfigurationError, match=message):
        tool(**{"effect": "read", "description": "Do it.", **options})(refund)


def test_redact_may_name_a_field_of_what_comes_back() -> None:
    def refund(order: str) -> Refund:
        return Refund(order=order)

    def anything(order: str) -> dict[str, Any]:
        return {"iban": order}

    assert tool(effect="read", description="Do it.", redact={"cents"})(refund).spec.redact == {"cents"}
    assert tool(effect="read", description="Do it.", redact={"iban"})(anything).spec.redact == {"iban"}


def test_an_annotation_may_be_a_text_that_names_what_stands_beside_the_function() -> None:
    class Local(BaseModel):
        x: int

    @tool(effect="read")
    def look(where: "Local") -> "Local":
        """Look."""
        return where

    assert run(look, '{"where": {"x": 1}}') == Local(x=1)


def test_a_field_as_default_says_what_it_says_of_a_model() -> None:
    @tool(effect="read")
    def look(
        days: int = Field(3, ge=1, description="How long.", examples=[2]), at: Annotated[str, Field(alias="when")] = ""
    ) -> str:
        """Look."""
        return f"{days} {at}"

    properties: Any = look.spec.input_schema["properties"]
    assert properties["days"] == {
        "type": "integer",
        "minimum": 1,
        "default": 3,
        "description": "How long.",
        "examples": [2],
    }
    assert run(look, '{"when": "now"}') == "3 now"


def test_a_description_may_stand_beside_the_type() -> None:
    @tool(effect="read")
    def look(city: Annotated[str, Doc("Where.")]) -> str:
        """Look.

        Args:
            city: Somewhere.
        """
        return city

    properties: Any = look.spec.input_schema["properties"]
    assert properties["city"]["description"] == "Where."


# ── what runs ─────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("kind", [Refund, RefundData])
def test_the_whole_input_may_be_one_object(kind: Any) -> None:
    @tool(effect="read")
    def refund(what: Input[kind]) -> str:
        """Refund."""
        return f"{type(what).__name__} {what.order} {what.cents}"

    properties: Any = refund.spec.input_schema["properties"]
    assert properties.keys() == {"order", "cents"}
    assert run(refund, '{"order": "A-1"}') == f"{kind.__name__} A-1 5"


def test_the_whole_input_may_be_a_typed_dict() -> None:
    @tool(effect="read")
    def refund(what: Input[RefundDict]) -> str:
        """Refund."""
        return what["order"]

    assert run(refund, '{"order": "A-1"}') == "A-1"


def test_parameters_are_resolved_by_how_each_is_declared_in_any_order() -> None:
    @tool(effect="read", resource=load)
    def look(
        context: Context[None], order: Loaded[str], plan: State[dict[str, int]], city: str, *, days: int = 2
    ) -> str:
        """Look."""
        return f"{context.principal.id} {order} {plan['x']} {city} {days}"

    context = Context(
        deps=None, principal=CONTEXT.principal, language="en", run_id="r", call_key="k", idempotency_key="k",
        deadline=1.0, now=CONTEXT.now, state={"x": 7},
    )  # fmt: skip
    assert run(look, '{"city": "Oslo"}', "order", context) == "u1 order 7 Oslo 2"


def test_a_state_that_is_not_there_is_said() -> None:
    @tool(effect="read")
    def look(plan: State[Refund]) -> str:
        """Look."""
        return plan.order

    with pytest.raises(ConfigurationError, match="state of type"):
        run(look)


def test_a_loaded_resource_needs_a_loader() -> None:
    def look(order: Loaded[str]) -> str:
        return order

    with pytest.raises(ToolDefinitionError, match="resource="):
        tool(effect="read", description="Do it.")(look)


def test_a_dependency_is_injected_when_the_tool_is_bound() -> None:
    @tool(effect="read")
    def look(shop: Injected[Refund], city: str) -> str:
        """Look."""
        return f"{shop.order} {city}"

    with pytest.raises(ConfigurationError, match="providers"):
        run(look, '{"city": "Oslo"}')
    with pytest.raises(ToolDefinitionError, match=r"providers=\{Refund: ...\}"):
        look.bind({})
    assert run(look.bind({Refund: Refund(order="A-1")}), '{"city": "Oslo"}') == "A-1 Oslo"


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_any_number_of_arguments_reaches_the_function(count: int) -> None:
    names = "abc"[:count]
    namespace: dict[str, Any] = {}
    exec(f"def f({', '.join(f'{name}: int' for name in names)}): return [{', '.join(names)}]", namespace)  # noqa: S102 - a signature of any length

    made = tool(effect="read", description="Do it.")(namespace["f"])

    arguments = ", ".join(f'"{name}": {place}' for place, name in enumerate(names))
    assert run(made, f"{{{arguments}}}") == list(range(count))


async def test_an_async_function_gives_an_awaitable() -> None:
    @tool(effect="read")
    async def look(city: str) -> str:
        """Look."""
        return city

    assert look.is_async
    assert await finish(run(look, '{"city": "Oslo"}')) == "Oslo"


async def test_async_is_seen_through_partials_and_objects() -> None:
    class Looker:
        """Look."""

        async def __call__(self, city: str) -> str:
            return city

    async def look(city: str, country: str) -> str:
        return f"{city} {country}"

    partial = tool(effect="read", description="Do it.")(functools.partial(look, country="NO"))
    called = tool(effect="read", name="look")(Looker())

    assert (partial.is_async, called.is_async) == (True, True)
    assert await finish(run(partial, '{"city": "Oslo"}')) == "Oslo NO"
    assert await finish(run(called, '{"city": "Oslo"}')) == "Oslo"


def test_a_wrapped_function_keeps_its_signature() -> None:
    def look(city: str) -> str:
        """Look."""
        return city

    @functools.wraps(look)
    def wrapper(*args: Any, **kwargs: Any) -> str:
        return look(*args, **kwargs)

    assert run(tool(effect="read")(wrapper), '{"city": "Oslo"}') == "Oslo"


def test_a_generator_is_gathered_where_the_tool_runs() -> None:
    @tool(effect="read")
    def count() -> Iterator[int]:
        """Count."""
        number = 0
        while True:
            yield number
            number += 1

    gathered = run(count)

    assert len(gathered) == MAX_ITEMS
    assert "more than" in count.output.shape(gathered).content


async def test_an_async_generator_is_gathered_too() -> None:
    @tool(effect="read")
    async def count() -> AsyncIterator[int]:
        """Count."""
        number = 0
        while True:
            yield number
            number += 1

    assert count.is_async
    gathered = await finish(run(count))
    assert len(gathered) == MAX_ITEMS
    assert "more than" in count.output.shape(gathered).content


def test_what_a_tool_does_to_its_arguments_does_not_change_what_was_approved() -> None:
    @tool(effect="read")
    def look(what: Input[Refund]) -> str:
        """Look."""
        what.order = "sk-TEST-123"
        return "done"

    read = look.reader.read('{"order": "A-1"}')
    assert isinstance(read, Arguments)
    look.execute(read.value, None, CONTEXT)

    assert read.json == {"order": "A-1", "cents": 5}


# ── from parts ────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("kind", [Refund, RefundData])
def test_parts_with_a_type_give_the_handler_an_instance(kind: Any) -> None:
    def handle(what: Any, context: Context[Any]) -> str:
        return f"{type(what).__name__} {what.order} {context.principal.id}"

    made = Tool.define(
        name="refund", description="Refund.", parameters=kind, effect="read", handler=handle, roles={EVERYONE}
    )

    assert run(made, '{"order": "A-1"}') == f"{kind.__name__} A-1 u1"


def test_parts_may_say_what_comes_back() -> None:
    made = Tool.define(
        name="refund", description="Refund.", parameters={"type": "object"}, effect="read",
        handler=lambda: {"order": "A-1", "secret": 1}, returns=Refund,
    )  # fmt: skip

    assert made.output.shape(run(made)).content == '{"order":"A-1","cents":5}'


def test_a_handler_that_wants_several_arguments_is_refused() -> None:
    with pytest.raises(ToolDefinitionError, match="takes city, days"):
        Tool.define(
            name="look", description="Look.", parameters={}, effect="read", handler=lambda city, days: (city, days)
        )


def test_the_same_tool_may_have_another_name() -> None:
    @tool(effect="read")
    def look() -> str:
        """Look."""
        return "seen"

    renamed = look.renamed("crm__look")

    assert (renamed.name, look.name) == ("crm__look", "look")
    assert renamed.spec.digest != look.spec.digest
    assert run(renamed) == "seen"


def test_a_type_that_names_what_nobody_knows_is_refused_when_the_tool_is_defined() -> None:
    class Order(BaseModel):
        buyer: "Nobody"  # type: ignore[name-defined]  # noqa: F821 - unknown on purpose

    def take(order: Order) -> str:
        return repr(order)

    def give() -> Order:
        raise AssertionError("its signature is read, and it is not called")

    for function, side in ((take, "input"), (give, "output")):
        with pytest.raises(
            ToolDefinitionError, match=rf"the {side} of tool '{function.__name__}'.*'Nobody' is not defined"
        ):
            tool(effect="read", roles={EVERYONE}, description="Do it.")(function)


def test_each_loading_preview_and_execution_has_five_seconds_unless_the_tool_says_otherwise() -> None:
    @tool(effect="read", roles={EVERYONE})
    async def look_around() -> str:
        """Look around."""
        return "nothing"

    assert look_around.spec.timeout == timedelta(seconds=5)
