"""What numpy makes of a release: its values."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import DTypeLike


class AsArray:
    """Something that ``np.asarray`` makes an array of."""

    @property
    @abstractmethod
    def _array(self) -> np.ndarray:
        """The released values."""

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        """The released values. They are computed when they are asked for, so there is nothing to share."""
        if copy is False:
            raise ValueError("The values of a release are computed when they are asked for: pass copy=None or True.")
        return np.array(self._array, dtype=dtype)
