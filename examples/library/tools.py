"""What the model may wish: look, borrow (the reader confirms), return (the librarian approves)."""

from typing import Any, Final

from library.shelf import Book, Shelf
from placet import Approval, Confirmation, Context, Loaded, Preview, Principal, Tool, ToolError, tool


def load_book(arguments: Any, context: Context[Shelf]) -> Book | None:
    return context.deps.find(arguments.title)


def has_borrowed(principal: Principal, book: Book, arguments: object) -> bool:
    del arguments
    return principal.id in book.readers


def preview_loan(arguments: object, book: Book, context: Context[Shelf]) -> Preview:
    del arguments, context
    return Preview(f"{book.title}: {book.available} → {book.available - 1}", {"available": book.available})


def preview_return(arguments: object, book: Book, context: Context[Shelf]) -> Preview:
    del arguments, context
    return Preview(f"{book.title}: {book.available} → {book.available + 1}", {"readers": sorted(book.readers)})


@tool(
    effect="read",
    roles={"reader", "librarian"},
    resource=load_book,
    progress={"en": "looking for {title}…", "pt-BR": "procurando {title}…", "ro": "caut {title}…"},
    answer={
        "en": "{title}, by {author}: {available} of {copies} copies are here.",
        "pt-BR": "{title}, de {author}: {available} de {copies} exemplares disponíveis.",
        "ro": "{title}, de {author}: {available} din {copies} exemplare disponibile.",
    },
)
def find_book(title: str, book: Loaded[Book]) -> dict[str, str | int]:
    """Look up a book. Use when somebody asks whether the library has a book, or whether it is available.

    Args:
        title: The title of the book.
    """
    del title
    return {"title": book.title, "author": book.author, "available": book.available, "copies": book.copies}


@tool(
    effect="write",
    roles={"reader"},
    resource=load_book,
    approval=Confirmation.always(),
    preview=preview_loan,
    answer={
        "en": "{title} is yours for two weeks.",
        "pt-BR": "{title} é seu por duas semanas.",
        "ro": "{title} este la dumneavoastră timp de două săptămâni.",
    },
)
def borrow_book(title: str, book: Loaded[Book], context: Context[Shelf]) -> dict[str, str]:
    """Borrow a book for the person who asks. Use only when they ask to borrow it.

    Args:
        title: The title of the book.
    """
    del title
    if not context.deps.lend(book, context.principal.id, context.idempotency_key):
        raise ToolError(f"no copy of {book.title!r} can be lent to this reader now")
    return {"title": book.title}


@tool(
    effect="write",
    roles={"reader"},
    resource=load_book,
    authorise=has_borrowed,
    approval=Approval.always(approvers={"librarian"}, ttl="1 day"),
    preview=preview_return,
    answer={
        "en": "{title} is back. Thank you.",
        "pt-BR": "{title} foi devolvido. Obrigado.",
        "ro": "{title} a fost returnată. Mulțumim.",
    },
)
def return_book(title: str, book: Loaded[Book], context: Context[Shelf]) -> dict[str, str]:
    """Return a book that the person has borrowed. A librarian looks at it first.

    Args:
        title: The title of the book.
    """
    del title
    if not context.deps.take_back(book, context.principal.id, context.idempotency_key):
        raise ToolError(f"this reader does not have {book.title!r} any more")
    return {"title": book.title}


TOOLS: Final[tuple[Tool, ...]] = (find_book, borrow_book, return_book)
