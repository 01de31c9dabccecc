"""The ledger in the hands of its users: make, charge, read, back up, adopt, verify.

There is no refund and no way to take an entry back: a release that fails after its charge has cost it.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path

from dpfda.core.checks import Epsilon, as_epsilon
from dpfda.core.codec import exact_fraction
from dpfda.core.errors import AlreadyCharged, LedgerError, ParameterError, printable, shown
from dpfda.core.files import as_path, digest_of
from dpfda.ledger import entries, home, store, tables
from dpfda.ledger.budget import Budget
from dpfda.ledger.entries import (
    FORMATS,
    LONGEST_TEXT,
    UNKNOWN_RELEASES,
    About,
    Balance,
    Book,
    Entry,
    Output,
    check_text,
    is_written_in,
    seal,
)
from dpfda.ledger.periods import check_period
from dpfda.ledger.releases import Charged, Finding, as_releases, check_own, entry_of, examine, restored

CURE = "Pass ledger='study.ledger', or dp.Ledger.create('study.ledger', epsilon=2, study='load-2026')."


@dataclass(frozen=True)
class Ledger(Budget):
    """A study's ledger. Make one with :meth:`create`; opening checks it.

    Parameters
    ----------
    path : path
        The file.
    study : str, optional
        The study that the file must belong to. Default: whichever it is.
    note, operator : str, optional
        What charges that are made through this object say beside their cost: a note, and who makes them.
    run : str, optional
        Which run of a job they belong to. One run is charged once: the same text a second time is refused. What stands
        behind a "#" is kept and makes no other run.

    Raises
    ------
    dpfda.errors.LedgerError
        Where the file is no ledger, was edited or is damaged, or belongs to another study.

    Examples
    --------
    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "study.ledger")
    >>> ledger = Ledger.create(path, epsilon=1, study="sleep")
    >>> for _ in range(10):
    ...     _ = ledger.charge("0.1", plan="p", query="mean")
    >>> ledger.remaining
    Fraction(0, 1)
    """

    path: Path
    study: str | None = None
    note: str = ""
    operator: str = ""
    run: str = ""

    def __post_init__(self) -> None:
        for name in ("note", "operator", "run"):
            check_text(f"the {name} of a charge is", getattr(self, name), f"Pass {name}='...'.")
        if not (self.study is None or isinstance(self.study, str)):
            raise ParameterError("study is the name of a ledger's study", shown(self.study), "Pass study='load-2026'.")
        path = as_path(self.path, "a ledger", CURE)
        object.__setattr__(self, "path", path.absolute())  # another working directory is another place
        object.__setattr__(self, "study", self._read().study)  # another study's file in this place is refused

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        *,
        epsilon: Epsilon | None,
        study: str,
        delta: Epsilon = 0,
        period: str | None = None,
    ) -> Ledger:
        """A new ledger file with a total budget; never overwrites one.

        Where a `period` is given, the budget is that of one period of the UTC calendar and renews with the next one,
        never because a clock went back.

        Parameters
        ----------
        path : path
            The new file.
        epsilon : float, str or Fraction
            The budget; 0.1 means one tenth, as "1/10" does.
        study : str
            The name of the study.
        delta : float, str or Fraction
            The budget of delta. Default: 0, for pure differential privacy only.
        period : {"year", "quarter", "month", "week", "day"}, optional
            How often the budget renews. Default: never.
        """
        budget, delta_cost, rule = as_epsilon(epsilon), _as_delta(delta), check_period(period)
        if not isinstance(study, str) or not study.strip() or not study.isprintable() or len(study) > LONGEST_TEXT:
            raise ParameterError(
                "a ledger belongs to a study with a printable name", shown(study), "Pass study='load-2026'."
            )
        target = as_path(path, "a ledger", CURE).absolute()
        row = (FORMATS[rule], study, str(budget), str(delta_cost), entries.now())
        with store.making(target) as db:
            balance = Balance.before_charges(study, budget, delta_cost, row[-1], seal("", row), rule)
            home.testify(target, home.mark(balance))
            db.executescript(";".join(("BEGIN IMMEDIATE", store.SCHEMA, *store.TOTALS)))
            db.execute("INSERT INTO study VALUES (?, ?, ?, ?, ?, ?)", (*row, balance.last.seal))
            _settle(db, home.settled_here(target, balance))
            db.execute("COMMIT")
        return cls(target, study)

    def charge(self, epsilon: Epsilon, *, plan: str, query: str, delta: Epsilon = 0) -> Entry:
        """Write a charge down, or refuse it; when this returns, the charge is on disk and stays.

        Parameters
        ----------
        epsilon : float, str or Fraction
            The cost of the charge; 0.1 means one tenth, as "1/10" does.
        plan : str
            The digest of the plan that is charged for.
        query : str
            The name of the release.
        delta : float, str or Fraction
            The delta of the charge. Default: 0, pure differential privacy.
        """
        cost, delta_cost = as_epsilon(epsilon), _as_delta(delta)
        for text in (plan, query):
            check_text("the plan and the query of a charge are", text, "Pass query='mean'.")
        if is_written_in(query):
            raise ParameterError("only an adoption calls charges so", shown(query), "Pass query='mean'.")
        with store.writing(self.path) as db:
            balance = self._settled(db)
            self._refuse_repeated(db)
            charged = balance.charged(cost, delta_cost, plan, query, About(self.note, self.operator, self.run))
            store.add_entry(db, charged.last)
        return self._standing(charged)

    def check(self, epsilon: Epsilon, delta: Epsilon = 0) -> None:
        """Refuse now what :meth:`charge` would refuse later; charges nothing.

        Parameters
        ----------
        epsilon : float, str or Fraction
            The cost of the charge; 0.1 means one tenth, as "1/10" does.
        delta : float, str or Fraction
            The delta of the charge. Default: 0, pure differential privacy.
        """
        seen = home.testimony(self.path)
        with store.reading(self.path) as db:
            balance = store.load_balance(db, self.path.name, self.study)
            self._refuse_elsewhere(db, balance, seen)
            self._refuse_repeated(db)
        balance.at(entries.now()).refuse_excess(as_epsilon(epsilon), _as_delta(delta))

    def history(self) -> tuple[Entry, ...]:
        """Every charge in the order of its number; times state what the clock said."""
        return self.book().entries

    def outputs(self) -> tuple[Output, ...]:
        """Every free entry: which file was written for a charge, and its digest."""
        return self.book().outputs

    def record_output(self, release: Charged, path: str | os.PathLike[str]) -> Output:
        """Write down, free of charge, which file holds a release that was charged here, with the digest of the file.

        Parameters
        ----------
        release : Release
            A release that this ledger was charged for.
        path : path
            The file that was written from it; it is named as seen from the folder of the ledger.

        Returns
        -------
        Output
            The free entry; the one that is there already, if the same was written down before.
        """
        (given,) = as_releases([release])
        check_own(given, self.study)
        sha256, file = digest_of(path), printable(_as_seen_from(self.path.parent, path))
        check_text("the name of an output is", file, "Choose a shorter one.")
        with store.writing(self.path) as db:
            self._settled(db)
            charge, sealed_as = self._charge_of(db, given)
            known = store.outputs_of(db, charge)
            if known and (known[-1].file, known[-1].sha256) == (file, sha256):
                return known[-1]
            last = store.last_output(db)
            output = Output(1 if last is None else last.number + 1, entries.now(), charge, file, sha256, "")
            sealed = output.on(self._study_seal(db) if last is None else last.seal, sealed_as)
            output = replace(output, seal=sealed)
            store.add_output(db, output)
        return output

    def verify(self, releases: Iterable[Charged] = ()) -> tuple[Entry, ...]:
        """The charges of these releases, if this is the ledger in use, intact to its first entry, and holds them all.

        A ledger that was rolled back or forked lacks a charge that a saved release names with its seal.

        Parameters
        ----------
        releases : iterable of Release, optional
            Saved releases. Default: none, the ledger alone is checked.
        """
        found = self.examine(releases)
        for finding in found:
            if finding.problem:
                raise LedgerError(finding.problem)
        return tuple(finding.entry for finding in found if finding.entry is not None)

    def examine(self, releases: Iterable[Charged] = (), *, copy: bool = False) -> tuple[Finding, ...]:
        """The same with an answer for each release, in their order: its charge, or what is wrong.

        Parameters
        ----------
        releases : iterable of Release, optional
            Saved releases.
        copy : bool
            Whether a copy of the ledger will do: its seals are checked, and it may lack what was charged since.
        """
        seen = home.testimony(self.path)
        with store.reading(self.path) as db:
            book = store.load_book(db, self.path.name, self.study)
            if not copy:
                self._refuse_elsewhere(db, book.balance, seen)
        return tuple(examine(book.entries, release, self.study, self.path.name) for release in as_releases(releases))

    def backup(self, path: str | os.PathLike[str]) -> Path:
        """One state of the ledger in a new file, while others go on charging; it refuses charges until adopted.

        Parameters
        ----------
        path : path
            The new file.
        """
        target = as_path(path, "a backup", "Pass path='study.backup'.").absolute()
        with store.copied(self.path, self.study) as (memory, book), store.making(target) as db:
            _settle(memory, book.balance.settled(home.BACKUP, "no"))
            memory.backup(db)
        return target

    def adopt(self, *, releases: Iterable[Charged] = (), spent: Epsilon | None = None) -> tuple[Entry, ...]:
        """Make a copied or restored file the one in use, after writing in what was released since it was copied.

        The act is recorded. Whoever adopts a copy says that no other is in use: the promise of the budget rests on it.
        Of a ledger that is in use and lacks nothing, nothing is changed.

        Parameters
        ----------
        releases : iterable of Release, optional
            The saved releases that the file may lack.
        spent : float, str or Fraction, optional
            What was spent since it was copied, as an amount; 0: nothing was released.
        """
        given = as_releases(releases)
        amount = Fraction(0) if spent is None or exact_fraction(spent) == 0 else as_epsilon(spent, "spent")
        with store.writing(self.path) as db:
            seen, book = home.testimony(self.path), store.load_book(db, self.path.name, self.study)
            balance, new = book.balance, list[Entry]()
            for release in given:
                check_own(release, self.study)
                if entry_of((*book.entries, *new), release) is None:
                    cost, delta_cost = as_epsilon(release.plan.epsilon), _as_delta(release.plan.delta)
                    balance = balance.charged(cost, delta_cost, release.plan.digest, restored(release))
                    new.append(balance.last)
            if not new and not amount and self._in_use(db, balance, seen):
                return ()
            if spent is None and not given:
                raise ParameterError(
                    "what was released since the file was copied must be said", "nothing",
                    "Pass spent=0 if nothing was, spent=1/2 for an amount, or the saved releases.",
                )  # fmt: skip
            if amount:
                balance = balance.charged(amount, Fraction(0), "unknown", UNKNOWN_RELEASES)
                new.append(balance.last)
            for entry in new:
                store.add_entry(db, entry)
            balance = _settle(db, home.settled_here(self.path, balance))
        home.testify(self.path, home.mark(balance))
        return tuple(new)

    @property
    def in_use(self) -> bool:
        """Whether this file is the ledger in use: no copy, no backup, nothing restored over it."""
        seen = home.testimony(self.path)
        with store.reading(self.path) as db:
            return self._in_use(db, store.load_balance(db, self.path.name, self.study), seen)

    def _repr_html_(self) -> str:
        """The budget, and the last charges."""
        return tables.as_html(self.book())

    def _read(self) -> Balance:
        with store.reading(self.path) as db:
            return store.load_balance(db, self.path.name, self.study)

    def book(self) -> Book:
        """All of it, verified: the balance, every charge and every free entry."""
        with store.reading(self.path) as db:
            return store.load_book(db, self.path.name, self.study)

    def _settled(self, db: sqlite3.Connection) -> Balance:
        """The balance of a ledger in use that is about to be written to, with its home written down."""
        seen = home.testimony(self.path)
        balance = store.load_balance(db, self.path.name, self.study)
        self._refuse_elsewhere(db, balance, seen)
        if home.is_unsettled(self.path, balance):
            home.testify(self.path, home.mark(balance))
            balance = _settle(db, home.settled_here(self.path, balance))
        return balance

    def _charge_of(self, db: sqlite3.Connection, release: Charged) -> tuple[int, str]:
        """Number and seal of a release's charge; all entries are read only where an adoption may have written it in."""
        if release.entry and release.seal and store.seal_of(db, release.entry) == release.seal:
            return release.entry, release.seal
        found = entry_of(store.load_book(db, self.path.name, self.study).entries, release)
        if found is None:
            raise LedgerError(f"{self.path.name!r} does not hold the charge of this {release.query}. Use its own.")
        return found.number, found.seal

    def _refuse_repeated(self, db: sqlite3.Connection) -> None:
        if self.run and store.has_run(db, self.run):
            raise AlreadyCharged(f"The run {self.run!r} was charged to {self.path.name!r} before. Nothing was charged.")

    def _in_use(self, db: sqlite3.Connection, balance: Balance, seen: str | None) -> bool:
        try:
            self._refuse_elsewhere(db, balance, seen)
        except LedgerError:
            return False
        return True

    def _study_seal(self, db: sqlite3.Connection) -> str:
        sealed = store.seal_of(db, 0)
        assert sealed is not None  # the balance was read
        return sealed

    def _refuse_elsewhere(self, db: sqlite3.Connection, balance: Balance, seen: str | None) -> None:
        home.refuse_elsewhere(self.path, balance, seen, partial(store.seal_of, db))

    def _standing(self, balance: Balance) -> Entry:
        """The last charge, once the file at our path is seen to hold it."""
        with store.reading(self.path) as db:
            found = store.seal_of(db, balance.last.number)
        if found != balance.last.seal:
            raise LedgerError(
                f"The ledger {self.path.name!r} was replaced while it was charged, so nothing is released. "
                f"See what stands now: dpfda ledger history {self.path.name}."
            )
        home.testify(self.path, home.mark(balance))
        return balance.last


def _settle(db: sqlite3.Connection, settled: Balance) -> Balance:
    store.add_home(db, settled.homes[-1])
    return settled


def _as_seen_from(folder: Path, path: str | os.PathLike[str]) -> str:
    """A path as seen from a folder, so that a study that is moved as a whole still finds its files."""
    try:
        return Path(os.path.relpath(os.path.realpath(path), os.path.realpath(folder))).as_posix()
    except ValueError:  # another drive
        return str(Path(path).absolute())


def _as_delta(value: object) -> Fraction:
    delta = exact_fraction(value)
    if delta is None or not 0 <= delta < 1:
        raise ParameterError("delta must be at least 0 and below 1", shown(value), "Pass delta=0 for pure privacy.")
    return delta
