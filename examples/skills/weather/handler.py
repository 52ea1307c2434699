"""The code of the skill."""

from typing import Annotated

from pydantic import Field, ValidationError

from placet import Context, ToolOutput

from .shapes import Forecast, NoWeather, Office, Weather


async def execute(
    city: Annotated[str, Field(min_length=1, max_length=100, description="Its name, as the person wrote it.")],
    context: Context[Office],
    days: Annotated[int, Field(ge=1, le=7, description="How many days, today included.")] = 1,
) -> Weather | ToolOutput:
    """Say what the weather will be in a city. Use for questions about weather, temperature or rain."""
    try:
        said = await context.deps.weather.forecast(city, days)
        if "error" in said:
            return _failure(
                NoWeather(
                    code="unknown_city",
                    message=f"there is no forecast for {city!r}",
                    hint="ask which city is meant",
                    nearest=list(said.get("nearest", ())),
                )
            )
        found = Forecast.model_validate(said)
    except (OSError, ValidationError):
        return _failure(NoWeather(code="no_answer", message="the service gave no forecast", hint="try again later"))
    if not found.days:
        return _failure(NoWeather(code="no_answer", message="the service gave no day", hint="try again later"))
    wanted = found.days[:days]
    return Weather(city=found.city, country=found.country, temperature=wanted[0].high, days=wanted)


def _failure(what: NoWeather) -> ToolOutput:
    return ToolOutput(what, is_error=True)
