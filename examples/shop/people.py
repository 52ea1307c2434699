"""The people and orders that the documentation speaks of, the same in every shop.

Their times move with the day on which the shop is made, so that it always looks fresh. Order
8842 is the one that everybody asks about: paid, three things for R$ 412,90, and sent on the
14th; the parcel is on its way. So both are true of it: it has left, and cancelling it would
take its money from paid to cancelled (and call the parcel back).
"""

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final


@dataclass(frozen=True, slots=True)
class Staff:
    """Somebody who works here.

    Attributes:
        id: As the command line names them: `--as s1`.
        name: In full.
        role: `support`, `finance`, `analyst` or `warehouse`.
        language: What they read.
        country: Which branch they work for.
        salary: A month, in minor units of their country.
    """

    id: str
    name: str
    role: str
    language: str
    country: str
    salary: int


@dataclass(frozen=True, slots=True)
class KnownCustomer:
    """A customer whose id and name are always the same."""

    id: str
    name: str
    email: str
    plan: str
    status: str
    language: str
    country: str
    county: str
    address: str
    deleted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownOrder:
    """An order whose number and content are always the same.

    Attributes:
        id: Its number.
        customer: Whose.
        items: SKU and quantity of each line.
        status: How far the money is.
        placed: So many days ago; None for two days before the 14th.
        shipped: Days between order and parcel, or None when nothing was sent.
        delivered: Days between parcel and door, or None while it is on its way.
        carrier: Who carries it.
        tracking: Under which number.
    """

    id: int
    customer: str
    items: tuple[tuple[str, int], ...]
    status: str = "paid"
    placed: int | None
    shipped: int | None = None
    delivered: int | None = None
    carrier: str = ""
    tracking: str = ""


STAFF: Final = (
    Staff("s1", "Marta Nogueira", "support", "pt-BR", "BR", 410_000),
    Staff("s2", "Vlad Mureșan", "support", "ro", "RO", 520_000),
    Staff("f1", "Paulo Teixeira", "finance", "pt-BR", "BR", 730_000),
    Staff("f2", "Irina Dobre", "finance", "ro", "RO", 840_000),
    Staff("a1", "Radu Pop", "analyst", "ro", "RO", 910_000),
    Staff("w1", "Caio Ramos", "warehouse", "pt-BR", "BR", 320_000),
)

CUSTOMERS: Final = (
    KnownCustomer("c17", "Ana Souza", "ana.souza@example.com", "plus", "active", "pt-BR", "BR", "São Paulo",
                  "Rua das Flores, 120, Campinas"),
    KnownCustomer("c18", "Bruno Lima", "bruno.lima@example.com", "basic", "active", "pt-BR", "BR", "Rio de Janeiro",
                  "Rua da Paz, 8, Niterói"),
    KnownCustomer("c42", "Ioana Pop", "ioana.pop@example.com", "plus", "active", "ro", "RO", "Cluj",
                  "Strada Horea 15, Cluj-Napoca"),
    KnownCustomer("c77", "Emily Carter", "emily.carter@example.com", "business", "trial", "en", "RO", "București",
                  "Calea Victoriei 101, București"),
    KnownCustomer("c99", "Ana Lima", "ana.lima@example.com", "basic", "inactive", "pt-BR", "BR", "Bahia",
                  "Rua Tiradentes, 45, Salvador", deleted=True),
)  # fmt: skip

ORDERS: Final = (
    KnownOrder(id=8842, customer="c17", items=(("CAFETEIRA", 1), ("GARRAFA-1L", 1), ("TOALHA", 1)),
               placed=None, shipped=2, carrier="Correios", tracking="BR123456789BR"),
    KnownOrder(id=8850, customer="c17", items=(("ARROZ-5KG", 2), ("CAFE-500G", 1)), placed=1),
    KnownOrder(id=8731, customer="c17", items=(("CHALEIRA", 1),), placed=64, shipped=1, delivered=6,
               carrier="Correios", tracking="BR998244353BR"),
    KnownOrder(id=8615, customer="c17", items=(("TAPETE-YOGA", 1),), status="cancelled", placed=97),
    KnownOrder(id=8843, customer="c18", items=(("MONITOR-27", 1),), placed=9, shipped=2, carrier="Jadlog",
               tracking="10076543210987"),
    KnownOrder(id=12, customer="c42", items=(("CADERNO", 4), ("CANETA-12", 1)), placed=1),
    KnownOrder(id=13, customer="c42", items=(("LIVRO-COZ", 1),), status="pending", placed=1),
    KnownOrder(id=9015, customer="c42", items=(("FRIGIDEIRA", 1), ("FACA-CHEF", 1)), placed=4, shipped=1,
               carrier="FAN Courier", tracking="2214000123456"),
    KnownOrder(id=9101, customer="c77", items=(("NOTEBOOK", 1), ("MOUSE", 1)), placed=30, shipped=1, delivered=2,
               carrier="Cargus", tracking="1012345678"),
    KnownOrder(id=7001, customer="c99", items=(("BOLA", 1),), status="refunded", placed=120, shipped=1, delivered=8,
               carrier="Correios", tracking="BR700100100BR"),
)  # fmt: skip

RICE_IN_STOCK: Final = {"São Paulo": 30, "Cluj-Napoca": 12}
"""Forty-two bags of rice."""


def the_14th(today: date) -> date:
    """Return the last 14th that is over: the day on which order 8842 was sent."""
    month = today if today.day > 14 else today.replace(day=1) - timedelta(days=1)
    return month.replace(day=14)


def day_placed(order: KnownOrder, today: date) -> date:
    """Return the day on which a known order was placed."""
    if order.placed is None:
        return the_14th(today) - timedelta(days=order.shipped or 0)
    return today - timedelta(days=order.placed)
