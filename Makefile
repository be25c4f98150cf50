# Everything a fresh machine needs is python3 (3.11+) and make: each entrance sets up .venv first.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test check bench docs lock clean

demo: .venv/ready
	$(BIN)/evenodds demo

test: .venv/ready
	$(BIN)/python -m pytest -n 2

check: .venv/ready
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(MAKE) test

bench: .venv/ready
	$(BIN)/pip install -q -r benchmarks/requirements.txt
	$(BIN)/python -m benchmarks.run

# The documentation is plain Markdown in README.md and docs/; this runs every example in it.
docs: .venv/ready
	$(BIN)/python -m pytest README.md docs tests/test_docs_console.py

# The lock pins every package by hash; pip checks them. Remake it after changing pyproject.toml.
lock: .venv/ready
	$(BIN)/pip install -q uv
	$(BIN)/uv pip compile pyproject.toml --extra dev --universal --generate-hashes --no-header -q -o requirements.lock

.venv/ready: requirements.lock pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install -q --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

clean:
	rm -rf .venv dist build .mypy_cache .ruff_cache .hypothesis
