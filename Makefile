# Handrail. `make` alone lists the targets.
.DEFAULT_GOAL := help
SHELL := /bin/sh
.DELETE_ON_ERROR:

VENV := .venv
BIN := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest
WORKSPACE := $(CURDIR)/workspace
# Containers run as the owner of ./workspace, so that what they write there is yours; never as root.
COMPOSE := WORKDIR=$(WORKSPACE) HANDRAIL_UID=$$(stat -c %u $(WORKSPACE)) HANDRAIL_GID=$$(stat -c %g $(WORKSPACE)) docker compose

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z][a-z0-9-]*:.*## / { printf "  %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# ---- the environment: made once, again only when a lock file or the project changes

$(VENV)/pyvenv.cfg:
	@umask 022; python=$$(sh tools/python.sh) && echo "creating $(VENV) with $$python" && "$$python" -m venv $(VENV)

$(VENV)/.run: $(VENV)/pyvenv.cfg locks/embedded.txt pyproject.toml
	@if [ -e $(VENV)/.dev ] && [ ! $(VENV)/.dev -ot locks/dev.txt ] && [ ! $(VENV)/.dev -ot pyproject.toml ]; then touch $@; else \
	  umask 022; echo "installing Handrail ..."; \
	  $(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r locks/embedded.txt && \
	  $(BIN)/python -m pip install -q --disable-pip-version-check --no-deps -e . && \
	  $(BIN)/python -m compileall -q services/handrail && touch $@; fi

$(VENV)/.dev: $(VENV)/pyvenv.cfg locks/dev.txt pyproject.toml
	@umask 022; echo "installing Handrail and what its tests need ..."; \
	$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r locks/dev.txt && \
	$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps -e . && \
	$(BIN)/python -m compileall -q services/handrail && touch $@

venv: $(VENV)/.dev ## create .venv with everything that development needs

# ---- use it

run: $(VENV)/.run ## start Handrail on 127.0.0.1:18910 with ./workspace as work root; Ctrl-C stops it
	@exec $(BIN)/handrail start --workdir $(WORKSPACE)

demo: $(VENV)/.dev ## a scripted client finds, mends, tests and commits a bug over HTTP
	@$(BIN)/python -m tests.demo.run

up: ## start the compose stack on ./workspace
	@$(MAKE) -s workspace
	@$(COMPOSE) up -d --wait --build

workspace: # for root a directory of uid 10001: nothing in the stack runs as root
	@[ -d $(WORKSPACE) ] || mkdir $(WORKSPACE)
	@[ "$$(stat -c %u $(WORKSPACE))" != 0 ] || chown 10001:10001 $(WORKSPACE)

down: ## stop the compose stack; its volumes stay
	@$(MAKE) -s workspace
	@$(COMPOSE) down

logs: ## follow the logs of the compose stack
	@$(MAKE) -s workspace
	@$(COMPOSE) logs -f --tail=100

# ---- test it

test: $(VENV)/.dev packages ## all tests that need no Docker, on the real embedded Postgres and Valkey
	$(PYTEST)

test-security: $(VENV)/.dev packages ## the long suites: large random runs, races, floods
	$(PYTEST) tests/security --timeout=900

test-stack: $(VENV)/.dev ## build, start and attack the compose stack (Docker)
	$(PYTEST) tests/stack --timeout=1200

test-e2e: $(VENV)/.dev packages ## the page, and a hostile web page, in Debian's Chromium
	@sh tools/packages.sh chromium
	$(PYTEST) tests/e2e

bench: $(VENV)/.dev ## figures against their baselines; writes bench/results.json
	@$(BIN)/python -m tests.bench.run

lint: $(VENV)/.dev ## ruff, pyright, import-linter, house lints, generated documents
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports
	$(BIN)/python -m tools.houselint
	$(BIN)/python -m tools.gendocs --check

packages:
	@sh tools/packages.sh

# ---- look after it

stats: $(VENV)/.dev ## the marks of the code base
	@$(BIN)/python -m tools.stats

lock: $(VENV)/.dev ## resolve pyproject.toml into locks/
	bash tools/lock.sh

clean: ## remove .venv and caches; never data or ./workspace
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis .import_linter_cache .benchmarks build services/handrail.egg-info bench
	find services tests tools -name __pycache__ -type d -prune -exec rm -rf {} +

.PHONY: help venv run demo up workspace down logs test test-security test-stack test-e2e bench lint packages stats lock clean
