"""Compile the message catalogues of `placet.words`: `.po`, which people edit, to `.mo`, which is read.

```console
python scripts/compile_catalogues.py          # compile
python scripts/compile_catalogues.py --add    # first add messages that the code says and no catalogue has
python scripts/compile_catalogues.py --check  # change nothing, fail if something is missing or stale
```

A message that was added has an empty translation: fill it in and compile again. Only the
standard library is used; of the `.po` format, what these catalogues need: comments, `msgid`,
`msgid_plural`, `msgstr`, and texts over several lines.
"""

import ast
import re
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

from placet.words.catalog import LOCALE
from placet.words.messages import PLURALS, SINGLES

SOURCE = Path(__file__).parent.parent / "src" / "placet"
FORMS = {"en": 2, "pt_BR": 2, "ro": 3}
"""The catalogues, and how many plural forms each language has."""

_LINE = re.compile(r'(?:(msgid|msgid_plural|msgstr(?:\[\d\])?) )?("(?:[^"\\]|\\.)*")')

Entry = dict[str, str]
"""One message: `msgid`, perhaps `msgid_plural`, and `msgstr` or `msgstr[0]`, `msgstr[1]` …"""


def catalogue(language: str) -> Path:
    """Return where the `.po` of a language lies; its `.mo` lies beside it."""
    return LOCALE / language / "LC_MESSAGES" / "placet.po"


def read_catalogue(text: str) -> list[Entry]:
    """Return the entries of a `.po` text, the header (with the empty id) first.

    Raises:
        ValueError: A line is none that this format knows, or an id stands twice.
    """
    entries: list[Entry] = []
    keyword = ""
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        found = _LINE.fullmatch(line.strip())
        if not found:
            raise ValueError(f"line {number} cannot be read: {line!r}")
        keyword = found[1] or keyword
        if found[1] == "msgid":
            entries.append({})
        entries[-1][keyword] = entries[-1].get(keyword, "") + ast.literal_eval(found[2])
    ids = [entry["msgid"] for entry in entries]
    twice = sorted({name for name in ids if ids.count(name) > 1})
    if twice:
        raise ValueError(f"these ids stand twice: {twice}")
    return entries


def compile_entries(entries: list[Entry]) -> bytes:
    """Return the `.mo` file of a catalogue: the GNU format, little-endian, sorted, without a hash table.

    Entries without a translation are left out, so that they are said in English.
    """
    pairs: list[tuple[bytes, bytes]] = []
    for entry in entries:
        translations = [entry[key] for key in sorted(entry) if key.startswith("msgstr")]
        if all(translations):
            key = "\0".join(part for part in (entry["msgid"], entry.get("msgid_plural")) if part is not None)
            pairs.append((key.encode(), "\0".join(translations).encode()))
    pairs.sort()
    start = 28 + 16 * len(pairs)
    keys = b"".join(key + b"\0" for key, _ in pairs)
    table: list[int] = []
    for column, offset in ((0, start), (1, start + len(keys))):
        place = offset
        for pair in pairs:
            table += [len(pair[column]), place]
            place += len(pair[column]) + 1
    header = struct.pack("<7I", 0x950412DE, 0, len(pairs), 28, 28 + 8 * len(pairs), 0, start)
    return header + struct.pack(f"<{len(table)}I", *table) + keys + b"".join(text + b"\0" for _, text in pairs)


def messages_said() -> dict[str, str | None]:
    """Return every message id in the code, with its plural: from the tables, and literals that are said."""
    said: dict[str, str | None] = dict.fromkeys(SINGLES)
    said.update(PLURALS)
    for path in sorted(SOURCE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        ours = _imported(tree)
        for node in ast.walk(tree):
            said.update(_said_by(node, ours))
    return said


def _imported(tree: ast.Module) -> frozenset[str]:
    """Return what a module has from the catalogue; another function of the same name says something else."""
    found = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "placet.words.catalog"]
    return frozenset(alias.name for node in found for alias in node.names)


def _said_by(node: ast.AST, ours: frozenset[str]) -> Iterator[tuple[str, str | None]]:
    if not isinstance(node, ast.Call) or not node.args:
        return
    name = _spoken_with(node.func, ours)
    texts = [part.value for part in node.args if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    if name == "say" and texts and isinstance(node.args[0], ast.Constant):
        yield texts[0], None
    elif name == "say_plural" and len(texts) >= 2:
        yield texts[0], texts[1]


def _spoken_with(function: ast.expr, ours: frozenset[str]) -> str:
    """Return what is called: a function of the catalogue, or a method of the command line's `door`; else nothing."""
    match function:
        case ast.Name(id=name) if name in ours:
            return name
        case ast.Attribute(value=ast.Name(id="door"), attr=name):
            return name
        case _:
            return ""


def quote(text: str) -> str:
    """Return a text as it is written in a `.po`."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def add_missing(language: str) -> int:
    """Append to a catalogue the messages that it lacks, untranslated, and return how many they were."""
    path = catalogue(language)
    text = path.read_text(encoding="utf-8")
    known = {entry["msgid"] for entry in read_catalogue(text)}
    lines: list[str] = []
    missing = {singular: plural for singular, plural in messages_said().items() if singular not in known}
    for singular, plural in missing.items():
        english = [singular, plural] if language == "en" else [""] * FORMS[language]
        lines += ["", f"msgid {quote(singular)}"]
        if plural is None:
            lines.append(f"msgstr {quote(english[0] or '')}")
        else:
            lines.append(f"msgid_plural {quote(plural)}")
            lines += [f"msgstr[{place}] {quote(form or '')}" for place, form in enumerate(english)]
    path.write_text(text.rstrip("\n") + "\n" + "\n".join(lines) + ("\n" if lines else ""), encoding="utf-8")
    return len(missing)


def faults(language: str) -> Iterator[str]:
    """Yield what is missing from a catalogue, or stale in what was compiled from it."""
    path = catalogue(language)
    entries = read_catalogue(path.read_text(encoding="utf-8"))
    by_id = {entry["msgid"]: entry for entry in entries}
    for singular, plural in messages_said().items():
        entry = by_id.get(singular)
        if entry is None:
            yield f"{language}: no entry for {singular!r}: run with --add"
        elif entry.get("msgid_plural") != plural:
            yield f"{language}: {singular!r} has the plural {entry.get('msgid_plural')!r}, the code says {plural!r}"
        elif not all(text for key, text in entry.items() if key.startswith("msgstr")):
            yield f"{language}: {singular!r} is not translated"
    compiled = path.with_suffix(".mo")
    if not compiled.exists() or compiled.read_bytes() != compile_entries(entries):
        yield f"{language}: {compiled.name} is stale: run this script without --check"


def main(arguments: list[str]) -> int:
    """Do what the arguments say, and return the exit code."""
    if "--add" in arguments:
        for language in FORMS:
            sys.stdout.write(f"{language}: {add_missing(language)} messages added\n")
    if "--check" not in arguments:
        for language in FORMS:
            path = catalogue(language)
            path.with_suffix(".mo").write_bytes(compile_entries(read_catalogue(path.read_text(encoding="utf-8"))))
    found = [fault for language in FORMS for fault in faults(language)]
    sys.stdout.writelines(f"{fault}\n" for fault in found)
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
