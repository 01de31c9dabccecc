"""`dpfda show`: anything that dpfda wrote, read again. The first line says what the file is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from dpfda import audits, reports, results
from dpfda.cli import foreign, ledgers, outputs, planfiles
from dpfda.cli.commands import command
from dpfda.cli.console import out
from dpfda.core import codec, files
from dpfda.core.errors import FileError, ParameterError, printable
from dpfda.engines import checkpoints
from dpfda.results import Difference, GroupRelease, RadiusRelease
from dpfda.results.joint import JointRelease
from dpfda.results.saved import Saved, described
from dpfda.results.survival_difference import SurvivalDifference

#: What files can be, for those that cannot be read at all.
ANY = "plan, release, summary, audit or ledger"


@command()
def show_command(
    file: Annotated[Path, typer.Argument(help="A plan, a release of any kind, a summary, an audit or a ledger.")],
    difference: Annotated[
        str | None, typer.Option(help="Of a release of groups: the first of two groups minus the second, as A,B.")
    ] = None,
    methods_text: Annotated[
        bool, typer.Option("--methods-text", help="Print the methods paragraph of a paper, not the statement.")
    ] = False,
    output: Annotated[Path | None, typer.Option("--out", help="Write the difference as JSON.")] = None,
    plot: outputs.Picture = None,
    csv: outputs.Csv = None,
    html: Annotated[
        Path | None, typer.Option("--html", help="Write a page that stands alone: of a release or a plan, its report.")
    ] = None,
    kind: outputs.PictureKind = None,
    of: outputs.PictureOf = None,
    as_json: outputs.AsJson = False,
) -> None:
    """Show any file that dpfda wrote: the statement of a release, the table of a plan, the balance of a ledger.

    Example: dpfda show mean.json --plot again.png
    """
    places = {"--difference": difference, "--methods-text": methods_text, "--out": output, "--plot": plot, "--csv": csv}
    given = [name for name, value in places.items() if value]
    head = files.read_head(file, ANY, foreign.HEAD)
    if foreign.is_ledger(head):
        _refuse(given, "a ledger has no curve and no methods")
        written = _write_page(html, file, lambda: reports.ledger_page(file))
        ledgers.show_ledger(file, as_json)
        _say_written(written, as_json)
        return
    sealed = codec.kind_of(files.read_text(file, ANY)) if foreign.may_be_sealed(head) else ""
    if sealed not in SHOWN and sealed not in RELEASES:
        raise _unknown(file, head, sealed)
    if sealed in SHOWN:
        _show_other(file, sealed, given, html, as_json)
        return
    release = results.load(file)
    what = described(release)
    if difference is not None:
        release = difference_of(release, difference)
        what = f"{what}; shown is {release.first} minus {release.second}"
    elif output is not None:
        raise ParameterError("--out writes a difference", "none", "Add --difference A,B, or copy the file.")
    if isinstance(release, RadiusRelease):
        _refuse([name for name in given if name != "--methods-text"], "a radius has no curve to write")
    words = outputs.SurvivalPicture(kind=kind, of=of).words(plot)
    if words and not _is_survival(release):
        raise ParameterError("--kind and --of draw survival curves", what, "Drop them.")
    with outputs.Outputs(out=output, csv=csv, plot=plot).reserved(file, html, **words) as write:
        written = write(release)
    written += _write_page(html, file, lambda: reports.report(release))
    if as_json:
        more: dict[str, object] = {"methods_text": release.methods_text()} if methods_text else {}
        more |= {"written": written} if written else {}
        out.print_json(data={"file": _kind_of(release), **figures(release), **more})
        return
    say_what(file, what)
    out.print(release.methods_text() if methods_text else outputs.told(release))
    _say_written(written)


def _say_written(written: Sequence[str], as_json: bool = False) -> None:
    """The last line: where something went."""
    if written and not as_json:
        out.print(f"\nWritten: {', '.join(written)}")


def _is_survival(release: Saved) -> bool:
    first = next(iter(release.values())) if isinstance(release, JointRelease) else release
    return isinstance(first, results.SurvivalRelease)


def say_what(file: Path, words: str) -> None:
    """The first line: what the file is."""
    out.print(f"{printable(file.name)}: {words}\n")


def figures(release: Saved) -> dict[str, object]:
    """A release for --json."""
    if not isinstance(release, Difference):
        return outputs.shown(release)
    band, test = release.shown_band(), release.test() if release.has_bands else None
    return {
        "plan": release.plan.digest,
        "epsilon": float(release.plan.epsilon),
        "delta": float(release.plan.delta),
        "composition": release.plan.composition,
        "first": release.first,
        "second": release.second,
        "created": release.created,
        "study": release.study,
        "entry": release.entry,
        "p_value": None if test is None else test.p_value,
        **_mean_difference(release),
        "differs": None if test is None else test.where.ravel().tolist(),
        "grid": release.grid.points.tolist(),
        "values": release.values.ravel().tolist(),
        "lower": band.lower.ravel().tolist(),
        "upper": band.upper.ravel().tolist(),
        "covers": band.covers,
    }


def _mean_difference(release: Difference) -> dict[str, list[float]]:
    """The difference of mean survival times with its interval, of survival curves."""
    if not isinstance(release, SurvivalDifference):
        return {}
    found = release.rmst()
    return {"rmst": [found.value, found.lower, found.upper]}


def difference_of(release: Saved, names: str) -> Difference:
    """The difference that was asked for."""
    if not isinstance(release, GroupRelease):
        raise ParameterError("a difference is of two groups of one release", described(release), "Drop --difference.")
    first, second = two_groups(names, list(release))
    return release.difference(first, second)


def two_groups(names: str, groups: Sequence[str]) -> tuple[str, str]:
    """Two groups as they are written, with a comma between them: the one that parts two groups, where names have some.

    >>> two_groups("north, south", ["north", "south"])
    ('north', 'south')
    >>> two_groups("Bath, North,South", ["Bath, North", "South"])
    ('Bath, North', 'South')
    """
    parts = names.split(",")
    pairs = [(",".join(parts[:i]).strip(), ",".join(parts[i:]).strip()) for i in range(1, len(parts))]
    found = [pair for pair in pairs if pair[0] in groups and pair[1] in groups]
    if len(found) != 1:
        raise ParameterError(
            "--difference names two groups, with a comma between them",
            repr(names[:60]),
            f"The groups are {' and '.join(map(repr, groups[:9]))}{', and more' if len(groups) > 9 else ''}.",
        )
    return found[0]


# -- what is no release -------------------------------------------------------------------


def _show_plan(file: Path, as_json: bool) -> None:
    plan = planfiles.read_any_plan(file)
    if as_json:
        out.print_json(data={"file": "plan", **outputs.figures(plan)})
        return
    say_what(file, planfiles.described(plan))
    out.print(repr(plan))


def _show_summary(file: Path, as_json: bool) -> None:
    saved = checkpoints.load(file)
    if as_json:
        names = [part.name for part in saved.parts]
        out.print_json(data={"file": "summary", "family": saved.plan, "files": names, "confidential": True})
        return
    count = len(saved.parts)
    of = f"of {count} file{'' if count == 1 else 's'} for the plan family {saved.plan[:12]}"
    say_what(file, f"a summary {of}")
    out.print(checkpoints.NOTICE)


def _show_audit(file: Path, as_json: bool) -> None:
    report = audits.SavedAudit.load(file)
    if as_json:
        out.print_json(data={"file": "audit", **report.body})
        return
    say_what(file, report.title)
    out.print(str(report))


#: How files that are no releases are shown, by what they say they are.
SHOWN = {"plan": _show_plan, "summary": _show_summary, "audit": _show_audit}
RELEASES = ("release", "releases", "radius", "difference")
#: Their pages; a summary is confidential and has none.
PAGES: dict[str, Callable[[Path], str]] = {
    "plan": reports.report,
    "audit": lambda file: audits.SavedAudit.load(file).to_html(),
}


def _show_other(file: Path, sealed: str, given: Sequence[str], html: Path | None, as_json: bool) -> None:
    """What is no release, and its page where one is asked for."""
    _refuse(given, f"{codec.KINDS[sealed]} has no curve and no methods")
    if html is not None and sealed not in PAGES:
        raise ParameterError(f"{codec.KINDS[sealed]} is confidential", "--html", "Release it first.")
    written = _write_page(html, file, lambda: PAGES[sealed](file))
    SHOWN[sealed](file, as_json)
    _say_written(written, as_json)


def _write_page(path: Path | None, file: Path, content: Callable[[], str]) -> list[str]:
    """The page of a file, where one is asked for; never over the file itself."""
    if path is None:
        return []
    with files.reserved([path], [file]) as places:
        return [str(places[path].write(content()))]


def _kind_of(release: Saved) -> str:
    """What the file of a release says that it is."""
    if isinstance(release, Difference | RadiusRelease):
        return "difference" if isinstance(release, Difference) else "radius"
    return "release" if isinstance(release, results.Release) else "releases"


def _refuse(given: Sequence[str], why: str) -> None:
    """Options that a file of this kind has no use for."""
    if given:
        raise ParameterError(why, ", ".join(given), "Show a release, or drop this.")


def _unknown(file: Path, head: bytes, kind: str) -> FileError:
    name = repr(file.name[:60])
    if kind:
        return FileError(f"{name} says that it is a {kind[:40]!r}, which this version does not know. Update dpfda.")
    if foreign.may_be_sealed(head) and codec.is_json(files.read_text(file, ANY)):
        return FileError(f"{name} is no {ANY}: it is JSON of something else. Check the path.")
    return foreign.stranger(file, head)
