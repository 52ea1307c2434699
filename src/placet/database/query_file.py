"""Named queries in `.sql` files: statements that somebody has thought about.

```sql
-- name: get_order_status
-- Say how far an order is. Use when a customer asks where it stays.
-- param: order_id int >= 1 -- the number on the invoice
-- bind: customer_id principal.id int
-- roles: customer
-- limit: 30/minute
SELECT status, shipped_at FROM orders WHERE id = :order_id AND customer_id = :customer_id;
```

`:name` is a value and `{name}` a variant, outside of texts, quoted names and comments; `::` is a cast, and a colon
that is neither has a blank behind it, as in `tags[1 : n]`. A query ends with its semicolon, or where the next begins.

The comments without a word before a colon are the tool's description. The words, in small letters and right before
their colon, between the name and the statement:

| word | what follows | |
|---|---|---|
| `name` | the tool's name | begins a query |
| `param` | a parameter of the model's (`placet.database.parameters`) | may repeat |
| `bind` | a name, where its value comes from (`SOURCES`), and its type | may repeat; never in the model's schema |
| `variant` | a parameter, a choice, `=`, and the text for `{parameter}` | may repeat; the first choice is the default |
| `effect` | `read`, `write` or `destructive` | `read` without it |
| `returns` | `one` row, as an object; `rows` without it | where it reads, more than one is an error |
| `rows` | how many are shown, 1000 at most | the cap of the connection without it |
| `roles` | who may call it, with commas | |
| `limit` | `10/minute` | may repeat |
| `authorise`, `approval` | the name of one that is handed to `query_tools` | |
| `waiver` | why a write needs neither | |
| `redact` | arguments and columns that are kept out of logs, with commas | a column of many rows takes all rows along |
| `progress`, `answer` | a dot, a language, and what a person reads: `-- progress.ro: caut {order_id}…` | may repeat |
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from placet.database.parameters import Parameter, parse_parameter
from placet.database.placeholders import has_comment, has_several, without_end
from placet.database.query_check import check_statement
from placet.database.relation import nearest
from placet.database.statement import SOURCES, Bind, Statement
from placet.database.text_file import read_text
from placet.errors import ConfigurationError
from placet.values.tool import Effect

_WORD: Final = re.compile(r"--\s*([a-z]+)(?:\.([A-Za-z-]+))?:\s*(.*)")
_ONCE: Final = frozenset({"effect", "returns", "rows", "roles", "authorise", "approval", "waiver", "redact"})
_OFTEN: Final = frozenset({"param", "bind", "variant", "limit"})
_SAID: Final = frozenset({"progress", "answer"})
_KNOWN: Final = _ONCE | _OFTEN | _SAID
_MISWRITTEN: Final = re.compile(r"--[-\s*@#]*([A-Za-z]+)\s*(?:\.\s*[A-Za-z-]+\s*)?:")
_ODD: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f\x85\u2028\u2029]")
"""What ends a line for some readers, and a text for PostgreSQL (zero)."""
_SOURCE: Final = re.compile(r"principal\.id|principal\.attributes\.[A-Za-z_]\w*|language|idempotency_key|run_id")
_VARIANT: Final = re.compile(r"([A-Za-z_]\w*):\s*([^='\"]+?)\s*=\s*(.+)")


def load_queries(path: Path | str) -> tuple[Statement, ...]:
    """Return the queries of a file, or of all `.sql` files of a directory in the order of their names.

    Raises:
        ConfigurationError: There is no such file, it is no UTF-8, a query is malformed, or two have one name.
    """
    root = Path(path)
    files = sorted(root.glob("*.sql")) if root.is_dir() else [root]
    if not files:
        raise ConfigurationError(f"there is no .sql file in {str(path)!r}")
    found: list[Statement] = []
    for file in files:
        found.extend(read_queries(read_text(file, "the file of queries"), file.name))
    _check_names(found)
    return tuple(found)


def read_queries(text: str, name: str = "queries.sql") -> tuple[Statement, ...]:
    """Return the queries of a text.

    Args:
        text: SQL with comments.
        name: What to call it when something is wrong.

    Raises:
        ConfigurationError: A query is malformed, or two have one name. The message has a line for each.
    """
    found, broken = list[Statement](), list[ConfigurationError]()
    for line, block in _blocks(_plain(text, name), name):
        try:
            found.append(_read(block, f"{name}:{line}"))
        except ConfigurationError as error:
            broken.append(error)
    if broken:
        raise ConfigurationError("\n".join(map(str, broken))) from broken[0]
    if not found:
        raise ConfigurationError(f"{name} has no query; one begins with '-- name: get_order_status'")
    _check_names(found)
    return tuple(found)


def _check_names(found: Iterable[Statement]) -> None:
    seen: dict[str, Statement] = {}
    for statement in found:
        if other := seen.get(statement.name):
            raise ConfigurationError(f"{statement.where}: the name {statement.name!r} stands at {other.where} already")
        seen[statement.name] = statement


def _plain(text: str, name: str) -> str:
    """Return the text with line feeds alone. What only some readers take for the end of a line or a text is refused.

    Raises:
        ConfigurationError: A comment could end where nobody sees it, or go on.
    """
    plain = text.replace("\r\n", "\n")
    if found := _ODD.search(plain):
        line = plain.count("\n", 0, found.start()) + 1
        raise ConfigurationError(
            f"{name}:{line}: the character U+{ord(found[0]):04X} may not stand in a file of queries"
        )
    return plain


def _blocks(text: str, file: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the lines of each query, and in which line it begins.

    Raises:
        ConfigurationError: A statement has no name, or something is said of a query above its name.
    """
    start, block = 0, list[str]()
    for number, line in enumerate(text.split("\n"), 1):
        word = _WORD.match(line.strip())
        if word and word[1] == "name":
            if start:
                yield start, block
            start, block = number, []
        if start:
            block.append(line)
        elif line.strip() and not line.strip().startswith("--"):
            raise ConfigurationError(f"{file}:{number}: a statement has no name; write '-- name: …' above it")
        elif _said_in(line):
            raise ConfigurationError(
                f"{file}:{number}: {line.strip()!r} stands above no query; one begins with '-- name: …', and "
                "what else is said of it stands below"
            )
    if start:
        yield start, block


