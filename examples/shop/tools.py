"""The ten tools of the shop: what a model may ask for, who may, and whose yes it needs.

| tool | effect | who | held back by |
|---|---|---|---|
| `get_order_status` | read | customers, their own; support, finance | |
| `list_orders` | read | customers, their own; support, finance | |
| `search_orders_by_email` | read | support, finance | exact address |
| `search_customers` | read | support, finance | |
| `check_stock` | read | everyone | |
| `cancel_order` | destructive | customers, their own; support, finance | a person of finance approves |
| `refund_order` | write | customers, their own; finance | above an amount, another person of finance approves |
| `change_address` | write | customers, their own; support | the asker confirms |
| `send_email` | write | support, finance | three a minute, to the customer's own address |
| `get_weather` | read, calls out | everyone | |

Support sees all and cannot refund. Somebody else's order and one that does not exist look the
same: both are refused by the gate, in the same words.
"""

from typing import Annotated, Final, Literal

from pydantic import Field

from placet.errors import ToolError
from placet.tools.context import Context
from placet.tools.parameters import Loaded
from placet.tools.tool import tool
from placet.values.approval import Approval, Confirmation
from placet.values.principal import EVERYONE
from shop import sentences
from shop.access import (
    READERS,
    REFUND_LIMIT,
    STAFF,
    above_refund_limit,
    load_customer,
    load_order,
    own_order_or_finance,
    own_order_or_staff,
    own_orders_or_staff,
)
from shop.answers import (
    ChangeAnswer,
    CustomersAnswer,
    EmailAnswer,
    OrderAnswer,
    OrdersAnswer,
    StockAnswer,
    WeatherAnswer,
    describe_change,
    describe_customers,
    describe_order,
    describe_orders,
    describe_stock,
    describe_weather,
)
from shop.arguments import Amount, CustomerId, OrderId
from shop.changes import cancel_order as cancel
from shop.changes import change_address as move
from shop.changes import refund_order as refund
from shop.counter import Shop
from shop.customers import Customer, CustomerStatus
from shop.customers import search_customers as find_customers
from shop.errors import UnknownCityError, WeatherError
from shop.mail import send_email as send
from shop.orders import Order, OrderFilter
from shop.orders import list_orders as find_orders
from shop.orders import search_orders_by_email as find_orders_by_email
from shop.previews import minor, preview_address, preview_cancel, preview_refund, said_to_the_model
from shop.stock import check_stock as find_stock

LISTED: Final = 20
"""Orders in one answer: a model needs no more, and a person reads no more."""

LOOK_UPS: Final = "60/minute"


# ── looking ───────────────────────────────────────────────────────────────────────────


@tool(
    effect="read",
    roles=READERS,
    limit=LOOK_UPS,
    resource=load_order,
    authorise=own_order_or_staff,
    progress=sentences.GET_ORDER_STATUS,
    answer=sentences.ORDER_STATUS_ANSWER,
)
async def get_order_status(order_id: OrderId, order: Loaded[Order], context: Context[Shop]) -> OrderAnswer:
    """Look up one order by its number: whether it is paid, shipped and delivered, and its tracking number.

    Use for questions about where an order is, or what state it is in.
    """
    del order_id  # the loaded order is the one of this number
    return describe_order(order, context.principal.id)


@tool(
    effect="read",
    roles=READERS,
    limit=LOOK_UPS,
    authorise=own_orders_or_staff,
    progress=sentences.LIST_ORDERS,
    answer=sentences.ORDERS_ANSWER,
)
async def list_orders(
    context: Context[Shop],
    customer_id: CustomerId | None = None,
    status: Literal["pending", "paid", "cancelled", "refunded", "not_shipped", "shipped", "delivered", "not_delivered"]
    | None = None,
) -> OrdersAnswer:
    """List orders, the newest first, all of them or those in one state.

    Use when no order number is given: "which of my orders have not been delivered?"

    Args:
        customer_id: Whose orders, as in c17. Leave it out for the person's own orders.
        status: Only orders in this state. Leave it out for all.
    """
    mine = STAFF.isdisjoint(context.principal.roles)
    whose = customer_id or (context.principal.id if mine else None)
    state = OrderFilter(status) if status else None
    orders = await find_orders(context.deps.database, whose, state, limit=LISTED)
    return describe_orders(orders, context.principal.id, LISTED)


