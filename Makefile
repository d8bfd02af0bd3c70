# What a newcomer needs: `make reproduce` and `make test`. Both install first, once, into .venv.
#
#   PYTHON      the interpreter that makes .venv (3.11 or newer)
#   PIP_FLAGS   passed to pip, for example to choose a CPU build of torch (see README.md)
#   JOBS        processes that share the test suite
#   OUT         where `make reproduce` writes

PYTHON ?= python3
PIP_FLAGS ?=
JOBS ?= 2
PRESET ?= quick
OUT ?= runs/$(PRESET)

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --disable-pip-version-check -c constraints.txt $(PIP_FLAGS)
PYTEST := $(BIN)/python -m pytest
FAST := -m "not slow and not gpu"
SOURCES := src tests benchmarks docs/conf.py

# Tests run next to each other, one thread each.
test check fast-tests slow fuzz: export OMP_NUM_THREADS := 1
test check fast-tests slow fuzz: export NUMBA_NUM_THREADS := 1

.DEFAULT_GOAL := help
.PHONY: help reproduce language test check format lint types fast-tests slow fuzz bench docs clean

help:  ## Show this list.
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1|/' | awk -F'|' '{printf "make %-11s %s\n", $$1, $$2}'

reproduce: $(VENV)/.installed  ## Train the paper's main figure and write a report (about 15 minutes).
	$(BIN)/recherche reproduce --preset $(PRESET) --out $(OUT)

language: $(VENV)/.installed-lm  ## From nothing to language models that search, measured (about 30 minutes).
	$(BIN)/recherche language --out runs/language

test: format lint types  ## Check format, lint and types, then run the whole test suite.
	$(PYTEST) -n $(JOBS) -m "not gpu"

check: format lint types fast-tests  ## The same with the fast tests only.

format: $(VENV)/.installed-test  ## Check that ruff has nothing to reformat.
	$(BIN)/ruff format --check $(SOURCES)

lint: $(VENV)/.installed-test  ## Run ruff's rules.
	$(BIN)/ruff check $(SOURCES)

types: $(VENV)/.installed-test  ## Run mypy.
	$(BIN)/mypy

fast-tests: $(VENV)/.installed-test  ## Run the tests that take no minutes.
	$(PYTEST) -n $(JOBS) $(FAST)

slow: $(VENV)/.installed-test fuzz  ## Fuzz the searches and run every proof at full size.
	$(BIN)/recherche prove all --full

fuzz: $(VENV)/.installed-test  ## A million differential comparisons of the search engine.
	RECHERCHE_FUZZ=1000000 $(PYTEST) -m slow tests/retrieval

bench: $(VENV)/.installed-test  ## Run every benchmark; one JSON object per line.
	@for file in $(filter-out benchmarks/harness.py benchmarks/__init__.py,$(wildcard benchmarks/*.py)); do \
	  $(BIN)/recherche bench $$(basename $$file .py) --json || exit 1; done

docs: $(VENV)/.installed-docs  ## Build the pages of docs/ as HTML into build/docs.
	$(BIN)/python -m sphinx -W -b html docs build/docs

clean:  ## Remove what was built, caches and .venv; runs/ stays.
	rm -rf $(VENV) build dist src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

# A stamp is older than the files that say what to install, or the installation is up to date.
$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else \
	  "recherche needs Python 3.11 or newer, found " + sys.version.split()[0] + "; run make PYTHON=/path/to/python3")'
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.installed: pyproject.toml constraints.txt | $(VENV)/.made
	$(PIP) -e .
	@touch $@

$(VENV)/.installed-lm: pyproject.toml constraints.txt | $(VENV)/.made
	$(PIP) -e '.[lm]'
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-test: pyproject.toml constraints.txt | $(VENV)/.made
	$(PIP) -e '.[test]'
	@touch $@ $(VENV)/.installed $(VENV)/.installed-lm

$(VENV)/.installed-docs: pyproject.toml constraints.txt | $(VENV)/.made
	$(PIP) -e '.[docs]'
	@touch $@ $(VENV)/.installed
