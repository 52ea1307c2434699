"""Settings: what a developer says to a provider beside what placet says."""

from collections.abc import Mapping

from placet.errors import ConfigurationError
from placet.values.json import Json


def check_settings(settings: Mapping[str, Json], ours: frozenset[str], name: str) -> Mapping[str, Json]:
    """Return the settings, if they say nothing that placet says.

    Args:
        settings: Fields of the request's body.
        ours: The fields that placet writes, from what the gate knows.
        name: Of the client, for the message.

    Raises:
        ConfigurationError: They say one of these.
    """
    clash = ours & settings.keys()
    if clash:
        raise ConfigurationError(f"settings of {name!r} cannot say {sorted(clash)}: placet says it; leave it out")
    return settings
