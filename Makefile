# Fresh machine, two commands: `make demo` and `make test`. Both need Python 3.11+, pip and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable
READY := $(VENV)/.ready
DEMO := $(VENV)/.demo

.PHONY: setup demo test test-long test-browser chromium lint types wheel reproduce bench docs clean

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
test: setup
	$(PYTEST) -m "not long and not browser"

# What takes long (the paper's experiments, broken mechanisms that audits must catch) or needs Java (Spark).
test-long: setup
	$(PYTEST) -m long tests

# The page in a real browser: chromium of the system, or what `make chromium` fetched; without either they skip.
test-browser: setup
	$(PYTEST) -m browser tests/browser

# Chromium without root, into $(VENV)/chromium: needs node and npm.
chromium: setup
	$(BIN)/python tests/browser/chromium.py

lint: setup
	$(BIN)/ruff check src experiments tests benchmarks docs
	$(BIN)/ruff format --check --quiet src experiments tests benchmarks docs
	$(BIN)/lint-imports --no-logo

types: setup
	$(BIN)/mypy

# What users get: the wheel alone, with what it needs, in an environment of its own.
FRESH := build/fresh
wheel:
	rm -rf build/wheel $(FRESH)
	$(PYTHON) -m venv $(FRESH)
	$(FRESH)/bin/pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir build/wheel .
	$(FRESH)/bin/pip install --quiet --disable-pip-version-check --constraint constraints.txt build/wheel/*.whl
	cd $(FRESH) && bin/dpfda demo --out demo && bin/dpfda show demo/mean.json

# Every experiment of the paper; DATA is a folder with its real data sets, if you have them.
reproduce: setup
	$(BIN)/python -m dpfda_experiments --all $(if $(DATA),--data $(DATA))

bench: setup
	$(BIN)/python benchmarks/accuracy.py
	$(BIN)/python benchmarks/forecast.py
	$(BIN)/python benchmarks/speed.py
	$(BIN)/python benchmarks/noise_speed.py
	$(BIN)/python benchmarks/band_coverage.py --jobs 2
	$(BIN)/python benchmarks/coverage_density.py
	$(BIN)/python benchmarks/coverage_covariance.py
	$(BIN)/python benchmarks/coverage_models.py
	$(BIN)/python benchmarks/minorities.py
	$(BIN)/python benchmarks/curves.py --jobs 2
	$(BIN)/python benchmarks/covariance.py
	$(BIN)/python benchmarks/density.py
	$(BIN)/python benchmarks/models.py
	$(BIN)/python benchmarks/scale.py
	$(BIN)/python benchmarks/page.py
	$(BIN)/python benchmarks/trust.py

docs: setup
	$(BIN)/python docs/build.py

clean:
	rm -rf $(VENV) build demo reproduction .pytest_cache .mypy_cache .ruff_cache .hypothesis
