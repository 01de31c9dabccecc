"""What a release uses after its charge is loaded before it: a package that is missing or broken costs no budget."""

from __future__ import annotations

from importlib import import_module

from dpfda.noise import samplers

#: Parts of scipy for later stages and for what is made of draws. Its statistics are used by plans alone.
PARTS = ("fft", "interpolate", "linalg", "ndimage", "spatial", "special")


def load_all() -> None:
    samplers.load()
    for part in PARTS:
        import_module(f"scipy.{part}")
