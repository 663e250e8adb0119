PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -qq
LOCKED := $(PIP) install --require-hashes --no-build-isolation
COMPILE := echo setuptools | $(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --no-annotate --custom-compile-command "make lock" pyproject.toml -

.PHONY: setup serve test lint types arch bench lock

setup: .venv/.dev

serve: .venv/.server
	@$(BIN)/forq serve --dev

test: .venv/.dev
	$(BIN)/python -m pytest -n 2 --dist loadfile

lint: .venv/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: .venv/.dev
	$(BIN)/mypy

arch: .venv/.dev
	$(BIN)/lint-imports

bench: .venv/.dev
	$(BIN)/python -m bench

lock: .venv/.dev
	$(COMPILE) --extra server --extra dev --output-file requirements/dev.lock
	$(COMPILE) --extra server --constraint requirements/dev.lock --output-file requirements/server.lock
	$(COMPILE) --extra fast --constraint requirements/dev.lock --output-file requirements/fast.lock

# A bare Debian has Python without venv; only root can add it.
$(BIN)/python:
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || test "$$(id -u)" != 0 || \
		{ apt-get update -qq && apt-get install --yes -qq python3-venv; }
	$(PYTHON) -m venv .venv

.venv/.%: requirements/%.lock requirements/fast.lock pyproject.toml | $(BIN)/python
	$(LOCKED) -r requirements/$*.lock
	@$(LOCKED) -r requirements/fast.lock 2>.venv/fast.log || \
		echo "note: no C compiler for gunicorn's fast parser (.venv/fast.log); Forq works without it, slower"
	$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@
