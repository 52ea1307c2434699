import json
from typing import Any

import pytest

from placet.models.scripted import ScriptedModel
from placet.tools.arguments import Arguments
from placet.tools.toolset import Toolset
from placet.values.approval import Yes
from placet.values.decision import Deny, Reason
from placet.values.message import ToolMessage
from placet.values.outcome import Answer, Outcome, Refused, Waiting
from placet.words.names import names_in_schema
from placet.words.template import check_template
from shop.changes import change_address
from shop.orders import OrderStatus, find_order
from shop.tests.asking import Counter
from shop.tools import TOOLS

TOOLSET = Toolset(TOOLS)
LANGUAGES = {"en", "pt-BR", "ro"}


def read(tool: str, **arguments: Any) -> Arguments | Deny:
    found = TOOLSET.find(tool)
    assert found is not None
    return found.reader.read(json.dumps(arguments))


def code(outcome: Outcome) -> str:
    assert isinstance(outcome, Answer), outcome
    [message] = [message for message in outcome.history if isinstance(message, ToolMessage)]
    return message.results[0].code


def told(outcome: Outcome) -> str:
    assert isinstance(outcome, Answer), outcome
    [message] = [message for message in outcome.history if isinstance(message, ToolMessage)]
    return message.results[0].content


# ── what can be sent ──────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("number", [8842, "8842", "0008842"])
def test_an_order_number_is_a_number_or_its_digits(number: object) -> None:
    arguments = read("get_order_status", order_id=number)
    assert isinstance(arguments, Arguments)
    assert arguments.json == {"order_id": 8842}


@pytest.mark.parametrize(
    "number",
    [
        "8842; DROP TABLE orders", "8842.0", " 8842", "8842 ", "8842\n", "+8842", "-8842", "8_842", "0x228a", "٨٨٤٢",
        "", "8842 OR 1=1", 0, -8842, "0", 8842.5, True, None, [8842], {"id": 8842}, 10**18, "9" * 19, "9" * 5000,
    ],
)  # fmt: skip
def test_nothing_else_is_an_order_number(number: object) -> None:
    refused = read("get_order_status", order_id=number)
    assert isinstance(refused, Deny)
    assert refused.reason is Reason.INVALID_ARGUMENTS


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("refund_order", {"order_id": 1, "amount": 0}),
        ("refund_order", {"order_id": 1, "amount": -5}),
        ("refund_order", {"order_id": 1, "amount": 49.999}),
        ("refund_order", {"order_id": 1, "amount": "49,90"}),
        ("refund_order", {"order_id": 1, "amount": 10**11}),
        ("search_customers", {"query": "ana", "limit": 0}),
        ("search_customers", {"query": "ana", "limit": 101}),
        ("search_customers", {"query": "ana", "status": "deleted"}),
        ("search_customers", {"query": ""}),
        ("list_orders", {"customer_id": "17"}),
        ("list_orders", {"customer_id": "c17' OR '1'='1"}),
        ("list_orders", {"status": "open"}),
        ("get_weather", {"city": "Oslo", "days": 0}),
        ("get_weather", {"city": "Oslo", "days": 8}),
        ("get_order_status", {"order_id": 8842, "order": {"customer_id": "c17"}}),
        ("get_order_status", {"order_id": 8842, "principal": "s1"}),
        ("send_email", {"customer_id": "c17", "subject": "Hi"}),
    ],
)
def test_what_is_out_of_bounds_is_refused(tool: str, arguments: dict[str, Any]) -> None:
    assert isinstance(read(tool, **arguments), Deny)


def test_defaults_are_those_of_the_documentation() -> None:
    arguments = read("search_customers", query="ana")
    assert isinstance(arguments, Arguments)
    assert arguments.json == {"query": "ana", "status": None, "limit": 10, "include_deleted": False}


# ── what people read ──────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_template_names_only_what_is_there_and_is_in_every_language(tool: Any) -> None:
    spec = tool.spec
    assert set(spec.progress) == set(spec.answer) == LANGUAGES
    for text in spec.progress.values():
        check_template(text, names_in_schema(spec.input_schema))
    for text in spec.answer.values():
        check_template(text, names_in_schema(spec.output_schema))


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_no_sentence_shows_what_is_kept_out_of_records(tool: Any) -> None:
    texts = [*tool.spec.progress.values(), *tool.spec.answer.values()]
    assert not any(f"{{{name}" in text for name in tool.spec.redact for text in texts)


