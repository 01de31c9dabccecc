"""The noise step does the same work for extreme data: counted, not timed."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
import sidechannels

from dpfda.noise import rounding as places
from dpfda.noise.ball import _ball_interval, _rounded_ball


@pytest.mark.parametrize("law", list(sidechannels.plans()))
def test_the_noise_step_does_the_same_work_for_extreme_data(law):
    ready = sidechannels.steps(sidechannels.plans()[law])
    for seed in range(5):
        centre, bound = (sidechannels.work(ready[name], seed) for name in ("centre", "bound"))
        assert centre == bound
    assert (centre["bits"] > 0) == (law in ("ball", "blocks", "choice"))  # OpenDP's own cannot be counted


def test_work_that_depends_on_data_is_seen():
    centre, bound = (sidechannels.work(step) for step in sidechannels.control().values())
    assert bound["bits"] > 5 * centre["bits"]


def test_the_extremes_are_extreme():
    """Zero numerators on one side, long ones on the other."""
    plan = sidechannels.plans()["ball"]
    small, large = (plan.stage.to_lattice(plan.summarize(data))[0] for data in sidechannels.extremes().values())
    assert not any(small)
    assert max(abs(x.numerator) for x in large) > 2**60


@pytest.mark.long
def test_times_and_memory_are_reported():
    found = sidechannels.measure(30)
    assert set(found) == {*sidechannels.plans(), "control"}
    for law in sidechannels.plans():
        assert found[law]["equal_work"]
        assert found[law]["low"] <= found[law]["ratio"] <= found[law]["high"]
        assert found[law]["memory_ratio"] == pytest.approx(1.0, abs=0.05)
    assert not found["control"]["equal_work"]


def test_more_places_are_drawn_where_a_rounding_is_open():
    """Bits are appended, never redrawn: the integers are those of the ideal noise, also where a carry decides."""
    ratio, stretch = Fraction(2**30), places.arb(Fraction(2**30))

    def noise() -> places.Deviates:
        return places.Deviates(3, lambda uniforms: [stretch * x for x in _ball_interval(uniforms, 1, 1)])

    for seed in range(20):
        with sidechannels.recorded(seed):
            known = noise().floors(places.PLACES)[0]
        # The sum of all known places ends right below an integer and a half: what comes after them decides.
        centre = Fraction(-known - 1, 2**places.PLACES) + Fraction(1, 2) + Fraction(seed, 20 * 2**places.PLACES)
        with sidechannels.recorded(seed) as stream:
            (found,) = _rounded_ball([places.Placed.of(centre, Fraction(1))], [ratio])
        with sidechannels.recorded(seed):
            exact = Fraction(noise().floors(400)[0], 2**400) + centre + Fraction(1, 2)
        assert found == math.floor(exact)
        assert stream.asked > 3 * places.BITS
