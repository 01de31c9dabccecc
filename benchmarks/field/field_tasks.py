"""OpenDP's and diffprivlib's best way to densities, percentiles, components, regressions and classes, and the default.

Data are drawn several times, the same for every method, and each run takes the next ones; peers are tuned on the truth,
ours are not.
"""

from __future__ import annotations

from typing import Any

import task_components
import task_densities
import task_models
import task_percentiles
from elsewhere import Elsewhere

TASKS = (task_densities, task_percentiles, task_components, task_models)


def part(runs: int, elsewhere: Elsewhere) -> list[dict[str, Any]]:
    return [row for task in TASKS for row in task.part(runs, elsewhere)]
