# The environment is .venv; a stamp in it says which extras are installed.
#   make demo [MODE=graph|pynative] [DATA=folder of IDX files] [SEEDS=n] [EPOCHS=n]
#   make test [ARGS='tests/core -k dtype']

MODE ?= graph
DATA ?= .data/mnist
SEEDS ?= 1
EPOCHS ?= 10
WORKERS ?= 2
ARGS ?=

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.PHONY: demo test test-newest test-all bench bench-peers lint venv clean

# The first Python that MindJAX supports and that can make environments; pyenv's are tried last.
CANDIDATES = python3.11 python3.12 python3.13 python3 $(wildcard $(HOME)/.pyenv/versions/3.1[123]*/bin/python3)
SUPPORTED = import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))
PYTHON ?= $(shell for p in $(CANDIDATES); do $$p -c '$(SUPPORTED)' 2>/dev/null && { echo $$p; break; }; done)
# The newest one, for test-newest.
NEWEST_CANDIDATES = $(wildcard $(HOME)/.pyenv/versions/3.13*/bin/python3) python3.13 $(wildcard $(HOME)/.pyenv/versions/3.12*/bin/python3) python3.12 python3.11
NEWEST ?= $(shell for p in $(NEWEST_CANDIDATES); do $$p -c '$(SUPPORTED)' 2>/dev/null && { echo $$p; break; }; done)

BIN := .venv/bin

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "no Python 3.11 to 3.13 found; name one: make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv .venv

.venv/.demo: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install -q -e '.[demo]'
	touch $@

.venv/.dev: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install -q -e '.[dev]'
	touch .venv/.demo $@

# The plugin of the platform ascend, where JAX_PLATFORMS names it; the demo then says what ran where.
ASCEND := $(findstring ascend,$(JAX_PLATFORMS))
.venv/.ascend: backends/ascend_xla/pyproject.toml | .venv/.demo
	$(BIN)/python -m pip install -q ./backends/ascend_xla
	touch $@

venv: .venv/.dev

.data/mnist: | .venv/.demo
	$(BIN)/mindjax demo-data $@

demo: .venv/.demo $(if $(ASCEND),.venv/.ascend) $(if $(filter .data/mnist,$(DATA)),.data/mnist)
	@for seed in $$(seq $(SEEDS)); do \
	  $(BIN)/mindjax $(if $(ASCEND),ascend report,run) examples/lenet5_mnist.py \
	    --mode $(MODE) --data "$(DATA)" $(if $(ASCEND),--device_target Ascend) \
	    --epochs $(EPOCHS) --seed $$seed --ckpt .data/checkpoints/$(MODE)-$$seed; \
	done | tee .data/demo.log
	@awk '/^test accuracy/ { n++; sum += $$3 } END { if (n > 1) printf "mean of %d seeds: %.4f\n", n, sum / n }' .data/demo.log

test: .venv/.dev
	$(BIN)/python -m pytest -q -n $(WORKERS) -m 'not oracle and not slow' $(ARGS)

test-newest:
	@test -n "$(NEWEST)" || { echo "no Python 3.11 to 3.13 found"; exit 1; }
	test -x .venv-newest/bin/python || $(NEWEST) -m venv .venv-newest
	.venv-newest/bin/python -m pip install -q --upgrade -e '.[dev]'
	.venv-newest/bin/python -m pytest -q -n $(WORKERS) -m 'not oracle and not slow' $(ARGS)

# The original runs in an environment of its own: it needs numpy<2, and must never share a process.
ORACLE ?= $(HOME)/.cache/mindjax-oracle
$(ORACLE)/bin/python:
	python3.11 -m venv $(ORACLE)
	$(ORACLE)/bin/pip install -q 'mindspore==2.10.0' 'numpy<2' 'scipy<1.14' pillow

.venv/.reviews: .venv/.dev
	$(BIN)/python -m pip install -q -e '.[reviews]'
	touch $@

# Real networks as ONNX files, out of packages that carry them.
.data/onnx: | .venv/.dev
	$(BIN)/python -m pip download -q --no-deps -d $@.wheels \
	  rapidocr-onnxruntime==1.4.4 silero-vad==6.2.3
	for wheel in $@.wheels/*.whl; do $(BIN)/python -m zipfile -e $$wheel $@; done
	rm -r $@.wheels

test-all: .venv/.dev .venv/.reviews .data/onnx $(ORACLE)/bin/python
	MINDJAX_TESTS_OPTIMIZED=1 MINDJAX_ONNX_MODELS=.data/onnx MINDJAX_ORACLE_PYTHON=$(ORACLE)/bin/python $(BIN)/python -m pytest -q -n $(WORKERS) $(ARGS)

bench: .venv/.dev
	$(BIN)/python benchmarks/train_step.py
	$(BIN)/python benchmarks/import_time.py
	$(BIN)/python benchmarks/data_sinking.py
	$(BIN)/python benchmarks/traces.py
	$(BIN)/python benchmarks/ascend.py
	PYTHONPATH=backends/ascend_xla $(BIN)/python benchmarks/kernels.py

.venv-torch/bin/python:
	$(PYTHON) -m venv .venv-torch
	.venv-torch/bin/pip install -q 'torch==2.13.0' 'numpy<3'

bench-peers: .venv/.dev $(ORACLE)/bin/python .venv-torch/bin/python
	MINDJAX_ORACLE_PYTHON=$(ORACLE)/bin/python MINDJAX_TORCH_PYTHON=.venv-torch/bin/python \
	  $(MAKE) bench

lint: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

clean:
	rm -rf .venv .venv-newest .venv-torch .data build dist *.egg-info .pytest_cache .ruff_cache
