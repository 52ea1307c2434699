"""`say`: a message in the person's language. The English text is its id.

Translations are gettext catalogues under `locale/`; an id without one, or a language that is
not supported, is said in English: a person who reads something is better off than one who
reads an error. Values are escaped as in any template (`placet.words.template`).
"""

import gettext
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final

from placet.words.language import DEFAULT_LANGUAGE, normalise_language
from placet.words.template import Template

LOCALE: Final = Path(__file__).with_name("locale")
"""Where the catalogues lie: `<language>/LC_MESSAGES/placet.mo`."""


def say(message: str, language: str, /, **values: Any) -> str:
    """Return a message in a language, with values in its places.

    Args:
        message: The English text, for instance `"There is no run {id}."`.
        language: Of the person; any tag that `normalise_language` knows, else English.
        values: What stands in the places; one that is missing is a dash.

    Raises:
        ConfigurationError: The text is malformed as a template.
    """
    language = _supported(language)
    return Template.compile(_catalogue(language).gettext(message)).fill(values, language=language)


def say_plural(singular: str, plural: str, n: int, language: str, /, **values: Any) -> str:
    """Return a message that counts something; the count is `{n}`.

    Args:
        singular: The English text for one.
        plural: The English text for none and for several. Romanian has three forms.
        n: How many.
        language: Of the person.
        values: What else stands in the places.

    Raises:
        ConfigurationError: The text is malformed as a template.
    """
    language = _supported(language)
    text = _catalogue(language).ngettext(singular, plural, n)
    return Template.compile(text).fill({**values, "n": n}, language=language)


@lru_cache(maxsize=64)
def _supported(language: str) -> str:
    return normalise_language(language) or DEFAULT_LANGUAGE


@cache
def _catalogue(language: str) -> gettext.NullTranslations:
    """Return the catalogue of a supported language, read once; an empty one if it is not there."""
    path = LOCALE / language.replace("-", "_") / "LC_MESSAGES" / "placet.mo"
    try:
        with path.open("rb") as file:
            return gettext.GNUTranslations(file)
    except (OSError, UnicodeDecodeError):
        return gettext.NullTranslations()
