"""Tables of a run: the plans of all releases with their costs, and what became of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from dpfda.cli import outputs
from dpfda.cli.commands import Keywords
from dpfda.cli.console import FOUND
from dpfda.cli.job_states import TO_DO, Run, State
from dpfda.cli.previews import Preview
from dpfda.ledger.entries import Book
from dpfda.ledger.tables import bar, spelt
from dpfda.results.verdict import WORDS


def found(run: Run, states: Mapping[str, State]) -> list[Keywords]:
    """What became of each release, as data."""
    return [
        {
            "name": job.name,
            "kind": job.kind,
            "state": states[job.name].word,
            "epsilon": float(job.epsilon),
            "entry": getattr(states[job.name].entry, "number", None),
            "output": str(run.file(job)),
        }
        for job in run.jobs
    ]


@dataclass(frozen=True)
class Forecast:
    """A run before it is made: the plan of each release, and what all of them will cost."""

    run: Run
    previews: Mapping[str, Preview]
    book: Book | None

    @property
    def _states(self) -> dict[str, State]:
        return self.run.states(self.book)

    @property
    def cost(self) -> Fraction:
        """What the releases cost that were not charged yet."""
        states = self._states
        return sum((job.epsilon for job in self.run.jobs if states[job.name].word == TO_DO), Fraction(0))

    @property
    def left(self) -> Fraction:
        """What the ledger holds now."""
        return self.run.study.epsilon if self.book is None else self.book.balance_now.left

    @property
    def noisy(self) -> list[str]:
        """The releases that will be refused because they are mostly noise, as far as that is known now."""
        states = self._states
        due = [job for job in self.run.jobs if states[job.name].word == TO_DO and "--anyway" not in job.options]
        planned = {job.name: self.previews[job.name] for job in due}
        return [name for name, one in planned.items() if not one.unknown and one.plan.verdict.word == WORDS[2]]

    @property
    def code(self) -> int:
        """The exit code that the run will have, as far as that is known now."""
        states = self._states
        due = [job for job in self.run.jobs if states[job.name].word == TO_DO]
        before = Fraction(0) if self.book is None else self.run.spent(self.book)
        delta = sum((self.previews[job.name].plan.delta for job in due), Fraction(0))
        small = self.run.study.delta if self.book is None else self.book.balance_now.left_delta
        if self.cost > self.left or (due and before + self.cost > self.run.study.per_run) or delta > small:
            return 3
        return 2 if self.noisy else FOUND if any(state.is_finding for state in states.values()) else 0

    def data(self) -> Keywords:
        """For --json. Figures that need what only the data tells are left out."""
        releases = found(self.run, self._states)
        for release in releases:
            planned = self.previews[release["name"]]
            told = {"unknown": list(planned.unknown)} if planned.unknown else {"plan": outputs.figures(planned.plan)}
            release.update(told)
        return {
            "study": self.run.study.name,
            "run": self.run.id,
            "releases": releases,
            "cost": float(self.cost),
            "remaining_before": float(self.left),
            "remaining_after": float(self.left - self.cost),
        }

    def __str__(self) -> str:
        """For people."""
        study, after, states = self.run.study, self.left - self.cost, self._states
        ledger = " The ledger is not made yet (--begin makes it)." if self.book is None else ""
        lines = [f"Study {study.name!r}, run {self.run.id}.{ledger}"]
        for job in self.run.jobs:
            state = states[job.name]
            note = "" if state.word == TO_DO else f" ({state.sentence})"
            lines += ["", f"{job.name}: {job.kind}, epsilon {spelt(job.epsilon)}, to {self.run.file(job)}{note}"]
            lines += [f"  {line}" for line in _plan(self.previews[job.name]).splitlines()]
        end = f"{spelt(after)} after" if after >= 0 else f"not enough: {spelt(-after)} too little"
        within = f" of {self.book.balance_now.last.period}" if self.book is not None and study.period else ""
        lines += ["", f"This run will cost epsilon {spelt(self.cost)}; left{within}: {spelt(self.left)} before, {end}."]
        lines += [f"  {name} will be refused: mostly noise. Write anyway = true to make it." for name in self.noisy]
        lines.append(f"  {bar(min(1.0, float((study.epsilon - after) / study.epsilon)))}")
        if study.every != "once" and self.cost and after >= 0:
            lines.append(f"  {int(after / study.per_run):,} more runs of epsilon {spelt(study.per_run)} fit then.")
        return "\n".join(lines)


def _plan(planned: Preview) -> str:
    if not planned.unknown:
        return repr(planned.plan)
    unknown = " and ".join(planned.unknown)
    return f"How accurate it will be depends on {unknown}, which the data will tell. Said in the file, it is known now."
