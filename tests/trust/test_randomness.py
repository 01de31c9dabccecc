"""Fresh randomness: no global seed reaches a release, and processes that fork share no noise."""

from __future__ import annotations

import subprocess
import sys

#: Every law draws once, so that whatever it keeps is there to be inherited; then parent and children draw again.
SCRIPT = """
import os, random
from fractions import Fraction
import numpy as np
import dpfda as dp
from dpfda.noise import Ball, Choice, Gaussian, Laplace
one, zeros = Fraction(1), [Fraction(0)] * 64
laws = [
    Laplace(one, np.full(64, 2.0**-40), 2**40),
    Gaussian(one, Fraction(1, 100), np.full(64, 2.0**-40), 2.0**40),
    Ball(one, np.ones(64), 1.0),
    Choice(Fraction(1, 1000), 64, one),
]
def draws():
    random.seed(0)
    np.random.seed(0)
    return [law.draw(law.to_lattice(zeros)).tobytes() for law in laws for _ in range(1 if law is not laws[-1] else 8)]
draws()
seen = []
for _ in range(4):
    ours, theirs = os.pipe()
    if os.fork() == 0:
        os.write(theirs, b"".join(draws()))
        os._exit(0)
    os.close(theirs)
    with os.fdopen(ours, "rb") as pipe:
        seen.append(pipe.read())
    os.wait()
seen.append(b"".join(draws()))
size = 64 * 8
choices = slice(3 * size, None)
for law in range(3):
    assert len({text[law * size : (law + 1) * size] for text in seen}) == 5, laws[law].description
assert len({text[choices] for text in seen}) == 5, laws[3].description
print("fresh")
"""


def test_forked_processes_and_seeded_globals_share_no_noise():
    """Eight choices among 64 agree by chance in one of 10 pairs with probability 10 / 64^8, below 1e-13."""
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False)
    assert done.stdout == "fresh\n", done.stderr
