# blindsave: setup, study, test, check, bench. Every target prepares what it needs.
PYTHON ?= python3
EXTRAS ?= dev
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.ready
NATIVE := $(shell find src/blindsave -name '*.[ch]' -o -name '*.inc')

.PHONY: setup study test check format bench clean

setup: $(STAMP)

$(STAMP): pyproject.toml setup.py $(NATIVE)
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$(EXTRAS)]'
	@touch $(STAMP)

study: setup
	$(BIN)/blindsave study --scale quick

test: setup
	$(BIN)/python -m pytest -n auto --dist loadfile

check: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright

format: setup
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: setup
	$(BIN)/blindsave bench sim

clean:
	rm -rf build $(VENV) src/*.egg-info
	find src -name '*.so' -delete
