"""Public names: what each is called, where it stands in the reference, where its source and its proofs are."""

from __future__ import annotations

import functools
import inspect
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dpfda as dp

DOCS = Path(__file__).parents[1]
SOURCE = DOCS.parent / "src" / "dpfda"

#: Pages of the reference: file, title, a line, and the submodules whose names stand there.
GROUPS = [
    (
        "verbs",
        "Release and compare",
        "One call each: what is estimated, of what, under which budget.",
        ["api"],
    ),
    ("reading", "Read records", "Say how records are read; nothing is read before a release needs it.", ["reading"]),
    ("bounds", "Bound a record", "What one record may be at most: public, and never read from data.", ["bounds"]),
    ("spaces", "Grids, people and alignment", "Where curves live, whose they are, how they get there.", ["spaces"]),
    ("plans", "Plan before data", "All that follows from public facts alone.", ["plans"]),
    ("methods", "Methods", "From a problem and a budget to filters and noise.", ["methods", "selection"]),
    ("kernels", "Kernels", "How smooth curves are expected to be.", ["kernels"]),
    ("results", "Releases", "What leaves: curves with bands, statements, pictures.", ["results", "postprocess"]),
    ("models", "Models", "Estimators with the manners of scikit-learn.", ["estimators"]),
    ("budget", "Budget and reports", "The account of a study, and pages about it.", ["ledger", "reports"]),
    ("audits", "Audits", "Attack a plan before somebody else does.", ["audits"]),
    ("engines", "Totals, parts and progress", "Add up here or elsewhere, in parts, and watch it.", ["engines"]),
    ("noise", "Noise", "The laws that are added, and draws for studies.", ["noise"]),
    ("datasets", "Invented data", "Data to try things on: nobody is in them.", ["datasets"]),
    ("errors", "Errors and warnings", "What is raised on purpose, and when.", ["errors"]),
]
#: What a verb, a model or a release does is planned by a class, whose proofs are theirs.
PLANNED = {
    "dp.mean": "dp.MeanPlan",
    "dp.covariance": "dp.CovariancePlan",
    "dp.density": "dp.DensityPlan",
    "dp.percentiles": "dp.PercentilePlan",
    "dp.survival": "dp.SurvivalPlan",
    "dp.suggest_radius": "dp.plans.RadiusPlan",
    "dp.FunctionOnScalarRegression": "dp.plans.RegressionPlan",
    "dp.KernelClassifier": "dp.plans.KernelPlan",
    "dp.KernelRegressor": "dp.plans.KernelPlan",
    "dp.results.MeanRelease": "dp.MeanPlan",
    "dp.results.CovarianceRelease": "dp.CovariancePlan",
    "dp.results.DensityRelease": "dp.DensityPlan",
    "dp.results.PercentileRelease": "dp.PercentilePlan",
    "dp.results.SurvivalRelease": "dp.SurvivalPlan",
    "dp.results.RadiusRelease": "dp.plans.RadiusPlan",
    "dp.results.RegressionRelease": "dp.plans.RegressionPlan",
    "dp.results.FunctionRelease": "dp.plans.KernelPlan",
    "dp.results.SmootherRelease": "dp.plans.SmootherPlan",
    "dp.results.GroupRelease": "dp.plans.GroupPlan",
    "dp.results.ClassRelease": "dp.plans.ClassPlan",
}
#: Where the sensitivity of a plan stands, apart from the plan's own module.
PROBLEMS = {
    "dp.MeanPlan": ("problems/mean.py", "problems/count.py", "plans/rounds.py", "problems/left_out.py"),
    "dp.CovariancePlan": ("problems/covariance.py", "plans/centring.py"),
    "dp.DensityPlan": ("problems/density.py", "problems/bins.py"),
    "dp.PercentilePlan": ("problems/value_cells.py", "problems/rank_moments.py", "problems/pooled_cells.py"),
    "dp.SurvivalPlan": ("problems/survival.py",),
    "dp.plans.RadiusPlan": ("problems/norms.py", "problems/derived.py"),
    "dp.plans.RegressionPlan": ("problems/moments.py", "problems/gram.py", "problems/checked_residuals.py"),
    "dp.plans.KernelPlan": ("problems/risk.py", "spaces/inputs.py"),
    "dp.plans.SmootherPlan": ("problems/moments.py", "problems/gram.py", "spaces/inputs.py"),
    "dp.plans.ClassPlan": ("problems/risk.py", "plans/classes.py"),
}
CITATION = re.compile(r"\(derivations: ([^)]+)\)")


@dataclass(frozen=True)
class Name:
    """A public object under the name that people write."""

    name: str
    value: Any
    group: str
    others: tuple[str, ...] = ()

    @property
    def full(self) -> str:
        """The name that imports it."""
        return "dpfda" + self.name.removeprefix("dp")

    @property
    def page(self) -> str:
        """The file of its page, without a suffix: letters alone may not tell two files apart on every disk."""
        lower = self.name in _names_in_small_letters()
        return self.full + ("-function" if lower else "")

    @property
    def first_line(self) -> str:
        """What it is, in a line."""
        return (documentation(self) or "").strip().split("\n")[0]

    @property
    def kind(self) -> str:
        """The directive of the Python domain that describes it."""
        if inspect.isclass(self.value):
            return "exception" if issubclass(self.value, BaseException) else "class"
        return "function" if inspect.isroutine(self.value) else "data"