@pytest.mark.parametrize(
    ("who", "language", "number", "text"),
    [
        (
            "c17", "pt-BR", 8842,
            "Seu pedido 8842 foi enviado em 14/11 pela transportadora Correios. Rastreio: BR123456789BR.",
        ),
        ("s1", "pt-BR", 8850, "O pedido 8850 ainda não foi enviado."),
        ("s1", "en", 13, "Order 13 has not been shipped yet: it is not paid."),
        ("s1", "en", 8615, "Order 8615 was cancelled."),
        (
            "c42", "ro", 9015,
            "Comanda dumneavoastră 9015 a fost expediată pe 26.11 prin FAN Courier. AWB: 2214000123456.",
        ),
        (
            "f1", "en", 9101,
            "Order 9101 was shipped on 31 Oct with Cargus and delivered on 2 Nov. Tracking: 1012345678.",
        ),
    ],
)  # fmt: skip
async def test_an_order_is_told_in_the_persons_language(
    counter: Counter, who: str, language: str, number: int, text: str
) -> None:
    assert await counter.says(who, "get_order_status", language, order_id=number) == text


async def test_a_list_is_told_with_what_is_still_to_come(counter: Counter) -> None:
    text = await counter.says("c17", "list_orders", "pt-BR", status="not_delivered")
    assert text == "Pedidos encontrados: 2. 8850 de 28/11, R$ 84,70; 8842 de 12/11, R$ 412,90, enviado em 14/11"


async def test_stock_is_told_in_the_language_and_money_of_who_asks(counter: Counter) -> None:
    assert await counter.says("c17", "check_stock", "pt-BR", product="arroz") == (
        "Arroz branco 5 kg: 42 em estoque, R$ 29,90 a unidade"
    )
    assert (
        await counter.says("c42", "check_stock", "ro", product="orez") == "Orez alb 5 kg: 42 pe stoc, 31,90 lei bucata"
    )


async def test_the_weather_is_fetched_and_told(counter: Counter) -> None:
    text = await counter.says("c42", "get_weather", "ro", city="cluj", days=2)
    assert text.startswith("Cluj-Napoca: 29.11, între ")


async def test_an_unknown_city_is_said_to_the_model_with_the_nearest(counter: Counter) -> None:
    outcome = await counter.ask("c17", ("get_weather", {"city": "Oslp"}))
    assert "city not found: 'Oslp'" in told(outcome)
    assert "did you mean Oslo?" in told(outcome)


# ── who may ───────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("role", "hidden"),
    [
        ("customer", {"search_orders_by_email", "search_customers", "send_email"}),
        ("support", {"refund_order"}),
        ("finance", {"change_address"}),
        ("analyst", {tool.name for tool in TOOLS} - {"check_stock", "get_weather"}),
        ("warehouse", {tool.name for tool in TOOLS} - {"check_stock", "get_weather"}),
    ],
)
def test_each_role_sees_its_own_tools(role: str, hidden: set[str]) -> None:
    visible = {spec.name for spec in TOOLSET.visible(frozenset({role})).specs}
    assert visible == {tool.name for tool in TOOLS} - hidden


@pytest.mark.parametrize("tool", ["get_order_status", "cancel_order", "refund_order", "change_address"])
async def test_somebody_elses_order_and_none_look_the_same(counter: Counter, tool: str) -> None:
    needed: dict[str, dict[str, Any]] = {"refund_order": {"amount": 1}, "change_address": {"address": "Rua da Paz, 8"}}
    more = needed.get(tool, {})
    others = await counter.ask("c17", (tool, {"order_id": 8843, **more}))
    nobodys = await counter.ask("c17", (tool, {"order_id": 77_777_777, **more}))

    assert code(others) == code(nobodys) == Reason.NOT_FOUND
    assert told(others) == told(nobodys)
    assert isinstance(others, Answer)
    assert isinstance(nobodys, Answer)
    assert others.text == nobodys.text


async def test_support_sees_every_order_and_finance_too(counter: Counter) -> None:
    for who in ("s1", "s2", "f1"):
        assert "FAN Courier" in await counter.says(who, "get_order_status", order_id=9015)


