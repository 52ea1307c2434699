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

The comments without a word before a colon are the tool's description. The words:

| word | what follows | |
|---|---|---|
| `name` | the tool's name | begins a query |
| `param` | a parameter of the model's (`placet.database.parameters`) | may repeat |
| `bind` | a name, where its value comes from, and its type | may repeat; never in the model's schema |
| `variant` | a parameter, a choice, `=`, and the text for `{parameter}` | may repeat |
| `effect` | `read`, `write` or `destructive` | `read` without it |
| `returns` | `one` row, as an object; `rows` without it | |
| `rows` | how many are shown | |
| `roles` | who may call it, with commas | |
| `limit` | `10/minute` | may repeat |
| `authorise`, `approval` | the name of one that is handed to `query_tools` | |
| `waiver` | why a write needs neither | |
| `redact` | arguments and columns that are kept out of logs, with commas | |
| `progress`, `answer` | a dot, a language, and what a person reads: `-- progress.ro: caut {order_id}…` | may repeat |
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from placet.database.parameters import MATCHING, Parameter, parse_parameter
from placet.database.placeholders import Placeholder, has_several, is_select, placeholders
from placet.database.relation import nearest
from placet.errors import ConfigurationError
from placet.values.limits import parse_limit
from placet.values.tool import TOOL_NAME, Effect

SOURCES: Final = ("principal.id", "principal.attributes.…", "language", "idempotency_key", "run_id")
"""Where a bound value may come from."""

