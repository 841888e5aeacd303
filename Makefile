# What you need: Python 3.11 or newer, pip and make. Each target makes the virtual
# environment that it runs in. To choose the Python: make PYTHON=python3.12 test

PYTHON ?= python3.13 python3.12 python3.11 python3.14 python3 python
# Number of processes that run the tests
WORKERS ?= 2
# How long make fuzz runs; KIND and SEED run one of its cases again
MINUTES ?= 30
KIND ?=
SEED ?=

BIN := .venv/bin
INSTALL = -m pip install -qq --disable-pip-version-check
# Compiled kernels of an earlier state of the code must not reach the tests: numba
# does not notice when a kernel that another file calls has changed.
NUMBA_CACHE = $(CURDIR)/.numba_cache/test
PYTHON_OF = NUMBA_CACHE_DIR=$(NUMBA_CACHE) $(1)/bin/python
PYTEST = $(PYTHON_OF) -m pytest --quiet -n $(WORKERS) --dist worksteal

.PHONY: help demo test test-minimum fuzz torture bench lint clean
.DEFAULT_GOAL := help

help:
	@echo "make demo          what splboost does, on noisy labels"
	@echo "make test          lint, then all tests"
	@echo "make test-minimum  the tests with the oldest supported dependencies"
	@echo "make fuzz          random cases for MINUTES=30; KIND=fits SEED=1 is one again"
	@echo "make torture       kill everything that writes a file at every write"
	@echo "make bench         speed against scikit-learn and LightGBM"
	@echo "make lint          ruff and mypy"
	@echo "make clean         remove environments, caches and build products"

demo: .venv/installed
	@$(BIN)/python examples/demo.py

# Kernels are compiled in another process while mypy runs.
test: .venv/installed
	@rm -rf $(NUMBA_CACHE)
	@$(call PYTHON_OF,.venv) -m splboost.warmup >/dev/null 2>&1 & \
		trap "kill $$! 2>/dev/null || true" EXIT INT TERM; \
		$(MAKE) --no-print-directory lint && $(call PYTEST,.venv)

test-minimum: .venv-minimum/installed
	@rm -rf $(NUMBA_CACHE)
	@$(call PYTEST,.venv-minimum)

fuzz: .venv/installed
	@cd tests && ../$(BIN)/python -m fuzz.run --workers $(WORKERS) --minutes $(MINUTES) \
		$(if $(KIND),--kind $(KIND)) $(if $(SEED),--seed $(SEED))

torture: .venv/installed
	@cd tests && ../$(BIN)/python -m fuzz.torture

bench: .venv/installed
	@$(BIN)/python benchmarks/speed.py

lint: .venv/installed
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check . || \
		{ echo "Not formatted as ruff does it; run: $(BIN)/ruff format ."; exit 1; }
	@$(BIN)/mypy

.venv/installed: pyproject.toml
	@.ci/venv .venv 14 $(PYTHON)
	@echo "Installing splboost and its tools ..."
	@$(BIN)/python $(INSTALL) --editable ".[dev]"
	@touch $@

# The minimum versions predate Python 3.13.
.venv-minimum/installed: pyproject.toml
	@.ci/venv .venv-minimum 12 $(PYTHON)
	@echo "Installing splboost with its minimum versions ..."
	@.venv-minimum/bin/python .ci/minimum.py >.venv-minimum/constraints.txt
	@.venv-minimum/bin/python $(INSTALL) --editable ".[test]" \
		--constraint .venv-minimum/constraints.txt
	@touch $@

clean:
	@rm -rf .venv .venv-minimum .numba_cache .mypy_cache .pytest_cache .ruff_cache \
		.hypothesis build dist
	@find . -name .git -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +
