"""`dp.load`: releases read again from files."""

from __future__ import annotations

import os

from dpfda import plans, results
from dpfda.results import ClassRelease, Difference, GroupRelease, RadiusRelease, Release

#: Files name the types of what they hold. All are known once the plans are loaded.
KNOWN = plans.__all__


def load(path: str | os.PathLike[str]) -> Release | GroupRelease[Release] | ClassRelease | RadiusRelease | Difference:
    """A release (or one per group, or a difference of two) from the file that :meth:`Release.save` wrote.

    The file decides: parameters that another version or machine would select differently are taken as they were chosen.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    Release, GroupRelease, ClassRelease, RadiusRelease or Difference
        As it was saved.

    Raises
    ------
    dpfda.errors.FileError
        Where the file is damaged, or of another kind.

    Examples
    --------
    >>> import os, tempfile, numpy as np, dpfda as dp
    >>> release = dp.mean(np.ones((50, 12)), epsilon=1.0, bound=dp.L2Ball(1.0))
    >>> path = release.save(os.path.join(tempfile.mkdtemp(), "mean.json"))
    >>> dp.load(path).plan == release.plan
    True
    """
    return results.load(path)
