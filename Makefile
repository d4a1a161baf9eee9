# Every target does its own set-up in .venv; where nothing changed, that takes no time.
#
#   make lab         open the book in JupyterLab
#   make check       before a commit: all that needs no browser, the model first, up to the first failure
#   make test        prove it: units, properties, notebooks, a real browser
#   make html        print it: the pages as HTML in build/html, to read without network, or on paper
#   make new         make a page that passes at once, to be rewritten (NAME=14_topic, TITLE="Das Thema")
#   make refresh     run all notebooks and store them in canonical form
#   make messages    bring the catalogues in step with the code, list what has no German yet
#   make editions    make the other editions from the German pages, list what has no translation yet
#   make retrain     train the shipped model again and print what it can do (LANGUAGE=en; four to five minutes)
#   make benchmark   slider latency, import time, running time of the notebooks (NANOGPT=...: a training step)
#   make lint        style and types of the code

PYTHON  ?= python3
WORKERS ?= 2
LANGUAGE := de
EDITIONS := de en
BIN     := .venv/bin
VERSION := $(shell cat requirements*.txt pyproject.toml Makefile | cksum | cut -d' ' -f1)
READER  := .venv/reader-$(VERSION)
MAKER   := .venv/maker-$(VERSION)

# A kernel that has to compile the package anew starts later, and the suite starts fifty.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: lab check test html new refresh messages editions retrain benchmark lint
.DEFAULT_GOAL := lab

lab: $(READER)
	$(BIN)/python -m jupyterlab --config=tokenwerk_helpers/jupyter/jupyter_lab_config.py $(LAB_OPTIONS)

# Left out: the browser, and whatever runs pages anew by nbval. The model goes first and alone: a broken line of it is
# named within seconds, before the workers have started.
MODEL := tests/decoder/test_model.py tests/decoder/test_attention.py
check: $(MAKER)
	$(BIN)/python -m pytest -x $(MODEL) $(PYTEST_OPTIONS)
	$(BIN)/python -m pytest -n $(WORKERS) -x -m "not browser and not nbval" tests $(MODEL:%=--ignore=%) $(PYTEST_OPTIONS)

test: $(MAKER)
	$(BIN)/python -m pytest -n $(WORKERS) $(PYTEST_OPTIONS)

html: $(READER)
	for edition in $(EDITIONS); do $(BIN)/python -m nbconvert --to tokenwerk_helpers.jupyter.book.Book \
	  --output-dir build/html/$$edition notebooks/$$edition/*.ipynb || exit 1; done

new: $(MAKER)
	@[ -n "$(NAME)" ] || { echo 'Which page? For example: make new NAME=14_topic TITLE="Das Thema"' >&2; exit 1; }
	$(BIN)/python -m tokenwerk_helpers.tools.new $(NAME) $(if $(TITLE),--title "$(TITLE)")

refresh: $(MAKER)
	$(BIN)/python -m tokenwerk_helpers.tools.refresh $(NOTEBOOKS)

messages: $(MAKER)
	$(BIN)/python -m tokenwerk_helpers.tools.messages update
	$(BIN)/python -m tokenwerk_helpers.tools.messages missing

editions: $(MAKER)
	$(BIN)/python -m tokenwerk_helpers.tools.editions update
	$(BIN)/python -m tokenwerk_helpers.tools.editions make

retrain: $(READER)
	$(BIN)/python -m tokenwerk_helpers.tools.retrain --language $(LANGUAGE) $(RETRAIN_OPTIONS)

benchmark: $(MAKER)
	$(BIN)/python -m tests.benchmarks.slider_latency
	$(BIN)/python -m tests.benchmarks.running_time
	@if [ -n "$(NANOGPT)" ]; then $(BIN)/python -m tests.benchmarks.training_step "$(NANOGPT)"; \
	  else echo "A training step beside nanoGPT's: make benchmark NANOGPT=path/to/nanoGPT"; fi

lint: $(MAKER)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m mypy

# ---- set-up ----
# The stamps carry a checksum of what they were installed from: a change there makes a new stamp necessary.

$(READER): WANTED := requirements.txt
$(READER): STAMPS := $(READER)
$(MAKER):  WANTED := requirements-dev.txt
$(MAKER):  STAMPS := $(READER) $(MAKER)
$(READER) $(MAKER):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	  { echo "Python 3.11 or newer is needed; '$(PYTHON)' is not. Try: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear .venv || \
	  { echo "No virtual environment could be made. On Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
	@echo "Installing $(WANTED) into .venv; the first time this takes a few minutes."
	@$(BIN)/python -m pip install --disable-pip-version-check --quiet -r $(WANTED)
	@rm -f $(filter-out %-$(VERSION),$(wildcard .venv/reader-* .venv/maker-*))
	@touch $(STAMPS)
