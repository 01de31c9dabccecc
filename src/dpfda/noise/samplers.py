"""What draws noise exactly, OpenDP and flint: loaded when a law first needs it, and all of it before any charge."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from dpfda.core.lazy import lazy

PACKAGES = ("flint", "opendp.domains", "opendp.measurements", "opendp.metrics", "opendp.mod")

if TYPE_CHECKING:
    import flint
    from opendp import domains, measurements, metrics, mod
else:
    flint, domains, measurements, metrics, mod = map(lazy, PACKAGES)

__all__ = ["flint", "load", "measurements", "metrics", "mod", "vectors"]


def vectors() -> mod.Domain:
    """Vectors of integers, as OpenDP knows them; it has samplers among what its users must allow."""
    mod.enable_features("contrib")
    return domains.vector_domain(domains.atom_domain(T="i64"))


def load() -> None:
    for name in PACKAGES:
        import_module(name)
