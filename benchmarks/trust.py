"""How do you know? Audits, faults, hostile input and leaks, in figures.

    python benchmarks/trust.py [--long] [--only SECTION ...]

Sections: broken, audits, faults, ledger, fuzz, coverage, leaks, noise. Each is saved when it is done, beside those of
earlier runs, with the commit it ran on; `--long` is 1,000 kills, 100,000 cases per reader and audits in full. What is
run here lives in tests/trust, where the tests run less of it.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import common

import dpfda as dp
from dpfda.cli import console
from dpfda.core.errors import NoiseWarning

sys.path.insert(0, str(common.ROOT / "tests" / "trust"))

import broken
import faults
import fuzzing
import markers
import sidechannels

SEED = 20261116
#: Sound plans that are audited: the default, the paper's method, a density, and one that reads the data several times.
AUDITED: dict[str, Callable[[], Any]] = {
    "mean, default": lambda: dp.MeanPlan(n=508, epsilon=1, bound=dp.L2Ball(1.0), grid=48),
    "mean, QR": lambda: dp.MeanPlan(n=508, epsilon=1, bound=dp.L2Ball(1.0), grid=48, method=dp.methods.QR()),
    "mean, stages": lambda: dp.MeanPlan(
        n=2000, epsilon=1, bound=dp.L2Ball(1.0), grid=48, method=dp.methods.Staged(dp.methods.KNorm(6))
    ),
    "density": lambda: dp.DensityPlan(n=2000, epsilon=1, domain=[(0, 110)]),
    "covariance": lambda: dp.CovariancePlan(
        n=5000, epsilon=1, bound=dp.L2Ball(1.0), grid=48, method=dp.methods.KNorm()
    ),
    "classifier": lambda: dp.plans.KernelPlan(n=1000, epsilon=1, domain=[(0, 1)] * 2, classes=("no", "yes")),
}

#: Those whose noise is drawn 400,000 times in a long run; the others' a quarter as often.
IN_FULL = ("mean, default", "mean, QR")


def run_broken(long: bool) -> dict[str, Any]:
    found = broken.measure()
    rows = [[name, "caught" if each["caught"] else "MISSED", "; ".join(each["by"])] for name, each in found.items()]
    common.show("Mechanisms broken on purpose", ["mechanism", "audit", "by"], rows)
    return {"caught": sum(each["caught"] for each in found.values()), "of": len(found), "mechanisms": found}


def run_audits(long: bool) -> dict[str, Any]:
    """Sound plans: how close the search comes to epsilon, and whether anything speaks against them."""
    found, rows = {}, []
    for name, make in AUDITED.items():
        draws = 400_000 if name in IN_FULL else 100_000
        options = {"draws": draws} if long else {"draws": 20_000, "releases": 100, "effort": 600}
        report = dp.audit(make(), **options)
        sizes = [step.ratios for part in report.parts for step in part.steps if step.ratios.size]
        found[name] = {
            "passed": report.passed,
            "checks": len(report.checks),
            "largest_loss": report.largest_loss,
            "epsilon": float(report.plan.epsilon),
            "epsilon_at_least": report.epsilon_at_least,
            "epsilon_at_least_noise_step": sum(step.bound.lower for step in report.parts[0].steps),
            "pairs": sum(each.tried for each in report.parts[0].found),
            "draws": min(step.draws for step in report.parts[0].steps),
            "releases": report.parts[0].whole.releases,
            "detectable": report.detectable,
            "smallest_size": min(float(size.min()) for size in sizes),
            "largest_size": max(float(size.max()) for size in sizes),
            "seconds": report.seconds,
        }
        each = found[name]
        rows.append([name, each["passed"], f"{each['largest_loss']:.6f}", each["epsilon_at_least_noise_step"],
                     each["epsilon_at_least"], f"{each['detectable']:.1%}", each["seconds"]])  # fmt: skip
    head = ["plan", "passed", "largest loss", "noise step: at least", "releases: at least", "would see", "seconds"]
    common.show("Audits of sound plans (epsilon 1)", head, rows)
    return found


def run_faults(long: bool) -> dict[str, Any]:
    points = 1000 if long else 50
    found = {
        "kills": faults.kills(points, SEED),
        "crowd": faults.crowd(8, 25 if long else 3, SEED),
        "full disk": faults.full_disk(200 if long else 24),
    }
    names = sorted({name for each in found.values() for name in each if not isinstance(each[name], dict | list)})
    rows = [[name, *(each.get(name, "") for each in found.values())] for name in names]
    common.show("Faults", ["", *found], rows)
    return found


def run_ledger(long: bool) -> dict[str, Any]:
    found = {**faults.throughput(8, 10.0 if long else 3.0), **faults.cost_of_length(charges=3000 if long else 500)}
    common.show("Ledger", ["", "figure"], [[name, value] for name, value in found.items()])
    return found


def run_fuzz(long: bool) -> dict[str, Any]:
    found = fuzzing.measure(100_000 if long else 1_000, SEED)
    head = ["reader", "cases", "accepted", "refused", "crashes", "hangs", "slowest (ms)", "peak (MB)"]
    keys = ("cases", "accepted", "refused", "crashes", "hangs", "slowest_ms", "peak_mb")
    common.show("Hostile input", head, [[name, *(each[key] for key in keys)] for name, each in found.items()])
    return found


def run_coverage(long: bool) -> dict[str, Any]:
    """The same readers driven by coverage, where atheris is installed (the extra `fuzz`)."""
    if importlib.util.find_spec("atheris") is None:
        sys.exit("atheris is not installed: pip install 'dpfda[fuzz]'")
    found, runs = {}, 5_000 if long else 200
    script = common.ROOT / "tests" / "trust" / "fuzz_atheris.py"
    for name in fuzzing.TARGETS:
        command = [sys.executable, str(script), name, f"-runs={runs}", "-max_total_time=20"]
        with tempfile.TemporaryDirectory() as folder:  # where a defect would leave its bytes
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        told = re.findall(r"#(\d+)\s+DONE\s+cov: (\d+)", done.stderr)
        cases, lines = map(int, told[-1]) if told else (0, 0)
        found[name] = {"cases": cases, "coverage": lines, "defects": int(done.returncode != 0)}
    rows = [[name, *each.values()] for name, each in found.items()]
    common.show("Hostile input, driven by coverage", ["reader", "cases", "edges covered", "defects"], rows)
    return found


def run_leaks(long: bool) -> dict[str, Any]:
    found = markers.measure()
    common.show("Marked data", ["", "figure"], [[name, str(value)] for name, value in found.items()])
    return found


def run_noise(long: bool) -> dict[str, Any]:
    found = sidechannels.measure(2000 if long else 300)
    common.show("The noise step on extreme data", ["", "figures"], [[name, str(each)] for name, each in found.items()])
    return found


SECTIONS = {
    "broken": run_broken, "audits": run_audits, "faults": run_faults, "ledger": run_ledger, "fuzz": run_fuzz,
    "coverage": run_coverage, "leaks": run_leaks, "noise": run_noise,
}  # fmt: skip


def commit() -> str:
    """The commit that the figures belong to; marked where code differs from it."""

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=common.ROOT, capture_output=True, text=True).stdout.strip()

    changed = git("status", "--porcelain", "--", "src", "tests", "experiments", "benchmarks/*.py")
    return (git("rev-parse", "--short=7", "HEAD") or "unknown") + ("-changed" if changed else "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--long", action="store_true", help="the figures of the documentation")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS), help="some sections")
    options = parser.parse_args()
    console.ON_NOISE = "ignore"  # releases of a few invented records are mostly noise, and made all the same
    warnings.simplefilter("ignore", NoiseWarning)
    path = common.RESULTS / "trust.json"
    for name in options.only:
        began = time.time()
        figures = SECTIONS[name](options.long)
        saved = json.loads(path.read_text(encoding="utf-8")).get("sections", {}) if path.exists() else {}
        facts = {"long": options.long, "commit": commit(), "date": datetime.now(UTC).strftime("%Y-%m-%d")}
        saved[name] = {**facts, "seconds": round(time.time() - began, 1), "figures": figures}
        common.save("trust", {"sections": {key: saved[key] for key in SECTIONS if key in saved}})


if __name__ == "__main__":
    main()
