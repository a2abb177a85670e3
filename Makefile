# Each target makes what it needs: `make demo` runs the main job, `make test` the tests.
PYTHON ?= python3
VENV ?= .venv
CONSTRAINTS ?= /dev/null
PYTEST = $(VENV)/bin/python -m pytest --numprocesses=auto --maxprocesses=4 --dist=loadfile \
	--no-loadscope-reorder
# These presets run in the browser, on a page of `make site`.
LIVE = dates_iso numbers_to_words words_to_numbers sorting_pointer scenes_en scenes_de babi_memory \
	$(notdir $(wildcard kerasnmt/presets/tatoeba_*_gru kerasnmt/presets/g2p zoo/presets/g2p_*))
# The folders of their JavaScript and their page, in `kerasnmt/`.
PAGE = serving/runtimes/web/javascript serving/runtimes/web/javascript/page viz/page
STUB = kerasnmt/zoo/__init__.pyi
# These rooms are tested without a TensorFlow graph, but for the tests marked `graph`.
FAST = tests/speed tests/layers tests/decoding tests/text tests/training/recipe

# The installation and the stub need the environment, which one target makes at a time.
.NOTPARALLEL:
.PHONY: demo test test-fast test-thorough test-all test-oldest test-beam mutants figures lint dist docs site \
	notebooks clean

demo: $(VENV)/.installed
	$(VENV)/bin/kerasnmt demo --output demo

test: $(VENV)/.installed-test
	$(PYTEST) -m "not thorough"

test-fast: $(VENV)/.installed-test
	$(PYTEST) -m "not thorough and not graph" $(FAST)

# `make test-thorough WITHIN=10` runs those of what changed, as many as start within ten minutes.
test-thorough: $(VENV)/.installed-test
	$(PYTEST) -m thorough $(if $(WITHIN),--affected --within $(WITHIN))

test-all: test test-thorough

# The lowest versions that `pyproject.toml` allows, in an environment of their own.
test-oldest:
	$(MAKE) test VENV=.venv-oldest CONSTRAINTS=tests/oldest.txt

# Apache Beam needs older versions of some packages, so it has an environment of its own.
test-beam:
	$(MAKE) .venv-beam/.installed-test,beam VENV=.venv-beam
	.venv-beam/bin/python -m pytest tests/serving/bulk tests/cli/test_translate_files.py \
		"tests/tutorials/test_guides.py::test_code_runs[bulk]" \
		"tests/tutorials/test_guides.py::test_code_is_valid[bulk]"

mutants: $(VENV)/.installed-test
	$(VENV)/bin/python benchmarks/mutation/run.py

# Takes hours. Results of the present code are kept.
figures: $(VENV)/.installed-test
	$(VENV)/bin/python benchmarks/figures.py

lint: $(VENV)/.installed-test $(STUB)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

# `build` makes the wheels from the sdists. An environment of its own, away from this folder, tries them,
# kerasnmt first without its second package, zoo/presets.
dist: $(VENV)/.installed $(STUB)
	$(VENV)/bin/python -m pip install --quiet build twine
	rm -rf dist
	for package in . zoo/presets; do $(VENV)/bin/python -m build $$package --outdir dist || exit; done
	$(VENV)/bin/python -m twine check --strict dist/*
	$(VENV)/bin/python -m venv dist/try
	dist/try/bin/python -m pip install --quiet "$$(ls dist/kerasnmt-*.whl)[all]"
	cd dist/try && bin/kerasnmt --version && bin/kerasnmt presets
	cd dist/try && echo "Guten Morgen" | bin/kerasnmt translate g2p --language deu
	cd dist/try && echo "GOOD MORNING!" | bin/kerasnmt translate tatoeba_en_de_gru
	cd dist/try && ! bin/kerasnmt presets g2p_dutch
	dist/try/bin/python -m pip install --quiet dist/kerasnmt_presets-*.whl
	cd dist/try && echo "fiets" | bin/kerasnmt translate g2p_dutch
	rm -r dist/try

docs: $(VENV)/.installed-docs $(STUB)
	NO_MKDOCS_2_WARNING=1 $(VENV)/bin/python -m mkdocs build --strict

site: $(LIVE:%=build/live/%)
	$(MAKE) docs

build/live/%: $(wildcard $(addprefix kerasnmt/, $(addsuffix /*, $(PAGE)))) | $(VENV)/.installed
	rm -rf $@
	$(VENV)/bin/kerasnmt export $* $@ --runtime web

# Each takes minutes: it runs only when its script is newer.
notebooks: $(patsubst %.py,%.ipynb,$(wildcard tutorials/[0-9]*.py))

tutorials/%.ipynb: tutorials/%.py | $(VENV)/.installed-docs
	$(VENV)/bin/python tutorials/make_notebooks.py $<

$(VENV)/bin/python:
	$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'kerasnmt needs Python 3.11 or newer')"
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	$(VENV)/bin/python -m pip install --quiet --editable ".[all]"
	$(MAKE) --silent $(STUB)
	touch $@

# With the extra `test` or `docs`.
$(VENV)/.installed-%: pyproject.toml | $(VENV)/bin/python
	$(VENV)/bin/python -m pip install --quiet --editable ".[$*]" --constraint $(CONSTRAINTS)
	$(MAKE) --silent $(STUB)
	touch $@ $(VENV)/.installed

# The signatures of the zoo for editors and type checkers, which the wheel contains.
$(STUB): $(wildcard kerasnmt/zoo/*.py) tests/zoo/stub.py
	$(VENV)/bin/python -m tests.zoo.stub 2> $(VENV)/stub.log || { cat $(VENV)/stub.log; exit 1; }

clean:
	rm -rf $(VENV) .venv-oldest .venv-beam .npm demo build dist *.egg-info
