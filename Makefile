# Everything runs in a virtual environment of its own; `make test` and `make demo` need nothing but Python 3.11 or later.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test lint bench campaign docs clean

# The environment is made anew whenever what it is made from changes.
.venv/ready: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "discreet needs Python 3.11 or later; name one with: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	@touch $@

demo: .venv/ready
	@rm -rf demo && mkdir demo
	@echo '$$ discreet example survey demo'
	@$(BIN)/discreet example survey demo
	@echo
	@echo '$$ discreet protect demo/survey.csv --config demo/survey.toml --k 5 -o demo/release.csv --report'
	@$(BIN)/discreet protect demo/survey.csv --config demo/survey.toml --k 5 -o demo/release.csv --report
	@echo
	@echo '$$ discreet verify demo/release.csv --promise demo/release.csv.release.json'
	@$(BIN)/discreet verify demo/release.csv --promise demo/release.csv.release.json
	@echo
	@echo '$$ head -n 4 demo/release.csv'
	@head -n 4 demo/release.csv
	@echo
	@echo '$$ discreet example companies demo'
	@$(BIN)/discreet example companies demo
	@echo
	@echo '$$ discreet tabulate demo/companies.csv --by district@demo/region.hrc --by size_class --value turnover --holding holding -o demo/turnover.parquet'
	@$(BIN)/discreet tabulate demo/companies.csv --by district@demo/region.hrc --by size_class --value turnover --holding holding -o demo/turnover.parquet
	@echo
	@echo '$$ discreet primary demo/turnover.parquet --p 10 --threshold 3 -o demo/flagged.parquet'
	@$(BIN)/discreet primary demo/turnover.parquet --p 10 --threshold 3 -o demo/flagged.parquet
	@echo
	@echo '$$ discreet suppress demo/flagged.parquet -o demo/public.csv --time 3'
	@$(BIN)/discreet suppress demo/flagged.parquet -o demo/public.csv --time 3
	@echo
	@echo '$$ head -n 8 demo/public.csv'
	@head -n 8 demo/public.csv
	@echo
	@echo 'To do the same in a browser: $(BIN)/discreet app demo'

# Tests that need a browser or a database server are left out where there is none; the end says which, and why.
test: lint
	$(BIN)/python -m pytest -n 2 -rs --no-fold-skipped

lint: .venv/ready
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

bench: .venv/ready
	$(BIN)/python -m benchmarks.classical
	$(BIN)/python -m benchmarks.linkage
	$(BIN)/python -m benchmarks.microaggregation
	$(BIN)/python -m benchmarks.grouping
	$(BIN)/python -m benchmarks.tables
	$(BIN)/python -m benchmarks.suppression
	$(BIN)/python -m benchmarks.first_run

# Ten minutes more of hostile trials; what they tried is added to docs/campaign.md.
MINUTES ?= 10
campaign: .venv/ready
	cd tools && ../$(BIN)/python -m campaign --minutes $(MINUTES)

docs: .venv/ready
	$(BIN)/python tools/commands.py
	$(BIN)/python tools/api.py
	$(BIN)/python tools/architecture.py
	$(BIN)/python tools/wrap.py
	$(BIN)/zensical build --clean --strict

clean:
	rm -rf .venv demo site build dist
