# Two commands, each of which does all the set-up it needs:
#   make evals   run the main job on the embedded default: no key, no network beyond the package index
#   make test    run all the tests
.PHONY: evals test proofs mutations figures bench instructions profile check docs lock
.DEFAULT_GOAL := evals

# The tests start Python hundreds of times: compiled modules are kept, whatever the environment says.
unexport PYTHONDONTWRITEBYTECODE

PYTHON ?= python3
UV := $(shell command -v uv)
VENV := .venv
# One environment: `make evals` alone puts into it what a run needs, and everything else adds the rest. Whatever both need
# has the same version in both lock files, so neither undoes the other's work.
RUNS := $(VENV)/.runs
READY := $(VENV)/.ready
DOCS_READY := $(VENV)/docs/.ready
.NOTPARALLEL: # two installers in one environment get in each other's way

evals: $(if $(wildcard $(READY)),$(READY),$(RUNS))
	$(VENV)/bin/harness evals data_governance

# Many tests wait for processes: three at a time keep two cores busy, and each one more imports the SDKs again.
test: $(READY)
	$(VENV)/bin/python -m pytest -n 3 --dist worksteal -m "not slow"
	@echo "Left out: the slow proofs (thousands of examples, whole programs, the rarer of many kinds), and 29 examples in 30 of each property; make proofs runs them."

# The slow proofs, and every property with 300 examples instead of 10; `.ci/run` runs this after the tests.
proofs: $(READY)
	HARNESS_EXAMPLES=300 $(VENV)/bin/python -m pytest -n 4 --dist worksteal -m "slow or hypothesis" --timeout 1200

# Whether the tests notice mistakes in the code that judges: a sample of them, made one at a time.
mutations: $(READY)
	$(VENV)/bin/python -m tests.mutations

# Files per folder, longest file, import cycles and the like; docs/architecture.md shows them.
figures: $(READY)
	$(VENV)/bin/python -m tests.figures

# What the harness costs beside the same work written by hand; docs/performance.md says what it measures.
bench: $(READY)
	$(VENV)/bin/python -m benchmarks

# Instructions of a start, of cases and of a probe, compared with benchmarks/instructions.json; needs valgrind.
# `make instructions KEEP=--keep` writes that file anew.
instructions: $(READY)
	$(VENV)/bin/python -m benchmarks.instructions $(KEEP)

# Where a start spends its time: imports, dataclasses, functions. `make profile COMMAND="evals --help"` for another.
profile: $(READY)
	$(VENV)/bin/python -m benchmarks.profile_start $(COMMAND)

# Formatter, linter and type checker; `.ci/run` calls it after the tests.
check: $(READY)
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	$(VENV)/bin/mypy

# The documentation as a site, in build/manual/site; a dead link is an error. Its tools have an environment of their own.
docs: $(READY) $(DOCS_READY)
	$(VENV)/bin/python -m docs.site

$(DOCS_READY): requirements-docs.lock | $(READY)
	$(PYTHON) -m venv $(VENV)/docs
	$(VENV)/docs/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-docs.lock
	touch $@

# With uv where it is there, else with pip; and with pip as well where uv fails: an index may stand in pip's settings alone.
UV_INSTALL := uv pip install --quiet --python $(VENV)/bin/python
PIP_INSTALL := $(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-compile
with_uv = $(UV_INSTALL) --require-hashes -r $< && $(UV_INSTALL) --no-deps --no-build-isolation -e .
with_pip = $(PIP_INSTALL) --require-hashes -r $< && $(PIP_INSTALL) --no-deps --no-build-isolation -e .
define install
@echo "Installing the packages of $<"
@$(PYTHON) -m venv $(VENV)
@$(if $(UV),$(with_uv) || { $(with_pip); },$(with_pip))
@touch $@
endef

$(RUNS): requirements-evals.lock pyproject.toml
	$(install)

$(READY): requirements.lock pyproject.toml
	$(install)

# Pin everything anew after a change of pyproject.toml: what development needs, of that what a run needs, and the site's tools.
COMPILE := uv pip compile --quiet --universal --generate-hashes --python-version 3.11 --no-annotate --no-header \
	--no-emit-index-url --no-emit-find-links
lock:
	$(COMPILE) --group dev --all-extras pyproject.toml --output-file requirements.lock
	$(COMPILE) --group build --constraint requirements.lock pyproject.toml --output-file requirements-evals.lock
	$(COMPILE) --group docs --output-file requirements-docs.lock
