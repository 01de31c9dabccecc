"""Blocks: ball noise in octaves of components, between independent Laplace noise and one ball."""

from __future__ import annotations

from dataclasses import dataclass

from dpfda.methods.knorm import BallMethod

#: Components in the first block; each further one is as long as all before it. Any blocks are valid
#: (derivations: blocks).
FIRST = 4


def octaves(size: int) -> tuple[int, ...]:
    """Where blocks of `size` components begin: four, four, eight, sixteen, and so on.

    Parameters
    ----------
    size : int
        The number of coefficients.

    Examples
    --------
    >>> octaves(20)
    (0, 4, 8, 16)
    """
    starts, edge = [0], FIRST
    while edge < size:
        starts.append(edge)
        edge *= 2
    return tuple(starts)


@dataclass(frozen=True, eq=False, repr=False)
class Blocks(BallMethod):
    """The first `components` coefficients, ball noise in octaves of them (derivations: blocks).

    Nearly as little noise as one ball where a bound is round, far less where it falls off with frequency.

    Parameters
    ----------
    components : int, optional
        How many coefficients are released. Default: the number with the least expected risk, from public things.
    check : bool, optional
        Whether a few per cent of epsilon go to what a mean leaves out, so that its bands cover that. Default: no.

    Examples
    --------
    >>> Blocks(components=32)
    Blocks(components=32)
    """

    starts = staticmethod(octaves)
