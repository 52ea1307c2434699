import pytest

from placet.errors import ConfigurationError
from placet.tools.tool import tool
from tests.runtime.conftest import MakeAgent


@pytest.mark.parametrize("option", [{"survival": "transaction"}])
def test_what_is_declared_and_not_offered_does_not_build(make_agent: MakeAgent, option: dict[str, str]) -> None:
    @tool(effect="write", roles={"support"}, waiver="a test", **option)  # type: ignore[arg-type]  # one option each
    async def write() -> str:
        """Write."""
        return "written"

    with pytest.raises(ConfigurationError, match="does not offer"):
        make_agent(tools=[write])
