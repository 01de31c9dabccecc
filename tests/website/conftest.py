"""What builds the site lies beside its pages."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="package", autouse=True)
def _builders() -> Iterator[None]:
    """The modules of the site can be imported, here and nowhere else."""
    paths = [str(DOCS), str(DOCS / "_ext")]
    sys.path[:0] = paths
    yield
    for path in paths:
        sys.path.remove(path)
