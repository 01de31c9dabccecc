"""The parts that the evidence is made of: which script with which arguments, and what it leaves.

A part is fresh as long as the code of the package, its own code and arguments, and what it left are those of its last
whole run. Figures that were written by hand, or by a run that stopped half-way, are not. Of the package a part without
`front` needs the rooms below the command, the studio and reports: nothing there imports these (`.importlinter` holds
it), so that a better sentence in a report does not make an evening of errors and bands stale.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import digests

HERE = Path(__file__).parent
RESULTS = HERE / "results"
#: What of the package only people meet: modules and rooms that no other room imports.
FRONT = ("__main__.py", "cli", "reports", "studio")


@dataclass(frozen=True)
class Part:
    """A script with its arguments.

    `writes` is what it leaves: a file of results by its stem, or some keys of one, as in "page.screen". `clock` says
    that its figures are times, `data` that it needs the real data sets, `front` that it goes through the command, the
    studio or reports, `also` which other files and folders it runs or reads.
    """

    script: str
    writes: tuple[str, ...]
    arguments: tuple[str, ...] = ()
    clock: bool = False
    data: bool = False
    front: bool = False
    also: tuple[str, ...] = ()

    @property
    def command(self) -> list[str]:
        """What a shell would be given, from the folder of the project."""
        return ["python", f"benchmarks/{self.script}", *self.arguments]

    @property
    def code(self) -> str:
        """The digest of its own code."""
        return digests.of_benchmark(HERE / self.script, self.also)

    def left(self, results: Path = RESULTS) -> str:
        """The digest of what it left; nothing where that is not there."""
        found = [_value(results, path) for path in self.writes]
        return "" if None in found else hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()


def of_package() -> dict[bool, str]:
    """The digests of `src` as it is: of all of it, for parts with `front`, and without what only people meet."""
    root = digests.ROOT / "src" / "dpfda"
    files = [path for path in root.rglob("*") if path.suffix in (".py", *digests.ASIDES)]
    engine = [path for path in files if path.relative_to(root).parts[0] not in (*FRONT, "__pycache__")]
    return {True: digests.of_package(), False: digests.of(engine)}


def _value(results: Path, path: str) -> Any:
    """What a file of results holds under some keys."""
    stem, *keys = path.split(".")
    file = results / f"{stem}.json"
    found = json.loads(file.read_text(encoding="utf-8")) if file.exists() else None
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found


def why_stale(part: Part, run: dict[str, Any] | None, package: dict[bool, str], code: str, left: str) -> str:
    """Why the figures of a part are not those of a whole run of this code; nothing where they are."""
    if run is None:
        return "never run"
    facts = {
        "command": " ".join(part.command), "package": package[part.front], "benchmark": code, "results": left,
    }  # fmt: skip
    changed = [key for key, value in facts.items() if run.get(key) != value]
    return f"other {' and '.join(changed)}" if changed else ""


CURVES = ("errors", "shapes", "bands", "survival", "lives", "life-bands")
FIELD = ("components", "densities", "means", "tasks")
TRUST, TRUST_TIMES = ("broken", "audits", "faults", "fuzz", "coverage", "leaks"), ("ledger", "noise")

PARTS = {
    "accuracy": Part("accuracy.py", ("accuracy",), ("--runs", "100", "--long"), data=True),
    "real": Part("accuracy.py", ("real",), ("--real",), data=True, also=("benchmarks/results/real_before.json",)),
    "forecast": Part("forecast.py", ("forecast",), data=True),
    "coverage": Part("band_coverage.py", ("coverage",), ("--jobs", "1"), data=True),
    "radius": Part("radius.py", ("radius",)),
    "minorities": Part("minorities.py", ("minorities",)),
    "coverage-density": Part("coverage_density.py", ("coverage-density",)),
    "coverage-covariance": Part("coverage_covariance.py", ("coverage_covariance",), data=True),
    "coverage-models": Part("coverage_models.py", ("coverage_models",)),
    "density": Part("density.py", ("density",), data=True),
    "density-real": Part("density.py", ("density-real",), ("--real",), data=True),
    "covariance": Part("covariance.py", ("covariance",), data=True),
    "models": Part("models.py", ("models",), also=("benchmarks/diffprivlib_peers.py",)),
    **{f"curves-{part}": Part("curves.py", (f"curves.{part}",), ("--part", part)) for part in CURVES},
    "curves-times": Part("curves.py", ("curves.times",), ("--part", "times"), clock=True),
    **{f"trust-{part}": Part("trust.py", (f"trust.sections.{part}",), ("--long", "--only", part), front=True,
                             also=("tests/trust/fuzz_atheris.py",), clock=part in TRUST_TIMES)
       for part in TRUST + TRUST_TIMES},
    "reproduction": Part("reproduction.py", ("reproduction",), data=True, also=("experiments",)),
    "reproduction-full": Part("reproduction.py", ("reproduction_full",), ("--full",), data=True, also=("experiments",)),
    "speed": Part("speed.py", ("speed",), clock=True, front=True),
    "noise-speed": Part("noise_speed.py", ("noise_speed",), clock=True),
    "check-speed": Part("check_speed.py", ("check_speed",), clock=True, front=True),
    "databases": Part("databases.py", ("databases",), clock=True),
    "scale": Part("scale.py", ("scale",), clock=True),
    "page-hypothetical": Part("page.py", ("page.hypothetical",), ("hypothetical",), front=True),
    "page-screen": Part("page.py", ("page.screen", "page.report"), ("screen", "report"), clock=True,
                        front=True),
    **{f"field-{part}": Part("field.py", (f"field.parts.{part}",), ("--only", part), data=True,
                             also=("benchmarks/field",)) for part in FIELD},
}  # fmt: skip