@tool(
    effect="read",
    roles=STAFF,
    limit="30/minute",
    redact={"email"},
    progress=sentences.SEARCH_ORDERS_BY_EMAIL,
    answer=sentences.ORDERS_ANSWER,
)
async def search_orders_by_email(
    email: Annotated[str, Field(min_length=3, max_length=254)], context: Context[Shop]
) -> OrdersAnswer:
    """Find the orders of the customer with this e-mail address. Use when an address is given and no order number.

    Args:
        email: The whole address; parts of it and wildcards find nothing.
    """
    orders = await find_orders_by_email(context.deps.database, email, limit=LISTED)
    return describe_orders(orders, context.principal.id, LISTED)


@tool(
    effect="read",
    roles=STAFF,
    limit="30/minute",
    writable_output=True,
    redact={"email"},
    progress=sentences.SEARCH_CUSTOMERS,
    answer=sentences.CUSTOMERS_ANSWER,
)
async def search_customers(
    query: Annotated[str, Field(min_length=2, max_length=100)],
    context: Context[Shop],
    status: Literal["active", "inactive", "trial"] | None = None,
    limit: Annotated[int, Field(ge=1, le=100)] = 10,
    include_deleted: bool = False,
) -> CustomersAnswer:
    """Find customers by name, e-mail address or id.

    Use to find out who somebody is, or a customer's id. It does not find orders.

    Args:
        query: A name or a part of it, an e-mail address, or an id such as c17.
        status: Only customers of this status. Leave it out for all.
        limit: How many at most.
        include_deleted: Also closed accounts.
    """
    wanted = CustomerStatus(status) if status else None
    found = await find_customers(context.deps.database, query, wanted, limit, include_deleted=include_deleted)
    return describe_customers(found, limit)


@tool(
    effect="read",
    roles={EVERYONE},
    limit=LOOK_UPS,
    progress=sentences.CHECK_STOCK,
    answer=sentences.STOCK_ANSWER,
)
async def check_stock(
    product: Annotated[str, Field(min_length=2, max_length=100)], context: Context[Shop]
) -> StockAnswer:
    """Look up how many of a product are in stock, and its price. Use for questions about availability.

    Args:
        product: What the person calls the product, in their own words and language.
    """
    country = context.principal.attributes.get("country")
    levels = await find_stock(
        context.deps.database, product, context.language, country if country in ("BR", "RO") else "BR"
    )
    return describe_stock(levels)


@tool(
    effect="read",
    open_world=True,
    roles={EVERYONE},
    limit="30/minute",
    progress=sentences.GET_WEATHER,
    answer=sentences.WEATHER_ANSWER,
)
async def get_weather(
    city: Annotated[str, Field(min_length=2, max_length=80)],
    context: Context[Shop],
    days: Annotated[int, Field(ge=1, le=7)] = 1,
) -> WeatherAnswer:
    """Get the weather forecast for a city, from today on.

    Args:
        city: The name of the city, as in Cluj-Napoca.
        days: How many days, today included: 1 is today alone, 2 reaches tomorrow.
    """
    try:
        return describe_weather(await context.deps.weather.forecast(city, days))
    except UnknownCityError as error:
        hint = f"did you mean {' or '.join(error.nearest)}?" if error.nearest else "name a larger city nearby"
        raise ToolError(f"city not found: {city!r}", hint=hint) from error
    except WeatherError as error:
        raise ToolError(str(error), hint="tell the person to try again later") from error


# ── changing ──────────────────────────────────────────────────────────────────────────


