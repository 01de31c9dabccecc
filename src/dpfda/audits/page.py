"""The result of an audit as a page of the same look as a report: the verdict, every check, and what it cannot show."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from dpfda.pages.charts import Chart, Line, Shade
from dpfda.pages.render import page

TEMPLATES = Path(__file__).parent / "templates"


def headed(part: str, name: str) -> str:
    """What a check is called on a page: its name, after that of its part."""
    return f"{part}: {name}" if part else name


def audit_page(
    title: str,
    subject: str,
    verdict: str,
    checks: Sequence[tuple[str, bool, str]],
    limits: Sequence[str],
    picture: Chart | None = None,
) -> str:
    """One page that stands alone; a check is its name, whether it passed, and what was seen."""
    return page(
        "audit.html",
        TEMPLATES,
        title=title,
        subject=subject,
        verdict=verdict,
        passed=all(passed for _, passed, _ in checks),
        checks=checks,
        picture=picture,
        limits=limits,
    )


def noise_sizes(ratios: np.ndarray, tolerance: float) -> Chart:
    """Sizes of noise against those stated, coordinate by coordinate, and how far off would have been noticed."""
    numbers, ones = np.arange(ratios.size), np.ones(2)
    ends = np.array([-0.5, ratios.size - 0.5])
    about = (
        f"{ratios.size} sizes from {ratios.min():.4f} to {ratios.max():.4f} of what is stated; "
        f"a defect of {tolerance:.1%} would have been seen."
    )
    return Chart(
        (Line("size of the noise / size stated", numbers, ratios, look="points"), Line("", ends, ones, look="muted")),
        (Shade("a defect this small may hide", ends, ones - tolerance, ones + tolerance, look="wide"),),
        xlabel="number that leaves",
        title="Sizes of the noise",
        description=about,
        span=(-0.5, ratios.size - 0.5),
    )
