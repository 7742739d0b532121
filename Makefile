# make demo   train, evaluate and explain on texts this machine already has; writes demo/report.html
# make test   everything that must hold: format, lint, types, tests
# make docs   the site, built strictly and without a request to anyone, in site/
# make bench  speed and memory against what people use today, written to benchmarks/results
# Both work on a fresh checkout: the first thing they do is to set up .venv.

PYTHON ?= python3
BIN := .venv/bin
# Without bytecode files every start of torch takes twice as long.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo docs test test-slow bench setup clean

demo: setup
	$(BIN)/regard demo --out demo

test: setup
	PATH="$(CURDIR)/$(BIN):$$PATH" scripts/check

test-slow: setup
	$(BIN)/python -m pytest -m slow

# Every link between pages is checked: one that leads nowhere ends the build.
docs: setup
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

# Needs the IMDB reviews in ../shared/data and a quiet machine; about ten minutes.
bench: setup
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[bench]' -c constraints.txt
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/speed.py
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/memory.py
	$(BIN)/python benchmarks/threads.py
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/scaling.py

setup: .venv/done

.venv/done: pyproject.toml setup.py constraints.txt $(wildcard src/regard/kernels/*/*.[ch])
	@echo "Setting up .venv (once; about a minute)"
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]' -c constraints.txt
	@touch $@

clean:
	rm -rf .venv build demo src/regard/kernels/*.so src/*.egg-info
