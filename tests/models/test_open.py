"""From the id of a model to its client, and to words that say what is missing."""

import subprocess
import sys
from pathlib import Path

import pytest

from placet.errors import ConfigurationError
from placet.models.anthropic_messages import AnthropicMessages
from placet.models.open import open_model
from placet.models.openai_chat import OpenAIChat
from placet.models.openai_responses import OpenAIResponses
from placet.models.replay import ReplayModel
from placet.models.scripted import ScriptedModel
from placet.models.text_protocol import TextProtocolModel


@pytest.mark.parametrize(
    ("name", "client"),
    [
        ("openai:gpt-6-luna", OpenAIChat),
        ("openai-responses:gpt-6-luna", OpenAIResponses),
        ("anthropic:claude-haiku-5-5", AnthropicMessages),
        ("openai-compatible:qwen@http://127.0.0.1:8080/v1", OpenAIChat),
        ("openai-compatible:@cf/meta/llama@http://127.0.0.1:8080/v1", OpenAIChat),
        ("text-plain:openai:gpt-6-luna", TextProtocolModel),
        ("text-fenced:anthropic:claude-haiku-5-5", TextProtocolModel),
        ("text-schema:openai-compatible:qwen@http://127.0.0.1:8080/v1", TextProtocolModel),
        ("scripted:", ScriptedModel),
    ],
)
def test_an_id_opens_its_client(name: str, client: type) -> None:
    model = open_model(name, api_key="k")

    assert isinstance(model, client)
    assert model.name == name


def test_a_server_may_be_named_apart() -> None:
    model = open_model("openai-compatible:qwen", base_url="http://127.0.0.1:8080/v1")

    assert model.name == "openai-compatible:qwen@http://127.0.0.1:8080/v1"


def test_a_recording_is_opened(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text("")

    assert isinstance(open_model(f"replay:{tmp_path / 'r.jsonl'}"), ReplayModel)


@pytest.mark.parametrize(
    "name",
    ["", "gpt-6-luna", "openai:", "openai-compatible:qwen", "openai-compatible:@http://x", "local:qwen", "opanai:x",
     "scripted", "scripted:x", "text-plain:", "text-plain:qwen", "replay:"],
)  # fmt: skip
def test_what_is_no_id_is_refused(name: str) -> None:
    with pytest.raises(ConfigurationError):
        open_model(name)


@pytest.mark.parametrize(
    ("package", "name"),
    [("openai", "openai:x"), ("openai", "openai-responses:x"), ("anthropic", "anthropic:x"),
     ("openai", "openai-compatible:x@http://127.0.0.1/v1")],
)  # fmt: skip
def test_a_missing_sdk_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch, package: str, name: str) -> None:
    monkeypatch.setitem(sys.modules, package, None)  # what Python itself takes for "not there"
    for module in ("openai_chat", "openai_responses", "openai_sdk", "anthropic_messages"):
        monkeypatch.delitem(sys.modules, f"placet.models.{module}", raising=False)

    with pytest.raises(ConfigurationError, match=rf"pip install 'placet\[{package}\]'"):
        open_model(name, api_key="k")


def test_no_sdk_is_imported_before_it_is_used() -> None:
    code = (
        "import sys, placet, placet.models.open\n"
        "print(sorted({'openai', 'anthropic', 'httpx2', 'mcp'} & {name.split('.')[0] for name in sys.modules}))"
    )

    printed = subprocess.run(  # noqa: S603 - this interpreter, and the code above
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert printed.stdout.strip() == "[]"
