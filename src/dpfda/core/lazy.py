"""Packages that are loaded when something of them is first used, so that `import dpfda` stays quick.

scipy does so by itself: ``import scipy``, then ``scipy.special.ndtr``. For others, one module of a room shows the
import to type checkers and has `lazy` for what runs; the modules that use the package import it from there. What a
release needs after its charge is loaded before it (:mod:`dpfda.release.ready`).
"""

from __future__ import annotations

from importlib import import_module


class Lazy:
    """A module by its name: its attributes are those of the module, which is loaded for the first of them."""

    def __init__(self, name: str):
        self._name = name

    def __getattr__(self, attribute: str) -> object:
        if attribute.startswith("__"):  # what doctest, pickle and others ask of anything
            raise AttributeError(attribute)
        return getattr(import_module(self._name), attribute)

    def __repr__(self) -> str:
        return f"lazy({self._name!r})"


def lazy(name: str) -> Lazy:
    """The module of this name, loaded when something of it is first used.

    >>> lazy("math").pi
    3.141592653589793
    """
    return Lazy(name)
