# Everything runs in a virtual environment of its own; `make test` and `make demo` need nothing but Python 3.11 or later.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test lint bench docs clean fresh

# The environment is made anew whenever what it is made from changes.
.venv/ready: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "discreet needs Python 3.11 or later; name one with: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	@touch $@

# A compiled kernel does not notice that another module it was built from has changed, so older ones are thrown away.
fresh: .venv/ready
	@find src -name '*.nbi' ! -newer "$$(ls -t src/discreet/kernels/*.py | head -n 1)" -delete

demo: fresh
	@rm -rf demo && mkdir demo
	@echo '$$ discreet example survey demo'
	@$(BIN)/discreet example survey demo
	@echo
	@echo '$$ discreet protect demo/survey.csv --config demo/survey.toml --k 5 -o demo/release.csv'
	@$(BIN)/discreet protect demo/survey.csv --config demo/survey.toml --k 5 -o demo/release.csv
	@echo
	@echo '$$ discreet verify demo/release.csv --promise demo/release.csv.release.json'
	@$(BIN)/discreet verify demo/release.csv --promise demo/release.csv.release.json
	@echo
	@echo '$$ head -n 4 demo/release.csv'
	@head -n 4 demo/release.csv

test: lint fresh
	$(BIN)/python -m pytest -n 2

lint: .venv/ready
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

bench: fresh
	$(BIN)/python -m benchmarks.classical
	$(BIN)/python -m benchmarks.linkage
	$(BIN)/python -m benchmarks.microaggregation
	$(BIN)/python -m benchmarks.tables

docs: .venv/ready
	$(BIN)/python tools/commands.py
	$(BIN)/zensical build --clean --strict

clean:
	rm -rf .venv demo site build dist