async def test_nobody_lists_the_orders_of_another_customer_whether_there_is_one_or_not(counter: Counter) -> None:
    others = await counter.ask("c17", ("list_orders", {"customer_id": "c18"}))
    nobodys = await counter.ask("c17", ("list_orders", {"customer_id": "c999999"}))
    assert code(others) == code(nobodys) == Reason.NOT_PERMITTED
    assert told(others) == told(nobodys)


async def test_a_customer_lists_their_own_orders_and_support_everybodys(counter: Counter) -> None:
    own = await counter.ask("c17", ("list_orders", {"status": "cancelled"}))
    all_of_them = await counter.ask("s1", ("list_orders", {"status": "cancelled"}))
    assert [order["order_id"] for order in json.loads(told(own))["orders"]] == [8615]
    found = json.loads(told(all_of_them))
    assert (len(found["orders"]), found["more"]) == (20, True)


async def test_support_cannot_refund(counter: Counter) -> None:
    outcome = await counter.ask("s1", ("refund_order", {"order_id": 8842, "amount": 1}))
    assert code(outcome) == Reason.UNKNOWN_TOOL
    assert counter.shop.database.read("SELECT 1 FROM refunds WHERE order_id = 8842") == []


@pytest.mark.parametrize("who", ["c99", "c999999", "nobody", "S1"])
async def test_who_is_not_known_today_gets_nothing(counter: Counter, who: str) -> None:
    assert isinstance(await counter.ask(who, ("get_order_status", {"order_id": 8842})), Refused)


async def test_wildcards_find_no_customers_and_no_orders(counter: Counter) -> None:
    assert await counter.says("s1", "search_customers", query="%%") == "No such customer."
    assert await counter.says("s1", "search_orders_by_email", email="%@%") == "There are no such orders."


# ── whose yes ─────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "8842, 3 items, R$ 412,90, status paid → cancelled; its parcel is called back"),
        ("pt-BR", "8842, 3 itens, R$ 412,90, situação pago → cancelado; o pacote é chamado de volta"),
        ("ro", "8842, 3 produse, R$ 412,90, stare plătită → anulată; coletul este chemat înapoi"),
    ],
)
async def test_cancelling_waits_for_finance_with_a_preview(counter: Counter, language: str, text: str) -> None:
    pending = await counter.waits("s1", "cancel_order", language, order_id=8842)
    assert (pending.yes, pending.approvers) == (Yes.APPROVE, frozenset({"finance"}))
    assert pending.preview is not None
    assert pending.preview.text == text
    assert pending.preview.binds == {"resource_version": 1}


async def test_an_approved_cancelling_is_done(counter: Counter) -> None:
    pending = await counter.waits("s1", "cancel_order", "pt-BR", order_id=8842)
    outcome = await counter.agent().approve(pending.token, by="f1")

    assert isinstance(outcome, Answer)
    assert outcome.text == (
        "O pedido 8842 foi cancelado. Valor devolvido: R$ 412,90. A transportadora vai trazer o pacote de volta."
    )
    order = await find_order(counter.shop.database, 8842)
    assert order is not None
    assert order.status is OrderStatus.CANCELLED


@pytest.mark.parametrize("who", ["s1", "s2", "c17", "w1"])
async def test_only_finance_approves(counter: Counter, who: str) -> None:
    pending = await counter.waits("s1", "cancel_order", order_id=8842)
    assert isinstance(await counter.agent().approve(pending.token, by=who), Refused)


async def test_nobody_of_finance_approves_their_own_refund(counter: Counter) -> None:
    pending = await counter.waits("f1", "refund_order", order_id=8842, amount=60)
    assert isinstance(await counter.agent().approve(pending.token, by="f1"), Refused)
    assert isinstance(await counter.agent().approve(pending.token, by="f2"), Answer)


async def test_what_has_changed_since_it_was_shown_is_asked_again(counter: Counter) -> None:
    pending = await counter.waits("s1", "cancel_order", order_id=8850)
    await change_address(counter.shop.database, 8850, "Rua da Paz, 8", expected_version=1)
    outcome = await counter.agent().approve(pending.token, by="f1")

    assert isinstance(outcome, Waiting)
    order = await find_order(counter.shop.database, 8850)
    assert order is not None
    assert order.status is OrderStatus.PAID


