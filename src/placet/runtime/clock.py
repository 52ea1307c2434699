"""SystemClock and SystemIds: time and chance as the machine gives them."""

import functools
import os
import secrets
import time
from datetime import UTC, datetime
from typing import Final

_ALPHABET: Final = "0123456789abcdefghjkmnpqrstvwxyz"
"""Crockford's base 32: no i, l, o, u, so that an id can be read aloud."""
_PAIRS: Final = tuple(first + second for first in _ALPHABET for second in _ALPHABET)
"""Two signs for each ten bits: half the work of one for each five."""


class SystemClock:
    """The machine's clock."""

    # The machine's own functions: a method around them would cost more than they do.
    now = staticmethod(functools.partial(datetime.now, UTC))
    """Returns the time, aware and in UTC."""
    monotonic = staticmethod(time.monotonic)
    """Returns seconds that never go back."""


class SystemIds:
    """Ids that sort by age, as UUID version 7 (RFC 9562) does: 48 bits of time, 77 of chance."""

    def new(self, prefix: str) -> str:
        """Return a new public id, as `run_01jd…`: 25 signs of base 32 after the prefix."""
        number = (time.time_ns() // 1_000_000) << 77 | secrets.randbits(77)
        pairs = [_PAIRS[(number >> shift) & 1023] for shift in range(110, -1, -10)]
        return f"{prefix}_{_ALPHABET[number >> 120]}{''.join(pairs)}"

    def secret(self) -> str:
        """Return 192 bits of chance, URL-safe."""
        return secrets.token_urlsafe(24)

    def mark(self) -> str:
        """Return 64 bits of chance as 16 hex digits."""
        return os.urandom(8).hex()
