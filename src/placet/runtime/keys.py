"""Keys: everything keyed comes from one secret that lies outside the store."""

import hashlib
import hmac
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from placet.errors import ConfigurationError
from placet.values.json import Json, JsonObject, canonical

_MINIMUM_BYTES: Final = 32
_EXACT: Final = 2**53
"""Up to here a float holds every whole number."""


@dataclass(frozen=True, slots=True, repr=False)
class Keys:
    """The keys of one store, derived from one secret.

    Attributes:
        audit: Chains the audit log.
        digest: Keys the digests of arguments, so that nobody can guess arguments from them.
        heads: Signs exported heads of the audit log.
    """

    audit: bytes
    digest: bytes
    heads: bytes

    @staticmethod
    def of(secret: bytes) -> "Keys":
        """Return the keys that come from a secret, each by its own label (RFC 5869's expand).

        Raises:
            ConfigurationError: The secret is shorter than 32 bytes.
        """
        if len(secret) < _MINIMUM_BYTES:
            raise ConfigurationError(f"the secret has {len(secret)} bytes, it needs at least {_MINIMUM_BYTES}")
        return Keys(
            audit=hmac.digest(secret, b"placet audit chain\x01", "sha256"),
            digest=hmac.digest(secret, b"placet argument digest\x01", "sha256"),
            heads=hmac.digest(secret, b"placet exported heads\x01", "sha256"),
        )


def call_digest(key: bytes, tool: str, arguments: JsonObject) -> str:
    """Return the keyed digest of a call: HMAC-SHA256 over its canonical form, 64 hex digits.

    Keyed, because a plain hash of few possible arguments can be undone by trying them. JSON has one kind of
    number, so that 50 and 50.0 are one call (RFC 8785, 3.2.2.3): whoever was told no, or that nobody knows,
    must not get through by a point and a nought.
    """
    return hmac.digest(key, canonical([tool, _one_number(arguments)]).encode(), "sha256").hex()


def _one_number(value: Json) -> Json:
    """Return a value with every whole number written as one."""
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) <= _EXACT else value
    if isinstance(value, Mapping):
        return {name: _one_number(part) for name, part in value.items()}
    return [_one_number(part) for part in value] if isinstance(value, list | tuple) else value


def token_hash(token: str) -> str:
    """Return what the store keeps of a token. The token is chance of 192 bits, so a plain hash will do."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def read_or_make_secret(path: Path) -> bytes:
    """Return the secret of a key file, which is made, for its owner alone, when it is missing.

    Two processes that come at once get the same secret: the file appears whole or not at all.

    Raises:
        ConfigurationError: It cannot be read or made, others may read it, or it is too short.
    """
    try:
        if not path.exists():
            _make_secret(path)
        if os.name == "posix" and path.stat().st_mode & 0o077:
            raise ConfigurationError(f"others may read the key file {str(path)!r}: chmod 600 it")
        secret = bytes.fromhex(path.read_text("ascii").strip())
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"the key file {str(path)!r} cannot be read or made: {error}") from error
    if len(secret) < _MINIMUM_BYTES:
        raise ConfigurationError(f"the key file {str(path)!r} holds less than {_MINIMUM_BYTES} bytes in hex")
    return secret


def _make_secret(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(secrets.token_hex(_MINIMUM_BYTES) + "\n")
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(draft, path)
    except FileExistsError:
        pass  # somebody else was first, and theirs counts
    finally:
        draft.unlink()
