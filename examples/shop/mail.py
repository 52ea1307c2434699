"""E-mails to customers. This shop writes them down; a real one would hand them on from here."""

import sqlite3
from dataclasses import dataclass
from typing import Any

from shop.database import ShopDatabase, to_text
from shop.effects import once
from shop.errors import UnknownError


@dataclass(frozen=True, slots=True, kw_only=True)
class Email:
    """An e-mail that was sent.

    Attributes:
        id: Its number.
        customer_id: To whom.
        recipient: At which address: the customer's own, never one from a question.
        subject: What it is about.
        sent_at: When, UTC, as `"YYYY-MM-DD HH:MM:SS"`.
    """

    id: int
    customer_id: str
    recipient: str
    subject: str
    sent_at: str


async def send_email(
    database: ShopDatabase, customer_id: str, subject: str, body: str, *, by: str, key: str | None = None
) -> Email:
    """Send an e-mail to a customer, at the address that the shop has of them.

    Args:
        database: The shop.
        customer_id: To whom.
        subject: One line.
        body: The text.
        by: Who sends it.
        key: Idempotency key: with the same one it is sent once, and answered again.

    Raises:
        UnknownError: There is no such customer, or the account was closed.
        KeyReusedError: The key was used for something else.
        ShopDataError: The database cannot be written.
    """
    at = to_text(database.now())

    def transaction(connection: sqlite3.Connection) -> dict[str, Any]:
        def send() -> dict[str, Any]:
            found = connection.execute(
                "SELECT email FROM customers WHERE id = ? AND deleted_at IS NULL", (customer_id,)
            ).fetchone()
            if found is None:
                raise UnknownError(f"there is no customer {customer_id!r}")
            sent = connection.execute(
                "INSERT INTO emails_sent (customer_id, recipient, subject, body, sent_at, sent_by) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                (customer_id, found["email"], subject, body, at, by),
            )
            return {
                "id": sent.lastrowid,
                "customer_id": customer_id,
                "recipient": found["email"],
                "subject": subject,
                "sent_at": at,
            }

        arguments = {"customer_id": customer_id, "subject": subject, "body": body}
        return once(connection, key, "send_email", arguments, at, send)

    return Email(**await database.write(transaction))
