"""Text files that a person has written: queries and plans."""

from pathlib import Path

from placet.errors import ConfigurationError


def read_text(path: Path, what: str) -> str:
    """Return what a UTF-8 file says, without a byte order mark.

    Args:
        path: Of the file.
        what: It is, as the beginning of a sentence: `"the plan"`.

    Raises:
        ConfigurationError: It cannot be read, or is written in another encoding. The message says where.
    """
    try:
        written = path.read_bytes()
    except OSError as error:
        raise ConfigurationError(f"{what} {str(path)!r} cannot be read: {error.strerror}") from error
    try:
        return written.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = written.count(b"\n", 0, error.start) + 1
        raise ConfigurationError(
            f"{what} {str(path)!r} is no UTF-8: byte 0x{written[error.start]:02x} in line {line}; save it as UTF-8"
        ) from error
