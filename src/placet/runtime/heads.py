"""Heads: the ends of the audit log's chains, signed so that they can be kept elsewhere.

A log whose last records were cut off is intact in itself; only who knows where it ended
can tell. An exported head says where. It is signed with a key from outside the store, so
that who can write the store cannot write a head that fits what is left of it.
"""

import hmac
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from placet.errors import StoreError
from placet.ports import AuditHead
from placet.values.json import canonical

_FORM: Final = "placet audit heads"
_VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class ExportedHeads:
    """Heads as they stood at one time.

    Attributes:
        at: When they were exported. Aware, UTC.
        heads: One of every chain.
    """

    at: datetime
    heads: tuple[AuditHead, ...]


def sign_heads(key: bytes, heads: Iterable[AuditHead], at: datetime) -> str:
    """Return heads as one line of JSON with a signature over all of it.

    Args:
        key: The key for heads, from outside the store.
        heads: The last record of every chain.
        at: Now.
    """
    body = {
        "form": _FORM,
        "version": _VERSION,
        "at": at.isoformat(),
        "heads": [[head.writer, head.sequence, head.seal] for head in heads],
    }
    return json.dumps({**body, "signature": _signature(key, body)})


def read_heads(key: bytes, text: str) -> ExportedHeads:
    """Return the heads that were exported, once their signature fits.

    Raises:
        StoreError: The text holds no heads, was edited, or belongs to another store.
    """
    try:
        body = json.loads(text)
        signature = body.pop("signature")
        genuine = hmac.compare_digest(_signature(key, body).encode(), signature.encode())
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise StoreError("this is no file of exported heads") from error
    if not genuine:
        raise StoreError("the heads do not fit their signature: they were edited, or belong to another store")
    return _read_body(body)


def _read_body(body: Any) -> ExportedHeads:
    if body.get("form") != _FORM or body.get("version") != _VERSION:
        raise StoreError("the heads were exported by another version of placet; export them anew")
    rows: Sequence[Any] = body["heads"]
    heads = tuple(AuditHead(str(writer), int(sequence), str(seal)) for writer, sequence, seal in rows)
    return ExportedHeads(datetime.fromisoformat(body["at"]), heads)


def _signature(key: bytes, body: object) -> str:
    return hmac.digest(key, canonical(body).encode(), "sha256").hex()
