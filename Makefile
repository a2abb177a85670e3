# Each target makes what it needs: `make demo` runs the main job, `make test` the tests.
PYTHON ?= python3
VENV ?= .venv
TEST = $(VENV)/bin/python -m pytest --numprocesses=auto --maxprocesses=4 --dist=loadfile \
	--no-loadscope-reorder

.PHONY: demo test test-all lint clean

demo: $(VENV)/.installed
	$(VENV)/bin/kerasnmt demo --output demo

test: $(VENV)/.installed-test
	$(TEST) -m "not thorough"

test-all: $(VENV)/.installed-test
	$(TEST)

lint: $(VENV)/.installed-test
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .

$(VENV)/bin/python:
	$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'kerasnmt needs Python 3.11 or newer')"
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	$(VENV)/bin/python -m pip install --quiet --editable .
	touch $@

$(VENV)/.installed-test: pyproject.toml | $(VENV)/bin/python
	$(VENV)/bin/python -m pip install --quiet --editable ".[test]"
	touch $@ $(VENV)/.installed

clean:
	rm -rf $(VENV) demo build *.egg-info
