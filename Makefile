# Each target makes what it needs: `make demo` runs the main job, `make test` the tests.
PYTHON ?= python3
VENV ?= .venv
PYTEST = $(VENV)/bin/python -m pytest --numprocesses=auto --maxprocesses=4 --dist=loadfile \
	--no-loadscope-reorder
# These rooms are tested without a TensorFlow graph, but for the tests marked `graph`.
FAST = tests/layers tests/decoding tests/text tests/training/recipe

.PHONY: demo test test-fast test-thorough test-all mutants lint notebooks clean

demo: $(VENV)/.installed
	$(VENV)/bin/kerasnmt demo --output demo

test: $(VENV)/.installed-test
	$(PYTEST) -m "not thorough"

test-fast: $(VENV)/.installed-test
	$(PYTEST) -m "not thorough and not graph" $(FAST)

test-thorough: $(VENV)/.installed-test
	$(PYTEST) -m thorough

test-all: test test-thorough

mutants: $(VENV)/.installed-test
	$(VENV)/bin/python tests/mutation/run.py

lint: $(VENV)/.installed-test
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

# Each takes minutes: it runs only when its script is newer.
notebooks: $(patsubst %.py,%.ipynb,$(wildcard tutorials/[0-9]*.py))

tutorials/%.ipynb: tutorials/%.py | $(VENV)/.installed-notebooks
	$(VENV)/bin/python tutorials/make_notebooks.py $<

$(VENV)/bin/python:
	$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'kerasnmt needs Python 3.11 or newer')"
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	$(VENV)/bin/python -m pip install --quiet --editable .
	touch $@

$(VENV)/.installed-test: pyproject.toml | $(VENV)/bin/python
	$(VENV)/bin/python -m pip install --quiet --editable ".[test]"
	touch $@ $(VENV)/.installed

$(VENV)/.installed-notebooks: pyproject.toml | $(VENV)/bin/python
	$(VENV)/bin/python -m pip install --quiet --editable ".[notebooks]"
	touch $@ $(VENV)/.installed

clean:
	rm -rf $(VENV) demo build *.egg-info
