"""The shelf: books and loans in one SQLite file. It knows nothing of models."""

import sqlite3
import unicodedata
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

BOOKS: Final = (
    ("Dom Casmurro", "Machado de Assis", 2),
    ("Memórias Póstumas de Brás Cubas", "Machado de Assis", 1),
    ("A Hora da Estrela", "Clarice Lispector", 1),
    ("Pădurea spânzuraților", "Liviu Rebreanu", 1),
    ("Middlemarch", "George Eliot", 3),
)
"""Title, author, copies."""

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS books (id INTEGER PRIMARY KEY, title TEXT UNIQUE, author TEXT, copies INTEGER);
CREATE TABLE IF NOT EXISTS loans (
    id INTEGER PRIMARY KEY, book INTEGER NOT NULL REFERENCES books, reader TEXT NOT NULL, returned INTEGER NOT NULL
    DEFAULT 0, borrowed_by_call TEXT UNIQUE NOT NULL, returned_by_call TEXT UNIQUE
);
CREATE UNIQUE INDEX IF NOT EXISTS one_copy_each ON loans (book, reader) WHERE NOT returned;
"""


@dataclass(frozen=True, slots=True)
class Book:
    """A book as it stands on the shelf.

    Attributes:
        id: Its number.
        title: Its title.
        author: Who wrote it.
        copies: How many the library has.
        available: How many of them are there now.
        readers: Who has the others.
    """

    id: int
    title: str
    author: str
    copies: int
    available: int
    readers: frozenset[str]


class Shelf:
    """The books and who has them.

    Args:
        path: The file, made with a few books on first use.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        with self._open() as connection:
            connection.executescript(_SCHEMA)
            connection.executemany("INSERT OR IGNORE INTO books (title, author, copies) VALUES (?, ?, ?)", BOOKS)

    def find(self, title: str) -> Book | None:
        """Return the book of a title, whatever its capitals and accents, or None."""
        with self._open() as connection:
            for number, named, author, copies in connection.execute("SELECT id, title, author, copies FROM books"):
                if fold(named) == fold(title):
                    rows = connection.execute("SELECT reader FROM loans WHERE book = ? AND NOT returned", (number,))
                    readers = frozenset(reader for (reader,) in rows)
                    return Book(number, named, author, copies, copies - len(readers), readers)
        return None

    def lend(self, book: Book, reader: str, key: str) -> bool:
        """Lend a copy, in one statement; return whether there was one. The same key lends once."""
        with self._open() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO loans (book, reader, borrowed_by_call) SELECT id, ?, ? FROM books WHERE id = ? "
                "AND copies > (SELECT count(*) FROM loans WHERE book = books.id AND NOT returned)",
                (reader, key, book.id),
            )
            return bool(connection.execute("SELECT 1 FROM loans WHERE borrowed_by_call = ?", (key,)).fetchone())

    def take_back(self, book: Book, reader: str, key: str) -> bool:
        """Take a copy back, in one statement; return whether the reader had it. The same key does it once."""
        with self._open() as connection:
            connection.execute(
                "UPDATE loans SET returned = 1, returned_by_call = ? WHERE book = ? AND reader = ? AND NOT returned "
                "AND NOT EXISTS (SELECT 1 FROM loans WHERE returned_by_call = ?)",
                (key, book.id, reader, key),
            )
            return bool(connection.execute("SELECT 1 FROM loans WHERE returned_by_call = ?", (key,)).fetchone())

    @contextmanager
    def _open(self) -> Generator[sqlite3.Connection, None, None]:
        connection = sqlite3.connect(self._path, timeout=2)
        try:
            with connection:
                yield connection
        finally:
            connection.close()


def fold(text: str) -> str:
    """Return a text without accents, capitals and spaces around it."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    return "".join(sign for sign in plain if not unicodedata.combining(sign)).strip()
