"""Releases read again from files."""

from __future__ import annotations

import os
from typing import Any

from dpfda import plans, results

#: Files name the types of what they hold. All are known once the plans are loaded.
KNOWN = plans.__all__


def load(path: str | os.PathLike[str]) -> Any:
    """A release (or one per group) read from the file that :meth:`Release.save` wrote; damaged files are refused.

    The file decides: parameters that another version or machine would select differently are taken
    as they were chosen.
    """
    return results.load(path)