@functools.cache
def names() -> tuple[Name, ...]:
    """Every public object once, in the order of the alphabet."""
    spelt: dict[int, list[str]] = {}
    values: dict[int, object] = {}
    for name in dp.__all__:
        value = getattr(dp, name)
        if not inspect.ismodule(value):
            spelt.setdefault(id(value), []).append(f"dp.{name}")
            values[id(value)] = value
            continue
        for member in value.__all__:
            found = getattr(value, member)
            spelt.setdefault(id(found), []).append(f"dp.{name}.{member}")
            values[id(found)] = found
    made = []
    for key, found in spelt.items():
        first, *others = sorted(found, key=lambda name: (name.count("."), not _is_home(name, values[key]), name))
        made.append(Name(first, values[key], _group(first), tuple(others)))
    return tuple(sorted(made, key=lambda one: (one.name.lower(), one.name)))


def _is_home(name: str, value: object) -> bool:
    return (getattr(value, "__module__", "") or "").startswith("dpfda." + name.split(".")[1])


def _group(name: str) -> str:
    parts = name.split(".")
    home = dp._HOME_OF[parts[1]] if len(parts) == 2 else parts[1]
    (group,) = [page for page, _, _, homes in GROUPS if home in homes]
    return group


@functools.cache
def _names_in_small_letters() -> frozenset[str]:
    """Names that another name is written like, but for capitals."""
    lower = [one.name.lower() for one in names()]
    return frozenset(one.name for one in names() if lower.count(one.name.lower()) > 1 and one.name.islower())


@functools.cache
def by_name() -> dict[str, Name]:
    """Each name by whatever it may be written as."""
    return {name: one for one in names() for name in (one.name, *one.others)}


@functools.cache
def classes() -> dict[str, str]:
    """Public classes by their last name alone, where no two share it."""
    found: dict[str, list[str]] = {}
    for one in names():
        if inspect.isclass(one.value):
            found.setdefault(one.name.split(".")[-1], []).append(one.name)
    return {last: spelt[0] for last, spelt in found.items() if len(spelt) == 1}


def of_value(value: object) -> Name | None:
    """The public name of an object, if it has one."""
    return next((one for one in names() if one.value is value), None)


def documentation(one: Name) -> str:
    """Its docstring, or the comment above a type that has a name."""
    if one.kind != "data":
        return inspect.getdoc(one.value) or ""
    for module in [module for name, module in list(sys.modules.items()) if name.startswith("dpfda")]:
        member = one.name.split(".")[-1]
        if vars(module).get(member) is one.value and (text := _comment_above(module, member)):
            return text
    return "What an argument may be."


def _comment_above(module: Any, member: str) -> str:
    found = re.search(rf"((?:^#: .*\n)+){member}\b", inspect.getsource(module), re.MULTILINE)
    return " ".join(line.removeprefix("#: ") for line in found[1].splitlines()) if found else ""


def members(one: Name) -> dict[str, tuple[str, Any]]:
    """What a class and its bases in this package offer: kind and function of each member, by name."""
    found: dict[str, tuple[str, Any]] = {}
    if not inspect.isclass(one.value) or one.kind == "exception":
        return found
    for name in sorted({n for owner in owners(one.value) for n in vars(owner) if not n.startswith("_")}):
        value = inspect.getattr_static(one.value, name)
        if isinstance(value, property) or type(value).__name__ == "cached_property":
            getter = value.fget if isinstance(value, property) else value.func
            found[name] = ("property", getter)
        elif isinstance(value, (classmethod, staticmethod)):
            found[name] = (type(value).__name__, value.__func__)
        elif inspect.isfunction(value):
            found[name] = ("method", value)
        elif hasattr(value, "__wrapped__") and callable(value):
            found[name] = ("method", value.__wrapped__)
    return {name: (kind, value) for name, (kind, value) in found.items() if inspect.getdoc(value)}


def owners(value: type) -> list[type]:
    """A class and those of its bases that are of this package."""
    return [owner for owner in value.__mro__ if owner.__module__.startswith("dpfda")]


def place(value: object) -> tuple[str, str] | None:
    """Module and qualified name where the source of something stands."""
    value = inspect.unwrap(value) if callable(value) else value
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    return (module, name) if module and name and module.startswith("dpfda") else None


# -- Derivations ---------------------------------------------------------------------------------


@functools.cache
def sections() -> dict[str, tuple[str, str]]:
    """Sections of the derivations by name in small letters: title, and where it is from the pages of names."""
    found = {}
    for page in sorted((DOCS / "derivations").glob("*.md")):
        for title in re.findall(r"^## (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE):
            slug = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
            if page.name != "README.md" and title != "Check":
                found[title.lower()] = (title, f"../../derivations/{page.stem}.html#{slug}")
    return found


def derivations(one: Name) -> list[tuple[str, str]]:
    """Title and place of each section that the code of a name rests on."""
    files = dict.fromkeys(_files(one))
    cited = [" ".join(name.split()) for path in files for name in CITATION.findall(path.read_text(encoding="utf-8"))]
    return [sections()[name] for name in dict.fromkeys(cited)]


def _files(one: Name) -> Iterator[Path]:
    classes = owners(one.value) if inspect.isclass(one.value) else [one.value]
    for value in classes:
        if (found := place(value)) and found[0] != "dpfda.datasets":
            path = SOURCE.joinpath(*found[0].split(".")[1:]).with_suffix(".py")
            yield path if path.exists() else path.with_suffix("") / "__init__.py"
    plan = PLANNED.get(one.name, one.name)
    if plan != one.name:
        yield from _files(by_name()[plan])
    yield from (SOURCE / path for path in PROBLEMS.get(plan, ()))