def _read(lines: list[str], line: str) -> Statement:
    name = _WORD.fullmatch(lines[0].strip())
    where = f"{line} ({name[3].strip() if name else ''})"
    header = list[str]()
    while lines and (not lines[0].strip() or lines[0].strip().startswith("--")):
        header.append(lines.pop(0).strip())
    for below in lines:
        if said := _said_in(below):
            raise ConfigurationError(
                f"{where}: {said!r} stands below the statement, where it is a comment alone; it belongs between the "
                "name and the statement"
            )
    sql = without_end("\n".join(lines)).strip()
    words = _Words(where)
    for text in header:
        words.take(text)
    statement = words.statement(sql)
    check_statement(statement)
    return statement


def _said_in(line: str) -> str | None:
    """Return the word with which a comment says something of a query, also where it is written as none of them."""
    found = _MISWRITTEN.match(line.strip())
    return found[1].lower() if found and found[1].lower() in _KNOWN | {"name"} else None


class _Words:
    """The comments above a query, read word by word."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._once: dict[str, str] = {}
        self._often: dict[str, list[str]] = {word: [] for word in _OFTEN}
        self._said: dict[str, dict[str, str]] = {word: {} for word in _SAID}
        self._description = list[str]()

    def take(self, line: str) -> None:
        found = _WORD.fullmatch(line)
        if not found and (said := _said_in(line)):
            raise ConfigurationError(
                f"{self._where}: {line!r} says nothing of the query; write '-- {said}: …', or begin a line of the "
                "description otherwise"
            )
        if not found:
            self._description.append(line.removeprefix("--").strip())
            return
        word, language, value = found[1], found[2], found[3].strip()
        if word not in _KNOWN | {"name"}:
            known = nearest(word, sorted(_KNOWN))
            mend = f"is {known[0]!r} meant? A" if known else "a"
            raise ConfigurationError(
                f"{self._where}: nothing is called {word!r} above a query; {mend} line of the description begins "
                "with no word and a colon"
            )
        if (word in _SAID) != bool(language):
            form = f"-- {word}.en: …" if word in _SAID else f"-- {word}: …"
            raise ConfigurationError(f"{self._where}: {line!r} is written as {form!r}")
        if not value and word != "name":
            raise ConfigurationError(f"{self._where}: {word!r} stands here and says nothing")
        if word in _SAID and language in self._said[word]:
            raise ConfigurationError(f"{self._where}: '{word}.{language}' stands here twice")
        if word in _SAID:
            self._said[word][language] = value
        elif word in _OFTEN:
            self._often[word].append(value)
        elif word in self._once:
            raise ConfigurationError(f"{self._where}: {word!r} stands here twice")
        else:
            self._once[word] = value

    def statement(self, sql: str) -> Statement:
        where = self._where
        effect = self._once.get("effect", "read")
        returns = self._once.get("returns", "rows")
        rows = self._once.get("rows")
        if effect not in set(Effect):
            raise ConfigurationError(f"{where}: the effect {effect!r} is not one of {', '.join(Effect)}")
        if returns not in ("one", "rows"):
            raise ConfigurationError(f"{where}: it returns 'one' or 'rows', not {returns!r}")
        if rows is not None and not (rows.isdigit() and 1 <= int(rows) <= 1000):
            raise ConfigurationError(f"{where}: rows is a number from 1 to 1000, not {rows!r}")
        variants = self._variants(where)
        return Statement(
            name=self._once["name"],
            description=" ".join(line for line in self._description if line),
            sql=sql,
            effect=Effect(effect),
            parameters=(*(parse_parameter(text, where) for text in self._often["param"]), *_choices(variants)),
            binds=tuple(_bind(text, where) for text in self._often["bind"]),
            variants=variants,
            returns_one=returns == "one",
            rows=None if rows is None else int(rows),
            roles=_words(self._once.get("roles")),
            limits=tuple(self._often["limit"]),
            authorise=self._once.get("authorise"),
            approval=self._once.get("approval"),
            waiver=self._once.get("waiver"),
            redact=_words(self._once.get("redact")) or frozenset(),
            progress=self._said["progress"],
            answer=self._said["answer"],
            where=where,
        )

    def _variants(self, where: str) -> dict[str, dict[str, str]]:
        variants: dict[str, dict[str, str]] = {}
        for text in self._often["variant"]:
            found = _VARIANT.fullmatch(text)
            if not found:
                raise ConfigurationError(f"{where}: write a variant as 'sort: newest = ordered_at DESC', not {text!r}")
            if has_comment(found[3]) or has_several(found[3]):
                raise ConfigurationError(
                    f"{where}: the variant {text!r} would end the statement, or swallow what stands behind it; leave "
                    "comments and semicolons away"
                )
            if found[2] in variants.get(found[1], {}):
                raise ConfigurationError(f"{where}: the variant {found[1]!r} has the choice {found[2]!r} twice")
            variants.setdefault(found[1], {})[found[2]] = found[3]
        return variants


def _words(text: str | None) -> frozenset[str] | None:
    return None if text is None else frozenset(word.strip() for word in text.split(",") if word.strip())


def _choices(variants: dict[str, dict[str, str]]) -> Iterator[Parameter]:
    for name, texts in variants.items():
        yield Parameter(name=name, kind="enum", choices=tuple(texts), default=next(iter(texts)), has_default=True)


def _bind(text: str, where: str) -> Bind:
    name, _, rest = text.partition(" ")
    source, _, kind = rest.strip().partition(" ")
    if not _SOURCE.fullmatch(source):
        raise ConfigurationError(
            f"{where}: {source!r} is no source of a bound value; write 'tenant principal.attributes.tenant int', from "
            f"one of {', '.join(SOURCES)}"
        )
    parameter = parse_parameter(f"{name} {kind.strip() or 'text'}", where)
    if not parameter.is_required:
        raise ConfigurationError(
            f"{where}: {name!r} is bound by the runtime, and without a value the query is refused; write it without "
            "'?' and without a default"
        )
    return Bind(parameter, source)
