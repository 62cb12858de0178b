# blindsave: study, setup, test, check, docs, wheel, bench. Every target prepares what it needs, once.
PYTHON ?= python3
EXTRAS ?= dev
VENV   := .venv
BIN    := $(VENV)/bin
LIGHT  := $(VENV)/.light
STAMP  := $(VENV)/.ready
NATIVE := $(shell find src/blindsave -name '*.[ch]' -o -name '*.inc')

.PHONY: setup study test check format docs wheel bench main-study clean

setup: $(STAMP)

# What a study needs: no JAX, no Ray, no developers' tools. A full setup holds it too.
$(LIGHT): pyproject.toml setup.py $(NATIVE)
	@test -x $(BIN)/python || { echo "making a virtual environment in $(VENV)"; $(PYTHON) -m venv $(VENV); }
	@echo "installing blindsave, MuJoCo, NumPy, PyArrow and Matplotlib into $(VENV), and compiling its C (once)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(STAMP): pyproject.toml setup.py $(NATIVE)
	@test -x $(BIN)/python || { echo "making a virtual environment in $(VENV)"; $(PYTHON) -m venv $(VENV); }
	@echo "installing blindsave[$(EXTRAS)] into $(VENV), and compiling its C (once, minutes)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$(EXTRAS)]'
	@touch $(LIGHT) $@

study: $(LIGHT)
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

docs: setup
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@echo "the site: site/index.html"

# One wheel for Python 3.11 and later (stable ABI), made from the source distribution, which lies beside it.
wheel: setup
	BLINDSAVE_REQUIRE_NATIVE=1 $(BIN)/python -m build --outdir dist

bench: $(LIGHT)
	$(BIN)/blindsave bench sim

# Make a finished study the main one: STUDY=folder ASIDE=name of the present one [TRAINING=folder of the new teacher's run].
main-study: setup
	$(BIN)/python docs/_tools/main_study.py install $(STUDY) --aside $(ASIDE) $(if $(TRAINING),--training $(TRAINING))
	$(BIN)/python docs/_tools/main_study.py derive

clean:
	rm -rf build dist site $(VENV) src/*.egg-info
	find src -name '*.so' -delete