@pytest.mark.parametrize(("who", "number"), [("s1", 8731), ("s1", 8615), ("s1", 7001)])
async def test_what_cannot_be_cancelled_is_refused_before_anybody_is_asked(
    counter: Counter, who: str, number: int
) -> None:
    assert f"order {number}" in told(await counter.ask(who, ("cancel_order", {"order_id": number})))


@pytest.mark.parametrize(("amount", "waits"), [(50, False), (50.01, True), (412.90, True)])
async def test_refunds_above_the_limit_wait(counter: Counter, amount: float, waits: bool) -> None:
    outcome = await counter.ask("f1", ("refund_order", {"order_id": 8842, "amount": amount}))
    assert isinstance(outcome, Waiting) is waits


async def test_a_customer_gets_one_small_refund_of_an_order_and_no_second(counter: Counter) -> None:
    first = await counter.says("c17", "refund_order", "pt-BR", order_id=8842, amount=20, reason="xícara quebrada")
    again = await counter.ask("c17", ("refund_order", {"order_id": 8842, "amount": 20}))

    assert first == "Reembolso do pedido 8842 feito: R$ 20,00."
    assert "refunded in part already" in told(again)
    assert [row[0] for row in counter.shop.database.read("SELECT amount FROM refunds WHERE order_id = 8842")] == [2000]


async def test_more_than_is_left_is_refused_before_anybody_is_asked(counter: Counter) -> None:
    outcome = await counter.ask("f1", ("refund_order", {"order_id": 8842, "amount": 412.91}))
    assert "at most R$ 412,90 of order 8842" in told(outcome)


async def test_an_address_is_changed_once_the_asker_confirms(counter: Counter) -> None:
    pending = await counter.waits("c17", "change_address", order_id=8850, address="Rua da Paz, 8, Niterói")
    assert pending.yes is Yes.CONFIRM
    assert isinstance(await counter.agent().confirm(pending.token, by="s1"), Refused)
    outcome = await counter.agent().confirm(pending.token, by="c17")

    assert isinstance(outcome, Answer)
    assert outcome.text == "Order 8850 now goes to the new address."
    order = await find_order(counter.shop.database, 8850)
    assert order is not None
    assert order.address == "Rua da Paz, 8, Niterói"


async def test_an_email_goes_out_three_times_a_minute_and_no_fourth(counter: Counter) -> None:
    for number in range(3):
        await counter.says("s1", "send_email", customer_id="c17", subject=f"{number}", body="Hello")
    fourth = await counter.ask("s1", ("send_email", {"customer_id": "c17", "subject": "3", "body": "Hello"}))

    assert code(fourth) == Reason.LIMIT_REACHED
    sent = counter.shop.database.read("SELECT subject FROM emails_sent WHERE sent_by = 's1' ORDER BY id")
    assert [row["subject"] for row in sent] == ["0", "1", "2"]


@pytest.mark.parametrize("customer", ["c999999", "c99"])
async def test_nobody_writes_to_who_is_no_customer(counter: Counter, customer: str) -> None:
    outcome = await counter.ask("s1", ("send_email", {"customer_id": customer, "subject": "Hi", "body": "Hello"}))
    assert code(outcome) == Reason.NOT_FOUND


async def test_addresses_and_texts_stay_out_of_the_audit_log(counter: Counter) -> None:
    await counter.says("s1", "search_orders_by_email", email="ana.souza@example.com")
    await counter.says("s1", "send_email", customer_id="c17", subject="Hi", body="for Ana alone")
    pending = await counter.waits("c17", "change_address", order_id=8850, address="Rua Secreta, 1, Campinas")
    await counter.agent().confirm(pending.token, by="c17")

    log = "\n".join([record.entry.body async for record in counter.store.read()])
    assert "send_email" in "".join([record.entry.tool async for record in counter.store.read()])
    assert "ana.souza@" not in log
    assert "for Ana alone" not in log
    assert "Rua Secreta" not in log


async def test_the_agent_stops_after_three_turns_with_a_polite_last_word(counter: Counter) -> None:
    model = ScriptedModel(cycle=True).calls("check_stock", product="arroz")
    outcome = await counter.agent(model).ask("?", principal="c17", language="pt-BR")
    assert model.position == 3
    assert "Desculpe" in getattr(outcome, "text", "")
