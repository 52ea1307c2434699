import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from placet.config import AppOptions
from placet.errors import ConfigurationError
from placet.models.scripted import ScriptedModel
from placet.runtime.keys import Keys, read_or_make_secret
from placet.stores.url import open_store_from_url
from shop.app import choose_model, demonstration_store
from shop.understudy import choose_call

EXAMPLES = Path(__file__).parents[2]


def command(folder: Path, shop: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run the command line on the shop's own application, with the understudy for a model."""
    (folder / "placet.toml").write_text(f'app = "shop.app:make_agent"\npath = ["{EXAMPLES}"]\n', "utf-8")
    store = demonstration_store(folder / "placet.db")
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-m", "placet", *arguments],
        cwd=folder,
        env={**kept, "SHOP_DATABASE": str(shop), "PLACET_MODEL": "scripted:", "PLACET_STORE": store, "LANG": "C.UTF-8"},
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


def test_the_question_that_the_project_exists_for_is_answered(tmp_path: Path, shop_file: Path) -> None:
    ended = command(tmp_path, shop_file, "ask", "Meu pedido 8842 já saiu?", "--as", "c17")
    text = " ".join((ended.stdout + ended.stderr).split())
    assert ended.returncode == 0, ended.stderr
    assert "consultando o pedido 8842…" in text
    assert "Seu pedido 8842 foi enviado em 14/11 pela transportadora Correios. Rastreio: BR123456789BR." in text


def test_another_customers_order_is_not_found(tmp_path: Path, shop_file: Path) -> None:
    ended = command(tmp_path, shop_file, "ask", "Meu pedido 8842 já saiu?", "--as", "c18")
    assert "não foi encontrado" in ended.stdout + ended.stderr
    assert "Correios" not in ended.stdout + ended.stderr


def test_a_cancelling_waits_with_its_preview(tmp_path: Path, shop_file: Path) -> None:
    ended = command(tmp_path, shop_file, "ask", "Cancel order 8842", "--as", "s1")
    text = " ".join((ended.stdout + ended.stderr).split())
    assert "8842, 3 items, R$ 412,90, status paid → cancelled" in text


def test_a_shop_that_was_not_made_is_said_in_one_line(tmp_path: Path) -> None:
    ended = command(tmp_path, tmp_path / "none.db", "tools", "list", "--as", "s1")
    assert ended.returncode != 0
    assert "python -m shop.generate" in " ".join(ended.stderr.split())
    assert "Traceback" not in ended.stderr


def test_the_store_beside_the_shop_is_a_demonstration(tmp_path: Path) -> None:
    async def is_demo() -> bool:
        secret = read_or_make_secret(tmp_path / "new" / "placet.db.key")
        store = open_store_from_url(url, key=Keys.of(secret).audit)
        await store.open()
        answer = await store.is_demo()
        await store.close()
        return answer

    url = demonstration_store(tmp_path / "new" / "placet.db")
    assert asyncio.run(is_demo())
    assert demonstration_store(tmp_path / "new" / "placet.db") == url


async def test_a_demonstration_store_is_made_inside_an_event_loop_too(tmp_path: Path) -> None:
    demonstration_store(tmp_path / "placet.db")
    assert (tmp_path / "placet.db").exists()


def test_a_base_url_without_a_model_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="--model openai:NAME"):
        choose_model(AppOptions(base_url="http://127.0.0.1:1/v1"), {})


def test_a_model_that_is_asked_for_is_never_replaced() -> None:
    with pytest.raises(ConfigurationError, match="not the id of a model"):
        choose_model(AppOptions(model="nonsense"), {})


def test_a_key_in_the_environment_asks_the_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-made-up")
    assert choose_model(AppOptions(), os.environ).name.startswith("openai:")


def test_where_the_embedded_model_cannot_be_loaded_that_is_said_and_a_script_plays() -> None:
    told: list[str] = []
    model = choose_model(AppOptions(language="pt-BR", tell=told.append), {}, embedded="local:none-such")
    assert isinstance(model, ScriptedModel)
    assert told[0].startswith("O modelo embutido não pode ser carregado aqui (")


PART: list[tuple[str, tuple[str, dict[str, Any]] | None]] = [
    ("Meu pedido 8842 já saiu?", ("get_order_status", {"order_id": 8842})),
    ("Unde este comanda 8842?", ("get_order_status", {"order_id": 8842})),
    ("Cancele o pedido 8842", ("cancel_order", {"order_id": 8842})),
    ("Anulează comanda 8842", ("cancel_order", {"order_id": 8842})),
    ("Quais pedidos ainda não foram entregues?", ("list_orders", {"status": "not_delivered"})),
    ("Show me my orders", ("list_orders", {})),
    ("Ainda tem arroz em estoque?", ("check_stock", {"product": "arroz"})),
    ("Mai aveți cafea pe stoc?", ("check_stock", {"product": "cafea"})),
    ("Cum e vremea în Cluj?", ("get_weather", {"city": "cluj"})),
    ("Find the orders of ana.souza@example.com", ("search_orders_by_email", {"email": "ana.souza@example.com"})),
    ("Tell me a joke", None),
    ("8842; DROP TABLE orders" * 100, ("get_order_status", {"order_id": 8842})),
]


@pytest.mark.parametrize(("question", "call"), PART)
def test_the_understudy_knows_its_part(question: str, call: object) -> None:
    assert choose_call(question) == call
