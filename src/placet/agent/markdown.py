"""Markdown with front matter: keys in YAML between two lines of `---`, and the text below them."""

import re
from typing import Any, Final

import yaml

from placet.errors import ConfigurationError
from placet.values.json import is_object

_FRONT: Final = re.compile(r"\A---[ \t]*\r?\n(.*?\r?\n)?---[ \t]*(?:\r?\n|\Z)(.*)\Z", re.DOTALL)


class _OnceLoader(yaml.SafeLoader):
    """YAML's safe loader, which takes the last of two equal keys; here none may stand there twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Return a mapping."""
        keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        twice = sorted({str(key) for key in keys if keys.count(key) > 1})
        if twice:
            raise yaml.constructor.ConstructorError(None, None, f"keys stand there twice: {twice}", node.start_mark)
        return super().construct_mapping(node, deep)


def read_yaml(text: str) -> Any:
    """Return what a YAML text says, or None when it says nothing.

    Raises:
        yaml.YAMLError: It is no YAML, or has a key twice.
    """
    return yaml.load(text, _OnceLoader)  # noqa: S506 - it is the safe loader, and stricter


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
