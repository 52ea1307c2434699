"""What all tests have in common: a property holds on a busy machine, too, so no example of one has a deadline."""

from hypothesis import settings

settings.register_profile("placet", deadline=None)
settings.load_profile("placet")
