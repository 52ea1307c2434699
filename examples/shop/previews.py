"""What a person reads before they say yes: what the call would change, in the language of the run.

What the shop would refuse anyway is refused here already, before anybody is asked.
"""

import contextlib
from collections.abc import Generator, Mapping
from decimal import Decimal
from typing import Any

from placet.errors import ToolError
from placet.tools.context import Context
from placet.words.template import choose, fill
from shop import sentences
from shop.changes import check_address, check_cancel, check_refund
from shop.counter import Shop
from shop.errors import ConflictError, KeyReusedError, NotPossibleError, UnknownError
from shop.orders import Order
from shop.words import money


def minor(amount: Decimal) -> int:
    """Return an amount of whole units in minor ones."""
    return int(amount.scaleb(2))


@contextlib.contextmanager
def said_to_the_model() -> Generator[None]:
    """Say what the shop refuses as it is worded; everything else stays an error that is kept from the model."""
    try:
        yield
    except ConflictError as error:
        raise ToolError(str(error), hint="look the order up, and ask the person again") from error
    except (KeyReusedError, NotPossibleError, UnknownError) as error:
        raise ToolError(str(error)) from error


def preview_cancel(_arguments: Any, order: Order, context: Context[Shop]) -> str:
    """Return what cancelling would change. What cannot be cancelled is refused before anybody is asked."""
    with said_to_the_model():
        check_cancel(order)
    words = choose_words(context.language)
    return _preview(
        sentences.CANCEL_PREVIEW,
        context,
        order,
        items=order.items,
        several=order.items != 1,
        total=order.total_text,
        status=words[order.status],
        shipped=order.shipment is not None,
    )


def preview_refund(arguments: Any, order: Order, context: Context[Shop]) -> str:
    """Return what a refund would change. More than is left is refused before anybody is asked."""
    amount = minor(arguments.amount)
    with said_to_the_model():
        check_refund(order, amount)
    return _preview(
        sentences.REFUND_PREVIEW,
        context,
        order,
        amount=money(amount, order.currency),
        total=order.total_text,
        left=money(order.left - amount, order.currency),
        reason=arguments.reason,
    )


def preview_address(arguments: Any, order: Order, context: Context[Shop]) -> str:
    """Return what another address would change. A parcel that has left is refused before anybody is asked."""
    with said_to_the_model():
        check_address(order)
    return _preview(sentences.ADDRESS_PREVIEW, context, order, before=order.address, after=arguments.address)


def choose_words(language: str) -> dict[str, str]:
    """Return the words for an order's status in a language, English for one that is not spoken here."""
    return sentences.STATUS_WORDS.get(language, sentences.STATUS_WORDS["en"])


def _preview(texts: Mapping[str, str], context: Context[Shop], order: Order, **values: Any) -> str:
    return fill(choose(texts, context.language), {"order_id": order.id, **values}, language=context.language)
