"""Cipher: texts sealed for one place, with AES-256-GCM (NIST SP 800-38D), under keys that lie outside the store."""

import base64
import importlib
import os
from collections.abc import Sequence
from typing import Any, Final

from placet.errors import ConfigurationError, StoreError

KEY_BYTES: Final = 32
_NONCE_BYTES: Final = 12
_MARK: Final = "placet.1:"
"""With what a sealed text begins, so that one from before any key was given is known as such."""


class Cipher:
    """Seals under the newest key, opens under any.

    Args:
        keys: 32 bytes each, the newest first. An older one stays until what it has sealed is purged.

    Raises:
        ConfigurationError: There is no key, one has another length, or `cryptography` is not installed.
    """

    __slots__ = ("_ciphers",)

    def __init__(self, keys: Sequence[bytes]) -> None:
        if not keys or any(len(key) != KEY_BYTES for key in keys):
            raise ConfigurationError(
                f"encryption needs keys of {KEY_BYTES} bytes each, for instance secrets.token_bytes(32)"
            )
        try:
            aead = importlib.import_module("cryptography.hazmat.primitives.ciphers.aead")
        except ModuleNotFoundError as error:
            raise ConfigurationError("encryption needs a package: pip install 'placet[encryption]'") from error
        self._ciphers: list[Any] = [aead.AESGCM(key) for key in keys]

    def seal(self, text: str, place: str) -> str:
        """Return a text that can be opened at its own place alone.

        Args:
            text: What is to be kept secret.
            place: Where it will stand, as `effect run_1:1.0`: moved elsewhere it does not open.
        """
        nonce = os.urandom(_NONCE_BYTES)
        sealed: bytes = self._ciphers[0].encrypt(nonce, text.encode("utf-8", "surrogatepass"), place.encode())
        return _MARK + base64.b64encode(nonce + sealed).decode()

    def open(self, text: str, place: str) -> str:
        """Return what was sealed. A text that never was (from before there was a key) stays as it is.

        Raises:
            StoreError: No key opens it: it was changed or moved, or its key is missing.
        """
        if not text.startswith(_MARK):
            return text
        try:
            content = base64.b64decode(text.removeprefix(_MARK), validate=True)
        except ValueError as error:
            raise _unreadable(place) from error
        for cipher in self._ciphers:
            try:
                opened: bytes = cipher.decrypt(content[:_NONCE_BYTES], content[_NONCE_BYTES:], place.encode())
            except Exception:  # noqa: BLE001, S112 - the package's InvalidTag, which is not imported; the next key may open it
                continue
            return opened.decode("utf-8", "surrogatepass")
        raise _unreadable(place)


def _unreadable(place: str) -> StoreError:
    return StoreError(
        f"what stands at {place!r} cannot be decrypted: it was changed, or its key is not among the encryption keys"
    )
