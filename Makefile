# Fresh machine, two commands: `make demo` and `make test`. Both need Python 3.11+, pip and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable
READY := $(VENV)/.ready
DEMO := $(VENV)/.demo

.PHONY: setup demo test test-long test-browser test-python test-minimum test-notebooks chromium lint types wheel reproduce evidence docs pictures coverage changes release-check hooks clean

setup: $(READY)

# Everything, with the engines (Dask, Spark) that the tests run on.
$(READY): pyproject.toml experiments/pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) ".[all]"
	$(PIP) experiments
	touch $(READY) $(DEMO)

# What the demonstration needs, which is little.
$(DEMO): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) ".[fast]"
	touch $(DEMO)

demo: $(DEMO)
	$(BIN)/dpfda demo --out demo

# Two at a time, one thread each; the tests of a file stay together, because they may share a cluster.
PYTEST := PYTHONDONTWRITEBYTECODE= OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 DPFDA_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile
SHORT := -m "not long and not browser and not notebook"
test: setup
	$(PYTEST) $(SHORT)

# What takes long (the paper's experiments, broken mechanisms that audits must catch) or needs Java (Spark).
test-long: setup
	$(PYTEST) -m long tests

# The page in a real browser: chromium of the system, or what `make chromium` fetched; without either they skip.
test-browser: setup
	$(PYTEST) -m browser tests/browser

# The notebooks of docs/notebooks, each in a kernel of its own, in a temporary folder.
test-notebooks: setup
	$(PYTEST) -m notebook tests/notebooks

# The path from a file to a release with the lowest versions that pyproject.toml allows, in an environment of its own. Old
# packages say that newer ones deprecate what they use: those warnings are left to them.
MINIMUM := build/minimum
MINIMUM_TESTS := tests/core tests/release tests/ledger tests/api/test_bad_input.py tests/api/test_wrong_arguments.py \
    $(addprefix tests/reading/test_,$(addsuffix .py,columns databases lakes objects source tables)) \
    $(addprefix tests/plans/test_,$(addsuffix .py,covariance mean_plans opendp percentile_plans shares survival_plans)) \
    $(addprefix tests/results/test_,$(addsuffix .py,groups percentiles release statements survival)) \
    tests/estimators/test_estimators.py tests/cli/test_cli.py
test-minimum:
	rm -rf $(MINIMUM) build/lib
	$(PYTHON) -m venv $(MINIMUM)
	$(MINIMUM)/bin/pip install --quiet --disable-pip-version-check --constraint constraints-minimum.txt ".[fast,fda,dask,remote,xarray,sql,studio]" pandas polars
	$(MINIMUM)/bin/pip install --quiet --disable-pip-version-check --constraint constraints.txt pytest pytest-xdist hypothesis
	$(subst $(BIN),$(MINIMUM)/bin,$(PYTEST)) -p no:cacheprovider -W ignore::DeprecationWarning $(SHORT) $(MINIMUM_TESTS)

# The short tests on another Python: make test-python PYTHON=python3.13
OTHER = build/$(notdir $(PYTHON))
test-python:
	rm -rf $(OTHER) build/lib
	$(PYTHON) -m venv $(OTHER)
	$(OTHER)/bin/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[all]"
	$(OTHER)/bin/pip install --quiet --disable-pip-version-check --no-deps --editable experiments
	$(subst $(BIN),$(OTHER)/bin,$(PYTEST)) -p no:cacheprovider $(SHORT) tests

# What the short tests reach, into docs/project/coverage.md. Compiled loops are counted as the Python that they are made of.
coverage: setup
	rm -rf build/coverage && mkdir -p build/coverage
	$(subst -m pytest,-m coverage run -m pytest,$(PYTEST)) -p no:cacheprovider $(SHORT)
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m coverage run -m pytest -p no:cacheprovider -W ignore::RuntimeWarning -k "not compiled_twice" tests/bounds/test_loops.py
	$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage json --quiet
	$(BIN)/python .ci/coverage_page.py

# Chromium without root, into $(VENV)/chromium: needs node and npm.
chromium: setup
	$(BIN)/python tests/browser/chromium.py

lint: setup
	$(BIN)/ruff check src experiments tests benchmarks docs .ci
	$(BIN)/ruff format --check --quiet src experiments tests benchmarks docs .ci
	$(BIN)/lint-imports --no-logo
	$(BIN)/python .ci/fragments.py

# Lint before each commit, by the hooks of .pre-commit-config.yaml.
hooks: setup
	$(BIN)/pre-commit install

types: setup
	$(BIN)/mypy

# What users get: the wheel alone, with what it needs, in an environment of its own.
FRESH := build/fresh
wheel:
	rm -rf build/wheel build/lib $(FRESH)
	$(PYTHON) -m venv $(FRESH)
	$(FRESH)/bin/pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir build/wheel .
	$(FRESH)/bin/pip install --quiet --disable-pip-version-check --constraint constraints.txt build/wheel/*.whl
	cd $(FRESH) && bin/dpfda demo --out demo && bin/dpfda show demo/mean.json

# Every experiment of the paper; DATA is a folder with its real data sets, if you have them.
reproduce: setup
	$(BIN)/python -m dpfda_experiments --all $(if $(DATA),--data $(DATA))

# Every figure of the README and the site, on this code: hours on two cores, part by part; a run that was stopped goes on.
evidence: setup
	$(BIN)/python benchmarks/evidence.py

# The site, into docs/_build/html: nothing is asked from outside, warnings are errors. DPFDA_DOCS_JOBS=1 takes one core.
export DPFDA_DOCS_JOBS ?= 2
docs: setup
	$(BIN)/python docs/generate.py
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m sphinx -W --keep-going -q -j $(DPFDA_DOCS_JOBS) -d docs/_build/doctrees docs docs/_build/html
	$(BIN)/python docs/check_site.py docs/_build/html
	touch docs/_build/built

# The pictures of README and pages, from invented data; noise is drawn anew each time.
pictures: setup
	$(BIN)/python docs/pictures.py

# Notes of changelog.d/ become a section of CHANGELOG.md, under the version of pyproject.toml and today's date.
changes: setup
	$(BIN)/python .ci/fragments.py
	$(BIN)/towncrier build --yes --version $$($(BIN)/python -c "import dpfda; print(dpfda.__version__)")

# Is this commit ready? docs/project/release-checklist.md says what a person looks at.
release-check: setup
	$(BIN)/python .ci/release_check.py

clean:
	rm -rf $(VENV) build demo reproduction docs/_build docs/gallery_out docs/files docs/reference/api .pytest_cache .mypy_cache .ruff_cache .hypothesis
