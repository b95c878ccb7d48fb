# `make demo` and `make test` need Python 3.10 or newer, gcc and make; everything else goes into .venv.
PY := .venv/bin/python
READY := .venv/.ready
SOURCES := $(wildcard polymat/*/*.c polymat/*/*.h polymat/*.c polymat/*.h)
KERNELS := $(wildcard polymat/codegen/kernels/*.h polymat/codegen/kernels/*/*.h)
TEST_CACHE := .venv/test-cache
# The second pass, with a filled cache, repeats tests that load compiled code: all of what loads and calls it,
# and a few random programs; not the calls under sanitizers, which are those of the others, and not
# what has an empty cache of its own each time.
WARM_TESTS := $(wildcard tests/runtime) \
    $(addsuffix ::test_outputs_given_and_inputs_strided,$(wildcard tests/differential/test_random.py))
ALIKE := $(addprefix --ignore=tests/runtime/,test_call_sanitized.py test_cache.py) \
    $(addprefix --deselect=tests/runtime/test_concurrency.py::,test_six_processes_fill_one_empty_cache \
    test_a_damaged_cache_is_healed_by_the_next_process)
JOBS ?= 2
# The peers run on the same Python and NumPy as polymat's; torch is the CPU's build where there is a choice.
PEERS := numpy scipy numba jax "torch==2.13.0" threadpoolctl mkl halide opencv-python-headless
ARGS ?=
# A run draws random programs of its own, the same in both passes; continuous integration repeats one choice,
# so that a failure is the change's.  Which tests it takes of those that are not all run, and how gcc compiles
# them, goes by the day of the last commit: all of them have their turn, and a commit has the same ones again.
POLYMAT_SEED := $(or $(POLYMAT_SEED),$(if $(CI),11,$(shell date +%s)))
COMMITTED := $(if $(CI),$(shell git log -1 --format=%cd --date=format:%Y%m%d 2>/dev/null))
POLYMAT_SETS := $(or $(POLYMAT_SETS),$(COMMITTED),$(POLYMAT_SEED))

export POLYMAT_SEED POLYMAT_SETS
export PYTHONNOUSERSITE := 1
unexport PYTHONHOME
# What Python makes of sources is kept, whatever the environment says of that: tests start hundreds of processes,
# of which each would compile polymat first, in a third of its time.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup demo test golden sanitize lint format types layers pythons peers bench results docs dist clean

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 16

setup: $(READY) ## the virtual environment and the compiled extension

$(READY): pyproject.toml setup.py .ci/venv $(SOURCES)
	@sh .ci/venv
	@touch $@

demo: $(READY) ## a short tour: compiles a few pipelines and times them beside NumPy
	@$(PY) -m benchmarks.demo

test: $(READY) ## all tests with an empty cache, then those that load compiled code with a full one
	@rm -rf $(TEST_CACHE)
	$(PY) -m pytest -n $(JOBS) --dist worksteal --kernel-cache=$(TEST_CACHE) $(ARGS)
ifeq ($(ARGS),)
	@echo "-- again, with the cache of the first pass"
	$(PY) -m pytest -n $(JOBS) --dist worksteal --kernel-cache=$(TEST_CACHE) $(WARM_TESTS) $(ALIKE)
endif

golden: $(READY) ## rewrite tests/golden with what is printed now; read the difference before it is committed
	$(PY) -m pytest -q --update-golden

sanitize: $(READY) ## random programs in sanitized code, every way of compiling; ARGS="--count 1000 paper"
	$(PY) -m tests.differential.sanitized $(ARGS)

lint: $(READY) ## ruff, the formatters of Python and C, and spelling
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	.venv/bin/clang-format --dry-run -Werror $(KERNELS)
	.venv/bin/typos

format: $(READY) ## rewrite the sources as the formatters want them
	$(PY) -m ruff check --fix-only .
	$(PY) -m ruff format .
	.venv/bin/clang-format -i $(KERNELS)

types: $(READY) ## mypy --strict on the package, the tests and the examples
	@if $(PY) -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then \
	    echo "$(PY) -m mypy"; $(PY) -m mypy; \
	else \
	    echo "not checked: NumPy for Python 3.10 has other types than the ones polymat is checked against"; \
	fi

layers: $(READY) ## imports point one way
	.venv/bin/lint-imports

pythons: $(READY) ## try polymat out with every other Python 3.10 to 3.14 that is installed
	@sh .ci/pythons

peers: $(READY) ## .venv-peers with what benchmarks compare with: Numba, Halide, OpenCV, JAX, PyTorch, MKL
	$(PY) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check --only-binary :all: $(PEERS)

bench: $(READY) ## figures beside those of peers: ARGS="blas2 products --quick", all sections without
	$(PY) -m benchmarks.run $(ARGS)

results: $(READY) ## README's tables, the papers' page and audits' pictures again, from benchmarks/results
	@$(PY) -m benchmarks.figures

docs: $(READY) ## README's tables, and the documentation as a site, in build/docs; a warning, or a link that leads nowhere, is an error
	$(PY) -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	@$(PY) -m benchmarks.figures
	@rm -f build/docs/.whole
	$(PY) -m sphinx -E -W --keep-going -q -b html docs build/docs
	$(PY) docs/links.py build/docs
	@touch build/docs/.whole

dist: $(READY) ## an sdist, and a manylinux wheel for this Python and systems no older than this one, in dist/
	@rm -rf build/dist
	$(PY) -m build --outdir build/dist .
	@mkdir -p dist && cp build/dist/*.tar.gz dist/
	PATH="$(CURDIR)/.venv/bin:$$PATH" $(PY) -m auditwheel repair --wheel-dir dist build/dist/*.whl

clean: ## remove the environment and everything built
	rm -rf .venv build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
	find polymat -name '*.so' -delete
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
