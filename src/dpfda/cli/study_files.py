"""A study in one file (TOML): its budget, its source, what is protected, the bound, and any number of releases.

All of it is checked before anything is read or charged. The options of a release are those of the command of its kind;
those that releases share stand in the tables of the source, the units and the bound.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import TypeAlias, cast
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from dpfda.cli.commands import Parameters
from dpfda.core import codec
from dpfda.core.checks import as_epsilon, check_name
from dpfda.core.errors import FileError, ParameterError, shown
from dpfda.core.files import read_text
from dpfda.ledger.periods import PERIODS, check_period, name_of

VERSION = 1
#: A table of the file: nothing in it is believed before it is checked.
Said: TypeAlias = Mapping[str, object]
#: How often a study runs: once, or once in every such stretch of the calendar. A night lasts from noon to noon.
EVERY = ("once", "night", *PERIODS)
TABLES = {
    "budget": ("epsilon", "delta", "period", "run", "ledger", "note", "operator"),
    "units": ("unit", "most", "order", "neighbors", "invalid"),
    "bound": ("range", "radius", "rms", "center", "norm", "value", "record"),
    "output": ("folder", "write"),
}
TOP = ("version", "study", "every", "timezone", "source", "release", *TABLES)
#: What the study itself says of every release, so that no release can say it.
SETTLED = (
    "epsilon", "ledger", "study", "note", "operator", "run", "out", "csv", "plot", "statement", "methods-text",
    "surface", "components", "json", "quiet", "plan", "dry-run",
)  # fmt: skip
OWN = ("name", "kind", "share", "write")
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,60}")
#: What can be written beside the release itself.
WORDS = ("statement", "methods")
WRITES = ("csv", "png", "pdf", "svg", *WORDS)
FOLDER = "published/{run}"
#: Characters of a path, a note or a name.
LONGEST = 500


@dataclass(frozen=True)
class Job:
    """One release of a study: which command, with which options, what it costs, and what is written."""

    name: str
    kind: str
    epsilon: Fraction
    data: tuple[str, ...]
    options: tuple[str, ...]
    writes: tuple[str, ...]
    digest: str

    def files(self, folder: Path) -> dict[str, Path]:
        """Where everything goes, by what it is; the release itself first."""
        endings = {"statement": "statement.txt", "methods": "methods.txt"}
        return {what: folder / f"{self.name}.{endings.get(what, what)}" for what in ("json", *self.writes)}


@dataclass(frozen=True)
class Study:
    """A study file, checked."""

    path: Path
    name: str
    epsilon: Fraction
    delta: Fraction
    period: str
    per_run: Fraction
    ledger: Path | None
    note: str
    operator: str
    every: str
    zone: ZoneInfo
    folder: str
    jobs: tuple[Job, ...]
    digest: str

    def label(self, now: datetime) -> str:
        """The stretch of the calendar that a moment belongs to: what a run is called. It depends on no data."""
        if self.every == "once":
            return "once"
        there = now.astimezone(self.zone)
        if self.every == "night":
            return name_of("day", (there - timedelta(hours=12)).date())
        return name_of(self.every, there.date())


def read_study(path: Path, commands: Mapping[str, Parameters]) -> Study:
    """The study of a file; `commands` are the kinds of releases there are, by name, with their options."""
    if path.suffix.lower() != ".toml":
        raise FileError(f"A study file ends in .toml, not in {path.suffix or 'nothing'!r}. Check the path.")
    text = read_text(path, "study file")
    try:
        said = tomllib.loads(text.removeprefix("\ufeff"), parse_float=str)
    except tomllib.TOMLDecodeError as error:
        raise FileError(f"{path.name!r} is not a study file: {error}. Repair it.") from None
    except (ValueError, RecursionError):  # numbers of thousands of digits, tables nested thousands deep
        raise FileError(f"{path.name!r} is not a study file: it holds what nobody writes. Repair it.") from None
    return _Checked(path, said, commands).study()


class _Checked:
    """What a file says, while it is checked."""

    def __init__(self, path: Path, said: Said, commands: Mapping[str, Parameters]):
        self.path, self.said, self.commands = path, said, commands

    def study(self) -> Study:
        version = self.said.get("version")
        if type(version) is not int or version != VERSION:
            found = "none" if version is None else f"version {shown(version)}"
            raise self._wrong(f"a study file says version = {VERSION}", found, "Write it in the first line.")
        self._check_keys(self.said, TOP, "")
        for table, keys in TABLES.items():
            self._check_keys(self._table(table), keys, f"[{table}] ")
        budget = self._table("budget")
        name = self._text("study", self.said.get("study", ""))
        check_name("names of studies", name)
        if not name.strip():
            raise self._wrong("a study has a name", "none", 'Write study = "load 2026".')
        epsilon = self._amount("budget.epsilon", budget.get("epsilon"))
        per_run = self._amount("budget.run", budget.get("run", str(epsilon)))
        if per_run > epsilon:
            raise self._wrong(
                f"budget.run is at most budget.epsilon, {epsilon}", str(per_run), "One run cannot spend more than all."
            )
        texts = {key: self._text(f"budget.{key}", budget.get(key, "")) for key in ("ledger", "note", "operator")}
        return Study(
            path=self.path,
            name=name,
            epsilon=epsilon,
            delta=self._delta(budget),
            period=self._period(budget.get("period")),
            per_run=per_run,
            ledger=Path(texts["ledger"]) if texts["ledger"] else None,
            note=texts["note"],
            operator=texts["operator"],
            every=self._every(),
            zone=self._zone(),
            folder=self._folder(self._every()),
            jobs=self._jobs(name, per_run),
            digest=codec.digest(self.said),
        )

    # -- releases ---------------------------------------------------------------------------

    def _jobs(self, study: str, per_run: Fraction) -> tuple[Job, ...]:
        releases = self.said.get("release", [])
        if not isinstance(releases, list) or not releases or not all(isinstance(one, dict) for one in releases):
            raise self._wrong("a study has releases", "none", 'Write [[release]] and name = "mean" below it.')
        names = [self._name(one) for one in releases]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise self._wrong("each release has a name of its own", f"{twice[0]!r} twice", "Rename one of them.")
        kinds = [self._kind(one, name) for one, name in zip(releases, names, strict=True)]
        shares = [self._share(one, name, len(names)) for one, name in zip(releases, names, strict=True)]
        if sum(shares) > 1:
            raise self._wrong(
                "the shares of all releases add up to at most 1, the budget of a run",
                f"{float(sum(shares)):.6g}",
                "Lower some of them, or raise budget.run.",
            )
        self._check_shared(kinds)
        return tuple(
            self._job(one, name, kind, share, study, per_run)
            for one, name, kind, share in zip(releases, names, kinds, shares, strict=True)
        )

    def _name(self, release: Said) -> str:
        name = release.get("name")
        if not isinstance(name, str) or not NAME.fullmatch(name):
            raise self._wrong(
                "the name of a release is made of a-z, 0-9, - and _", shown(name), 'Write name = "mean-by-region".'
            )
        return name

    def _kind(self, release: Said, name: str) -> str:
        kind = release.get("kind", name)
        if not isinstance(kind, str) or kind not in self.commands:
            kinds = ", ".join(self.commands)
            raise self._wrong(
                f"the kind of a release is one of {kinds}", shown(kind), f'Write kind = "mean" in {name!r}.'
            )
        return str(kind)

    def _share(self, release: Said, name: str, count: int) -> Fraction:
        if "share" not in release:
            raise self._wrong(
                "each release has a share of what a run may spend", f"none for {name!r}", f'Write share = "1/{count}".'
            )
        share = codec.exact_fraction(release["share"])
        if share is None or not 0 < share <= 1:
            raise self._wrong(
                f"the share of {name!r} is above 0 and at most 1", shown(release["share"]), 'Write share = "1/4".'
            )
        return share

    def _check_shared(self, kinds: Iterable[str]) -> None:
        """What releases share is known to one of them at least; what protects them, to all."""
        source = self._table("source")
        if "data" not in source:
            raise self._wrong("a study has a source", "none", 'Write data = "curves.csv" below [source].')
        self._data(source["data"])
        known = {key for kind in kinds for key in self.commands[kind].names} - set(SETTLED)
        for table in ("source", "bound"):
            given = {key: value for key, value in self._table(table).items() if key != "data"}
            self._check_keys(given, sorted(known), f"[{table}] ")

    def _job(self, release: Said, name: str, kind: str, share: Fraction, study: str, per_run: Fraction) -> Job:
        parameters, given = self.commands[kind], {k: v for k, v in release.items() if k not in (*OWN, "data")}
        if settled := sorted(_spelt(key) for key in given if _spelt(key) in SETTLED):
            raise self._wrong(
                f"{settled[0]!r} is settled by the study itself", f"one in {name!r}",
                "Use share, [budget], [output] and write instead.",
            )  # fmt: skip
        self._check_keys(given, [k for k in parameters.names if k not in SETTLED], f"[[release]] {name!r}: ")
        shared = {key: value for table in ("source", "bound") for key, value in self._table(table).items()}
        options = {k: v for k, v in shared.items() if k != "data" and _spelt(k) in parameters.names}
        for key, value in self._table("units").items():
            if _spelt(key) not in parameters.names and key not in release:
                raise self._wrong(
                    f"a {kind} knows no {key}", f"one in [units] for {name!r}",
                    "Move it to the releases that do: [units] holds for all.",
                )  # fmt: skip
            options[key] = value
        options |= given
        if given.get("unit") == "":  # each of its records counts by itself: its data have no such column
            options = {key: value for key, value in options.items() if key not in ("unit", "most", "order")}
        if isinstance(options.get("groups"), dict) and "n" not in given:
            options.pop("n", None)
        if options.get("by") is not None and "n" in options and "n" not in given:
            raise self._wrong(
                "n in [source] is the number of all records, and a release of groups says how many each has",
                f"none in {name!r}",
                "Write groups = {north = 500, south = 800} there, or n if all have the same.",
            )
        data, writes = self._data(release.get("data", self._table("source")["data"])), self._writes(release, name, kind)
        words = tuple(word for key, value in options.items() for word in self._spelt(parameters, name, key, value))
        epsilon = per_run * share
        facts = {
            "study": study,
            "name": name,
            "kind": kind,
            "epsilon": str(epsilon),
            "data": data,
            "options": sorted(words),
        }
        return Job(name, kind, epsilon, data, words, writes, codec.digest(codec.to_plain(facts)))

    def _spelt(self, parameters: Parameters, name: str, key: str, value: object) -> list[str]:
        try:
            return parameters.spelt(_spelt(key), value)
        except ParameterError as error:
            raise self._wrong(f"{name!r}: {error.rule}", error.given, error.cure) from None

    def _data(self, given: object) -> tuple[str, ...]:
        found = [given] if isinstance(given, str) else given
        if not isinstance(found, list) or not found or not all(isinstance(one, str) and one for one in found):
            raise self._wrong("data is a path, a pattern or a list of them", shown(given), 'Write data = "curves.csv".')
        if wrong := [one for one in found if one.startswith("-") or not one.isprintable() or len(one) > LONGEST]:
            raise self._wrong("data is a path, not an option", shown(wrong[0]), 'Write data = "./-name.csv".')
        return tuple(found)

    def _writes(self, release: Said, name: str, kind: str) -> tuple[str, ...]:
        given = release.get("write", self._table("output").get("write", []))
        found = [given] if isinstance(given, str) else given
        if not isinstance(found, list) or (wrong := [one for one in found if one not in WRITES]):
            given = wrong[0] if isinstance(found, list) else given
            raise self._wrong(f"write lists some of {', '.join(WRITES)}", shown(given), f"Mend it for {name!r}.")
        if kind == "radius":  # a number has no curve
            curves = [one for one in found if one not in WORDS]
            if curves and "write" in release:
                raise self._wrong(f"of a radius write lists some of {', '.join(WORDS)}", shown(curves[0]), "Drop it.")
            found = [one for one in found if one in WORDS]
        return tuple(dict.fromkeys(found))

    # -- single facts -----------------------------------------------------------------------

    def _amount(self, name: str, value: object) -> Fraction:
        try:
            return as_epsilon(value)
        except ParameterError as error:
            raise self._wrong(f"{name}: {error.rule}", error.given, "Write it in [budget].") from None

    def _delta(self, budget: Said) -> Fraction:
        delta = codec.exact_fraction(budget.get("delta", 0))
        if delta is None or not 0 <= delta < 1:
            raise self._wrong("budget.delta is at least 0 and below 1", shown(budget["delta"]), "Leave it out.")
        return delta

    def _period(self, given: object) -> str:
        try:
            return check_period(cast(str | None, given))
        except ParameterError as error:
            raise self._wrong(f"budget.period: {error.rule}", error.given, 'Write period = "year".') from None

    def _every(self) -> str:
        every = self.said.get("every", "once")
        if every not in EVERY:
            raise self._wrong(f"every is one of {', '.join(EVERY)}", shown(every), 'Write every = "night".')
        return str(every)

    def _zone(self) -> ZoneInfo:
        name = self.said.get("timezone", "UTC")
        try:
            return ZoneInfo(cast(str, name))
        except (ZoneInfoNotFoundError, ValueError, TypeError, OSError):
            raise self._wrong(
                "timezone is a name of the time zone database", shown(name), 'Write timezone = "Europe/Berlin".'
            ) from None

    def _text(self, name: str, value: object) -> str:
        if not isinstance(value, str) or not value.isprintable() or len(value) > LONGEST:
            raise self._wrong(f"{name} is a text of at most {LONGEST} characters", shown(value), "Put it in quotes.")
        return value

    def _folder(self, every: str) -> str:
        folder = self._text("output.folder", self._table("output").get("folder", FOLDER))
        if every != "once" and "{run}" not in folder:
            raise self._wrong(
                "the folder of a study that runs again names the run", shown(folder), f'Write folder = "{FOLDER}".'
            )
        return folder

    def _table(self, name: str) -> Said:
        table = self.said.get(name, {})
        if not isinstance(table, dict):
            raise self._wrong(f"{name} is a table", shown(table), f"Write [{name}] and its facts below it.")
        return table

    def _check_keys(self, given: Said, known: Iterable[str], where: str) -> None:
        names = list(known)
        for key in given:
            if _spelt(key) not in names and key not in names:
                close = difflib.get_close_matches(key, names, 1)
                hint = f"Did you mean {close[0]!r}?" if close else f"Known are {', '.join(names[:20])}."
                raise self._wrong(f"{where}unknown key".strip(), repr(key[:40]), hint)

    def _wrong(self, rule: str, given: str, cure: str) -> ParameterError:
        return ParameterError(f"{self.path.name}: {rule}", given, cure)


def _spelt(key: str) -> str:
    """A key as the command spells its option."""
    return key.replace("_", "-")