_WORD: Final = re.compile(r"--\s*([a-z]+)(?:\.([A-Za-z-]+))?:\s*(.*)")
_ONCE: Final = frozenset({"effect", "returns", "rows", "roles", "authorise", "approval", "waiver", "redact"})
_OFTEN: Final = frozenset({"param", "bind", "variant", "limit"})
_SAID: Final = frozenset({"progress", "answer"})
_KNOWN: Final = _ONCE | _OFTEN | _SAID
_ODD_END: Final = re.compile("[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_SOURCE: Final = re.compile(r"principal\.id|principal\.attributes\.[A-Za-z_]\w*|language|idempotency_key|run_id")
_VARIANT: Final = re.compile(r"([A-Za-z_]\w*):\s*([^=]+?)\s*=\s*(.+)")
MOST_VARIANTS: Final = 64
"""Of one query, all its variants together: each is a statement that is described at the start."""


@dataclass(frozen=True, slots=True)
class Bind:
    """A value that the runtime binds.

    Attributes:
        parameter: Its name and type.
        source: Where it comes from, one of `SOURCES`.
    """

    parameter: Parameter
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One named query, as its file says.

    Attributes:
        name: Of the tool.
        description: For the model.
        sql: With `:name` for values and `{name}` for variants.
        effect: What it does to the world.
        parameters: What the model sends.
        binds: What the runtime binds.
        variants: By parameter, the text for each choice.
        returns_one: Whether it gives one row, as an object.
        rows: How many are shown, or None for the cap of the connection.
        roles: Who may call it, or None where a policy says.
        limits: How often.
        authorise: Name of the function that authorises it.
        approval: Name of the rule by which it needs a yes.
        waiver: Why it needs neither.
        redact: What is kept out of logs.
        progress: What a person reads while it runs, by language.
        answer: What a person reads afterwards, by language.
        where: File and line, for messages.
    """

    name: str
    description: str
    sql: str
    effect: Effect = Effect.READ
    parameters: tuple[Parameter, ...] = ()
    binds: tuple[Bind, ...] = ()
    variants: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    returns_one: bool = False
    rows: int | None = None
    roles: frozenset[str] | None = None
    limits: tuple[str, ...] = ()
    authorise: str | None = None
    approval: str | None = None
    waiver: str | None = None
    redact: frozenset[str] = frozenset()
    progress: dict[str, str] = field(default_factory=dict[str, str])
    answer: dict[str, str] = field(default_factory=dict[str, str])
    where: str = ""


def load_queries(path: Path | str) -> tuple[Statement, ...]:
    """Return the queries of a file, or of all `.sql` files of a directory in the order of their names.

    Raises:
        ConfigurationError: There is no such file, a query is malformed, or two have one name.
    """
    root = Path(path)
    files = sorted(root.glob("*.sql")) if root.is_dir() else [root]
    if not files:
        raise ConfigurationError(f"there is no .sql file in {str(path)!r}")
    found: list[Statement] = []
    for file in files:
        try:
            found.extend(read_queries(file.read_text(encoding="utf-8"), file.name))
        except OSError as error:
            raise ConfigurationError(f"the queries in {str(file)!r} cannot be read: {error.strerror}") from error
    _check_names(found)
    return tuple(found)


def read_queries(text: str, name: str = "queries.sql") -> tuple[Statement, ...]:
    """Return the queries of a text.

    Args:
        text: SQL with comments.
        name: What to call it when something is wrong.

    Raises:
        ConfigurationError: A query is malformed, or two have one name.
    """
    found = tuple(_read(block, f"{name}:{line}") for line, block in _blocks(_plain(text, name), name))
    if not found:
        raise ConfigurationError(f"{name} has no query; one begins with '-- name: get_order_status'")
    _check_names(found)
    return found


def _check_names(found: Iterable[Statement]) -> None:
    seen: dict[str, Statement] = {}
    for statement in found:
        if other := seen.get(statement.name):
            raise ConfigurationError(f"{statement.where}: the name {statement.name!r} stands at {other.where} already")
        seen[statement.name] = statement


def _plain(text: str, name: str) -> str:
    """Return the text with line feeds alone. What only some readers take for the end of a line is refused.

    Raises:
        ConfigurationError: A comment could end where nobody sees it, or go on.
    """
    plain = text.replace("\r\n", "\n")
    if found := _ODD_END.search(plain):
        line = plain.count("\n", 0, found.start()) + 1
        raise ConfigurationError(
            f"{name}:{line}: the character U+{ord(found[0]):04X} may not stand in a file of queries"
        )
    return plain


def _blocks(text: str, file: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the lines of each query, and in which line it begins.

    Raises:
        ConfigurationError: A statement has no name.
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
    if start:
        yield start, block


def _read(lines: list[str], line: str) -> Statement:
    name = _WORD.fullmatch(lines[0].strip())
    where = f"{line} ({name[3].strip() if name else ''})"
    header = list[str]()
    while lines and (not lines[0].strip() or lines[0].strip().startswith("--")):
        header.append(lines.pop(0).strip())
    for below in lines:
        word = _WORD.fullmatch(below.strip())
        if word and word[1] in _KNOWN:
            raise ConfigurationError(f"{where}: {word[1]!r} stands below the statement, where it is a comment alone")
    sql = "\n".join(lines).strip().rstrip(";").rstrip()
    words = _Words(where)
    for text in header:
        words.take(text)
    statement = words.statement(sql)
    _check(statement)
    return statement


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
        if not found:
            self._description.append(line.removeprefix("--").strip())
            return
        word, language, value = found[1], found[2], found[3].strip()
        if word in _SAID and language:
            self._said[word][language] = value
        elif language or word not in _ONCE | _OFTEN | {"name"}:
            known = nearest(word, sorted(_KNOWN))
            mend = f"; is {known[0]!r} meant?" if known else ""
            raise ConfigurationError(f"{self._where}: nothing is called {word!r} above a query{mend}")
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
        raise ConfigurationError(f"{where}: {source!r} is no source of a bound value; there are {', '.join(SOURCES)}")
    return Bind(parse_parameter(f"{name} {kind.strip() or 'text'}", where), source)


def _check(statement: Statement) -> None:
    """Refuse what could not work, or not as it reads.

    Raises:
        ConfigurationError: Says what, and where.
    """
    where = statement.where
    if not TOOL_NAME.fullmatch(statement.name):
        raise ConfigurationError(f"{where}: {statement.name!r} is no name of a tool")
    if not statement.description:
        raise ConfigurationError(f"{where}: it has no description, and the model chooses by it; write it as a comment")
    if not statement.sql:
        raise ConfigurationError(f"{where}: it has no statement")
    if has_several(statement.sql):
        raise ConfigurationError(
            f"{where}: it has a semicolon inside; a query is one statement, with a name of its own"
        )
    if statement.effect is Effect.READ and not is_select(statement.sql):
        raise ConfigurationError(f"{where}: it begins as no SELECT; state its effect, 'write' or 'destructive'")
    for limit in statement.limits:
        try:
            parse_limit(limit)
        except ConfigurationError as error:
            raise ConfigurationError(f"{where}: {error}") from error
    _check_places(statement)


def _check_places(statement: Statement) -> None:
    where = statement.where
    values = {
        parameter.name: parameter for parameter in statement.parameters if parameter.name not in statement.variants
    }
    bound = {bind.parameter.name: bind.parameter for bind in statement.binds}
    if both := sorted((values.keys() | statement.variants.keys()) & bound.keys()):
        raise ConfigurationError(f"{where}: {both[0]!r} is the model's and the runtime's at once")
    if len(values) + len(statement.variants) != len(statement.parameters) or len(bound) != len(statement.binds):
        raise ConfigurationError(f"{where}: a parameter is declared twice")
    texts = [statement.sql, *(text for choice in statement.variants.values() for text in choice.values())]
    places = [place for text in texts for place in placeholders(text, where)]
    for place in places:
        if place.is_variant != (place.name in statement.variants) or (
            not place.is_variant and place.name not in values | bound
        ):
            shown = f"{{{place.name}}}" if place.is_variant else f":{place.name}"
            raise ConfigurationError(f"{where}: {shown} is not declared")
        if declared := (values | bound).get(place.name):
            _check_matching(declared, place, where)
    if unused := sorted((values.keys() | bound.keys() | statement.variants.keys()) - {place.name for place in places}):
        raise ConfigurationError(f"{where}: {unused[0]!r} is declared and not used")
    count = 1
    for choices in statement.variants.values():
        count *= len(choices)
    if count > MOST_VARIANTS:
        raise ConfigurationError(f"{where}: it has {count} variants; at most {MOST_VARIANTS} are prepared")


def _check_matching(parameter: Parameter, place: Placeholder, where: str) -> None:
    """Refuse a value in a LIKE whose wildcards would count, and one that is escaped for none."""
    name = parameter.name
    if place.is_matched and parameter.kind == "text":
        raise ConfigurationError(f"{where}: LIKE would read wildcards in :{name}; declare it as prefix or contains")
    if parameter.kind in MATCHING and place.is_escaped_otherwise:
        raise ConfigurationError(f"{where}: :{name} is escaped by a backslash, and ESCAPE says otherwise")
    if parameter.kind in MATCHING and not place.is_matched:
        raise ConfigurationError(f"{where}: :{name} is escaped for LIKE, and no LIKE looks at it; declare it as text")
