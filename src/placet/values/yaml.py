"""YAML as people write it for us: safe, and no key twice."""

from typing import Any

import yaml


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
