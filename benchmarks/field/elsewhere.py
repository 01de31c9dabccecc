"""An environment of their own for diffprivlib and OpenDP's PCA, made when it is first needed."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

#: scikit-learn below 1.8 lets all of diffprivlib 0.6.6 run; OpenDP's PCA takes its random numbers from randomgen.
REQUIREMENTS = ("diffprivlib==0.6.6", "scikit-learn<1.8", "opendp==0.16.0", "randomgen==2.3.0")


@dataclass(frozen=True)
class Job:
    """A way of `elsewhere_ways.py`, once for each set of arrays."""

    way: str
    epsilon: float
    data: list[dict[str, np.ndarray]]
    options: dict[str, Any] = field(default_factory=dict)


class Elsewhere:
    """A Python with the peers, given or made when first needed; `reason` says why there is none."""

    def __init__(self, python: Path | None) -> None:
        self.python, self.reason = python, ""
        self._folder = tempfile.TemporaryDirectory()

    def _made(self) -> bool:
        if self.python is None and not self.reason:
            home = Path(self._folder.name) / "env"
            python = home / ("Scripts" if sys.platform == "win32" else "bin") / "python"
            if self._run([sys.executable, "-m", "venv", str(home)], "no virtual environment") and self._run(
                [python, "-m", "pip", "install", "--quiet", *REQUIREMENTS], "pip could not install it"
            ):
                self.python = python
        return self.python is not None and not self.reason

    def _run(self, command: list[Any], failure: str) -> bool:
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            told = [line for line in done.stderr.splitlines() if "Error" in line or "ERROR" in line]
            self.reason = f"{failure}: {told[-1] if told else f'exit code {done.returncode}'}"
            print(self.reason)
        return not done.returncode

    def answers(self, jobs: list[Job]) -> list[tuple[np.ndarray, float]] | None:
        """For each job its answers, one row per set of arrays, and the shortest time of a call; None without peers."""
        if not self._made():
            return None
        with tempfile.TemporaryDirectory(dir=self._folder.name) as name:
            folder, told, saved = Path(name), [], {}
            for job in jobs:
                names = []
                for arrays in job.data:
                    if id(arrays) not in saved:
                        saved[id(arrays)] = f"data{len(saved)}.npz"
                        np.savez(folder / saved[id(arrays)], **arrays)
                    names.append(saved[id(arrays)])
                told.append({"way": job.way, "epsilon": job.epsilon, "data": names, "options": job.options})
            (folder / "jobs.json").write_text(json.dumps(told), encoding="utf-8")
            # Isolated (-I): the packages of this environment must not reach the other one.
            script = Path(__file__).with_name("elsewhere_ways.py")
            if not self._run([self.python, "-I", script, folder], "a peer failed"):
                return None
            seconds = json.loads((folder / "seconds.json").read_text(encoding="utf-8"))
            return [(np.load(folder / f"answer{i}.npy"), seconds[i]) for i in range(len(jobs))]
