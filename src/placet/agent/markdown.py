"""Markdown with front matter: keys in YAML between two lines of `---`, and the text below them."""

import re
from typing import Any, Final

import yaml

from placet.errors import ConfigurationError
from placet.values.json import is_object
from placet.values.yaml import read_yaml

_FRONT: Final = re.compile(r"\A---[ \t]*\r?\n(.*?\r?\n)?---[ \t]*(?:\r?\n|\Z)(.*)\Z", re.DOTALL)


def read_markdown(text: str) -> tuple[dict[str, Any], str]:
    """Return the keys of a text's front matter, and what stands below it.

    Args:
        text: The whole file.

    Raises:
        ConfigurationError: It has no front matter, or one that is no YAML, has a key twice, or is no keys with values.
    """
    found = _FRONT.match(text.removeprefix("\ufeff"))
    if not found:
        raise ConfigurationError("no front matter; begin the file with '---', keys, and '---'")
    try:
        stated = read_yaml(found[1] or "")
    except yaml.YAMLError as error:
        raise ConfigurationError(f"the front matter is no YAML: {error}") from error
    front: Any = {} if stated is None else stated
    if not is_object(front):
        raise ConfigurationError("the front matter must be keys with values")
    return front, found[2].strip()