@tool(
    effect="destructive",
    roles=READERS,
    limit="10/minute",
    resource=load_order,
    authorise=own_order_or_staff,
    approval=Approval.always(approvers={"finance"}),
    version="version",
    preview=preview_cancel,
    survival="key",
    progress=sentences.CANCEL_ORDER,
    answer=sentences.CANCELLED_ANSWER,
)
async def cancel_order(order_id: OrderId, order: Loaded[Order], context: Context[Shop]) -> ChangeAnswer:
    """Cancel a whole order that was not delivered yet, and pay it back. Use only when the person asks to cancel it.

    A person of finance has to approve it first.
    """
    with said_to_the_model():
        done = await cancel(
            context.deps.database,
            order_id,
            expected_version=order.version,
            by=context.principal.id,
            key=context.idempotency_key,
        )
    return describe_change(done)


@tool(
    effect="write",
    roles={"customer", "finance"},
    limit=("3/minute", "20/day"),
    resource=load_order,
    authorise=own_order_or_finance,
    approval=Approval.when(above_refund_limit, approvers={"finance"}),
    version="version",
    preview=preview_refund,
    survival="key",
    progress=sentences.REFUND_ORDER,
    answer=sentences.REFUNDED_ANSWER,
)
async def refund_order(
    order_id: OrderId,
    amount: Amount,
    order: Loaded[Order],
    context: Context[Shop],
    reason: Annotated[str, Field(max_length=300)] = "",
) -> ChangeAnswer:
    """Pay back a part or all of a paid order. The order itself stays: to stop it, cancel it instead.

    Use only when the person names an amount. Larger amounts wait for a person of finance.

    Args:
        reason: Why, in a few words of the person's own.
    """
    if order.refunded and amount <= REFUND_LIMIT and "finance" not in context.principal.roles:  # nobody was asked
        raise ToolError(
            f"order {order_id} was refunded in part already, so that the rest is for a person of finance to decide",
            hint="tell the person to write to support",
        )
    with said_to_the_model():
        done = await refund(
            context.deps.database,
            order_id,
            minor(amount),
            reason,
            expected_version=order.version,
            by=context.principal.id,
            key=context.idempotency_key,
        )
    return describe_change(done)


@tool(
    effect="write",
    roles={"customer", "support"},
    limit="10/minute",
    resource=load_order,
    authorise=own_order_or_staff,
    approval=Confirmation.always(),
    version="version",
    preview=preview_address,
    survival="key",
    redact={"address"},
    progress=sentences.CHANGE_ADDRESS,
    answer=sentences.ADDRESS_ANSWER,
)
async def change_address(
    order_id: OrderId,
    address: Annotated[str, Field(min_length=5, max_length=200)],
    order: Loaded[Order],
    context: Context[Shop],
) -> ChangeAnswer:
    """Change where an order is delivered, as long as its parcel has not left. The person has to confirm it.

    Args:
        address: The whole new address: street, number, city.
    """
    with said_to_the_model():
        done = await move(
            context.deps.database,
            order_id,
            address,
            expected_version=order.version,
            key=context.idempotency_key,
        )
    return describe_change(done)


@tool(
    effect="write",
    roles=STAFF,
    limit="3/minute",
    resource=load_customer,
    waiver="it reaches only the address that the shop has of its own customer, and three a minute at most",
    survival="key",
    redact={"body"},
    progress=sentences.SEND_EMAIL,
    answer=sentences.EMAIL_ANSWER,
)
async def send_email(
    customer_id: CustomerId,
    subject: Annotated[str, Field(min_length=1, max_length=150)],
    body: Annotated[str, Field(min_length=1, max_length=5000)],
    customer: Loaded[Customer],
    context: Context[Shop],
) -> EmailAnswer:
    """Send an e-mail to one customer. Use only when the person asks to write to a customer.

    Args:
        subject: What it is about, in one line.
        body: The text of the e-mail.
    """
    del customer_id  # the loaded customer is the one of this id
    with said_to_the_model():
        sent = await send(
            context.deps.database,
            customer.id,
            subject,
            body,
            by=context.principal.id,
            key=context.idempotency_key,
        )
    return EmailAnswer(customer_id=sent.customer_id, subject=sent.subject)


TOOLS: Final = (
    get_order_status,
    list_orders,
    search_orders_by_email,
    search_customers,
    check_stock,
    cancel_order,
    refund_order,
    change_address,
    send_email,
    get_weather,
)
"""All of them, as an agent gets them."""
