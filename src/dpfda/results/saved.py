"""Releases read again: only whole ones, from files that say so."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from dpfda.core import codec
from dpfda.core.errors import DpfdaError, FileError
from dpfda.core.files import read_text
from dpfda.core.renewal import Renewal
from dpfda.results.base import VERSION, Release
from dpfda.results.classes import ClassRelease
from dpfda.results.density import FITTED, PROJECTED, DensityRelease
from dpfda.results.differences import Difference
from dpfda.results.groups import GroupRelease
from dpfda.results.joint import JointRelease
from dpfda.results.radius import RadiusRelease
from dpfda.results.survival_difference import kind_of
from dpfda.results.wording import cost

if TYPE_CHECKING:
    from dpfda.problems.stage import Stage

#: What reading a file that was damaged or edited may end in.
DAMAGE = (LookupError, TypeError, AttributeError, ValueError, ArithmeticError, MemoryError)


#: What a file of :meth:`Release.save` and its like holds.
Saved: TypeAlias = Release | GroupRelease[Release] | ClassRelease | RadiusRelease | Difference


def described(release: Saved) -> str:
    """What a file of it is, in a few words: which release, what it cost, and when it was made."""
    made = f"made {release.created}" if release.created else "made without a date"
    made += f", charged as entry {release.entry} of {release.study!r}" if release.study else ", charged to no ledger"
    if isinstance(release, Difference):
        of = f"{release.first} minus {release.second}, of a {release.left.title}"
        return f"a difference, {of}, {cost(release.plan)} for all groups, {made}"
    if isinstance(release, JointRelease):
        names, word = ", ".join(release), release.plan.member_word
        each = next(iter(release.values())).title
        return f"a release of a {each} for each {word} ({names}), {cost(release.plan)} together, {made}"
    title = f"radius, {release.radius:.6g}" if isinstance(release, RadiusRelease) else release.title
    return f"a release of a {title}, {cost(release.plan)}, {made}"


def load(path: str | os.PathLike[str]) -> Saved:
    """A release (or one per group, or a difference of two) from the file that :meth:`Release.save` wrote.

    Damaged and edited files are refused. The file decides: parameters that another version or machine would select
    differently are taken as they were chosen.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    Release, GroupRelease, ClassRelease, RadiusRelease or Difference
        What was saved, of the same kind.

    Raises
    ------
    dpfda.errors.FileError
        Where the file is none of ours, was edited or is damaged.

    Examples
    --------
    >>> import os, tempfile, numpy as np, dpfda as dp
    >>> release = dp.mean(np.zeros((100, 12)), epsilon=1.0, bound=dp.L2Ball(1.0))
    >>> path = release.save(os.path.join(tempfile.mkdtemp(), "mean.json"))
    >>> dp.results.load(path).plan == release.plan
    True
    """
    text = read_text(path, "release")
    name = Path(path).name
    kind = codec.kind_of(text)
    if kind == "releases":
        return _together(codec.unseal(text, kind, VERSION, name), name)
    if kind == "difference":
        return _difference(codec.unseal(text, kind, VERSION, name), name)
    if kind == "radius":
        return _radius(codec.unseal(text, kind, VERSION, name), name)
    return _single(codec.unseal(text, "release", VERSION, name), name)


def _together(body: dict[str, Any], name: str) -> GroupRelease[Release] | ClassRelease:
    plan, bodies = codec.from_plain(body.get("plan")), body.get("releases")
    members = plan.members if hasattr(plan, "composition") else {}  # several plans under one charge
    if not members or not isinstance(bodies, dict) or list(bodies) != list(members) or not _of_members(bodies, members):
        raise FileError(f"{name!r} does not hold whole releases.")
    for member, part in bodies.items():
        members[member].take_choice(part.get("chosen"))
    parts = {member: _single(part, name) for member, part in bodies.items()}
    released: GroupRelease[Release] | ClassRelease = plan.release_type(plan, parts)
    return released


def _difference(body: dict[str, Any], name: str) -> Difference:
    """The difference that :meth:`Difference.to_json` wrote: of two groups of its plan, under one charge."""
    plan = codec.from_plain(body.get("plan"))
    try:
        first, second = body["first"], body["second"]
        sides, members = {first: body["left"], second: body["right"]}, plan.members
        whole = plan.release_type is GroupRelease and len(sides) == 2 and _of_members(sides, members)
        if whole:
            for member, part in sides.items():
                members[member].take_choice(part.get("chosen"))
            left, right = (_single(part, name) for part in sides.values())
            found = kind_of(left, right)(first, second, left, right, plan)
            values, now = np.array(body["values"], dtype=float), found.values.ravel()
            near = 1e-9 * (1 + np.abs(values).max())
            whole = values.shape == now.shape and np.allclose(now, values, rtol=0, atol=near)
            whole = whole and len({_making(part) for part in (found.left, found.right)}) == 1
    except DpfdaError:
        raise
    except DAMAGE:
        whole = False
    if not whole:
        raise FileError(f"{name!r} does not hold a whole difference.")
    return found


def _making(release: Release) -> tuple[object, ...]:
    """What releases under one charge have in common."""
    return release.query, release.created, release.study, release.entry, release.seal, release.order


def _of_members(bodies: Mapping[str, object], members: Mapping[str, object]) -> bool:
    """Whether each release is of the plan that the charge of all was for."""
    return all(
        isinstance(part, dict) and codec.from_plain(part.get("plan")) == members[m] for m, part in bodies.items()
    )


def _single(body: dict[str, Any], name: str) -> Release:
    """The release that :meth:`Release.body` describes."""
    try:
        plan = codec.from_plain(body["plan"])
        plan.take_choice(body["chosen"])
        scales, values = np.array(body["scales"], dtype=float), np.array(body["values"], dtype=float)
        if not np.allclose(scales, plan.scales, rtol=1e-6, atol=0):
            plan = replace(plan, method=codec.from_plain(body["chosen"]))
        release: Release = plan.release_type(
            plan=plan,
            coefficients=codec.frozen_array(body["coefficients"]),
            raw=codec.frozen_array(body["raw"]),
            query=str(body["query"]),
            created=str(body["created"]),
            study=body["study"],
            entry=body["entry"],
            seal=body["seal"],
            renewal=Renewal.from_plain(body.get("renewal")),
            steps=tuple(map(str, body["steps"])),
            order=int(body["order"]),
            **plan.schedule.extra_fields([codec.frozen_array(d) for d in body.get("drawn", ())]),
        )
        whole = release.is_whole and values.shape == (release.values.size,) and release.order in (0, 1)
        whole = whole and np.allclose(scales, plan.scales, rtol=1e-3, atol=0)
        whole = whole and all(np.isfinite(a).all() for a in (release.coefficients, release.raw, values))
        whole = whole and _well_named(release) and _well_drawn(release)
        if whole:
            with np.errstate(all="ignore"):  # what overflows is not whole
                release = _on_this_machine(release, values)
                whole = bool(np.isfinite(release.values).all())
    except DpfdaError:
        raise
    except DAMAGE:
        whole = False
    if not whole:
        raise _not_whole(name)
    return release


def _not_whole(name: str) -> FileError:
    return FileError(f"{name!r} does not hold a whole release.")


def _radius(body: Mapping[str, codec.Plain], name: str) -> RadiusRelease:
    """The release that :meth:`RadiusRelease.to_json` wrote: one of the radii that its plan offers."""
    try:
        plan, radius = codec.from_plain(body["plan"]), codec.frozen_array([body["radius"]])
        release: RadiusRelease = plan.release_type(
            plan=plan,
            coefficients=radius,
            raw=radius,
            query=str(body.get("query", RadiusRelease.query)),  # version 0.1 did not say
            created=str(body["created"]),
            study=body["study"],
            entry=body["entry"],
            seal=body["seal"],
            renewal=Renewal.from_plain(body.get("renewal")),
        )
        whole = isinstance(release, RadiusRelease) and _well_named(release)
        whole = whole and bool(np.isclose(plan.radii, release.radius, rtol=1e-9, atol=0).any())
    except DpfdaError:
        raise
    except DAMAGE:
        whole = False
    if not whole:
        raise _not_whole(name)
    return release


def _well_drawn(release: Release) -> bool:
    """Where draws are kept: one for each stage that they lead to, each of its size, and none is missing."""
    plan, drawn = release.plan, release.drawn
    if not plan.schedule.keeps_draws:
        return True
    stage: Stage | None = plan.stage
    for number, draw in enumerate(drawn):
        if stage is None or draw.shape != (stage.problem.size,) or not np.isfinite(draw).all():
            return False
        stage = plan.schedule.next(drawn[: number + 1])
    return stage is None


def _well_named(release: Release | RadiusRelease) -> bool:
    """Names that can be printed, and a charge that is recorded whole or not at all."""
    charge = (release.study, release.entry, release.seal)
    recorded = isinstance(charge[0], str) and isinstance(charge[1], int) and isinstance(charge[2], str)
    texts = [release.query, release.created, *release.steps, *(x for x in charge if isinstance(x, str))]
    return (recorded or charge == (None, None, None)) and all(text.isprintable() for text in texts)


def _on_this_machine(release: Release, values: np.ndarray) -> Release:
    """Eigenvectors may come out rotated under another linear-algebra library; the saved values decide."""
    if isinstance(release, DensityRelease) and {PROJECTED, FITTED} & set(release.steps):
        return replace(release, shape=codec.frozen_array(values.reshape(release.grid.shape)))
    if release.order or np.allclose(release.values.ravel(), values, rtol=0, atol=1e-9 * (1 + np.abs(values).max())):
        return release
    about = codec.frozen_array(release.plan.basis.coefficients(values - release.plan.problem.offset))
    return replace(release, coefficients=about, raw=about, steps=(*release.steps, "re-expressed in this basis"))
