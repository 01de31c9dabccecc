"""Short spellings on the command line: grids, kernels, methods and bounds as words.

Each parser names the rule, what was given and a spelling that works.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from itertools import pairwise
from typing import Any, TypeVar

from dpfda.bounds import RMS, Above, Bound, BoundLike, L1Ball, L2Ball, Range, RecordFunction, TimeAbove
from dpfda.core.errors import ParameterError, shown
from dpfda.methods import AR, FRL, QR, Auto, Bernstein, Blocks, GaussianProcess, Histogram, KNorm, Method, Minimax
from dpfda.reading.headers import HEADER, FromHeader
from dpfda.spaces.grid import Grid
from dpfda.spaces.kernels import Kernel
from dpfda.spaces.stationary import Cosine, Exponential, Gaussian, Matern, Stationary

T = TypeVar("T")
METHODS: dict[str, type[Method]] = {
    "auto": Auto, "frl": FRL, "ar": AR, "qr": QR, "minimax": Minimax, "knorm": KNorm, "blocks": Blocks,
    "histogram": Histogram, "bernstein": Bernstein, "gaussianprocess": GaussianProcess,
}  # fmt: skip
KERNELS: dict[str, Callable[..., Stationary]] = {"matern": Matern, "exponential": Exponential, "gaussian": Gaussian}
NORMS: dict[str, Callable[..., Bound]] = {"l2": L2Ball, "l1": L1Ball}


def if_given(parse: Callable[[str], T], text: str | None) -> T | None:
    """What a text stands for, if there is one."""
    return parse(text) if text else None


def parse_grid(text: str, axis: str = "t") -> Grid | FromHeader:
    """``start:stop:size`` or ``start:stop:size:midpoints`` (or ``:equal``), or ``header``; the axis as ``hour (h)``."""
    name, _, unit = axis.partition("(")
    name, unit = name.strip(), unit.strip(" )")
    if text == HEADER:
        return FromHeader(name, unit)
    cure = "Write --grid 0:24:48, or 0:24:48:midpoints, or header (the numbers that name the columns)."
    fields = text.split(":")
    try:
        start, stop, size = float(fields[0]), float(fields[1]), int(fields[2])
        rule = fields[3] if len(fields) == 4 else "trapezoid"
    except (IndexError, ValueError):
        raise ParameterError("a grid is start:stop:size", repr(text)[:60], cure) from None
    if len(fields) > 4 or rule not in ("trapezoid", "equal", "midpoints"):
        raise ParameterError("a grid is start:stop:size, then trapezoid, equal or midpoints", repr(text)[:60], cure)
    if rule == "midpoints":
        return Grid.midpoints(start, stop, size, name, unit)
    return Grid.uniform(start, stop, size, rule, name, unit)


def parse_kernel(text: str) -> Kernel:
    """``matern:nu:length``, ``exponential:length``, ``gaussian:length``; ``cosine-`` before it for cosines."""
    name, *numbers = text.split(":")
    plain = name.removeprefix("cosine-")
    if plain not in KERNELS:
        raise ParameterError(
            f"kernel must be one of {', '.join(KERNELS)}, or cosine- and one of them",
            repr(text)[:60],
            "Write --kernel matern:1.5:0.1.",
        )
    try:
        kernel = KERNELS[plain](*(float(x) for x in numbers))
    except (TypeError, ValueError) as error:
        if isinstance(error, ParameterError):
            raise
        raise ParameterError(
            "a kernel is its name and its numbers", repr(text)[:60], "Write --kernel matern:1.5:0.1 or gaussian:0.1."
        ) from None
    return Cosine(kernel) if name != plain else kernel


def parse_method(text: str) -> Method:
    """``qr``, or with options ``qr:psi=0.01,noise=kernel``."""
    name, _, options = text.partition(":")
    name = name.lower()
    if name not in METHODS:
        raise ParameterError(f"method must be one of {', '.join(METHODS)}", repr(text)[:60], "Write --method auto.")
    return keywords(METHODS[name], name, options, "--method")


def keywords(kind: type[T], name: str, options: str, flag: str) -> T:
    """An object from ``key=value`` pairs, by the types of its fields."""
    assert dataclasses.is_dataclass(kind)
    known = {field.name: str(field.type) for field in dataclasses.fields(kind)}
    given: dict[str, Any] = {}
    for option in filter(None, options.split(",")):
        key, _, value = option.partition("=")
        if key not in known:
            raise ParameterError(
                f"{name} takes {', '.join(known) or 'no options'}",
                repr(option)[:60],
                f"Write {flag} {name}:{next(iter(known))}=..." if known else f"Write {flag} {name}.",
            )
        try:
            text_like = "str" in known[key] or "Fraction" in known[key]
            given[key] = value if text_like else int(value) if "int" in known[key] else float(value)
        except ValueError:
            wanted = "a whole number" if "int" in known[key] else "a number"
            raise ParameterError(
                f"{key} must be {wanted}", shown(value), f"Write {flag} {name}:{key}=2, say."
            ) from None
    try:
        return kind(**given)
    except TypeError:
        needed = next(iter(known))
        raise ParameterError(f"{name} needs {needed}", "none", f"Write {flag} {name}:{needed}=...") from None


def parse_domain(ranges: list[str] | None, option: str = "--domain") -> list[tuple[float, float]]:
    """``low:high``, once per coordinate; `option` is where they were written."""
    if not ranges:
        raise ParameterError(
            "a density needs a public domain", "none", "Pass --domain 0:110, once per coordinate: never read from data."
        )
    try:
        return [(float(low), float(high)) for low, high in (text.split(":") for text in ranges)]
    except ValueError:
        text = repr(" ".join(ranges))[:60]
        raise ParameterError(f"{option} is low:high", text, f"Write {option} 0:110.") from None


def parse_between(text: str | None) -> tuple[Any, Any] | None:
    """``first:last``: numbers where both are, else texts."""
    if text is None:
        return None
    first, _, last = text.partition(":")
    if not first or not last:
        raise ParameterError("a stretch is first:last", shown(text), "Write --between A:Mzz, or --between 1:5000.")
    try:
        return float(first), float(last)
    except ValueError:
        return first, last


def parse_cells(text: str) -> list[int] | int:
    """``512``, or ``64x64``."""
    try:
        sizes = [int(part) for part in text.split("x")]
    except ValueError:
        raise ParameterError("cells are whole numbers", shown(text), "Write --cells 512, or 64x64.") from None
    return sizes[0] if len(sizes) == 1 else sizes


def parse_edges(text: str) -> list[float]:
    """Numbers joined by commas; ``start:stop:step`` stands for a run of them, its stop included."""
    edges: list[float] = []
    try:
        for part in text.split(","):
            numbers = [float(x) for x in part.split(":")]
            if len(numbers) == 3:
                start, stop, step = numbers
                count = round((stop - start) / step)
                if not 0 < count <= 100_000:
                    raise ValueError
                edges += [start + i * step for i in range(count + 1)]
            elif len(numbers) == 1:
                edges += numbers
            else:
                raise ValueError
    except (ValueError, ZeroDivisionError, OverflowError):
        raise ParameterError("edges are numbers", repr(text)[:60], "Write --edges 0:95:5,110.") from None
    return edges


def parse_range(text: str, option: str = "--range") -> Range:
    """``low:high``, in the units of the curves."""
    cure = f"Write {option} 2:25, or {option}=-5:5."
    low, _, high = text.partition(":")
    try:
        ends = float(low), float(high)
    except ValueError:
        raise ParameterError(f"{option} is low:high", shown(text), cure) from None
    try:
        return Range(*ends)
    except ParameterError as error:
        raise ParameterError(error.rule, shown(text), cure) from None


def parse_levels(text: str) -> tuple[float, ...]:
    """Percentiles, as shares.

    >>> parse_levels("5,50,97.5")
    (0.05, 0.5, 0.975)
    """
    cure = "Write --levels 5,25,50,75,95."
    try:
        found = [float(part) for part in text.split(",")]
    except ValueError:
        raise ParameterError("levels are percentiles, separated by commas", shown(text), cure) from None
    if not all(0 < level < 100 for level in found):
        raise ParameterError("levels lie strictly between 0 and 100", shown(text), cure)
    if len(found) > 1 and all(level < 1 for level in found):
        said = f"{text.split(',')[0].strip()} would be {found[0]:g} %."
        raise ParameterError("levels are in per cent", shown(text), f"Write --levels 5,50,95: {said}")
    if not all(a < b for a, b in pairwise(found)):
        raise ParameterError("levels increase, each given once", shown(text), cure)
    return tuple(round(level / 100, 12) for level in found)


def parse_guess(text: str) -> Range | float:
    """``low:high``, or a level."""
    if ":" in text:
        return parse_range(text, "--guess")
    cure = "Write --guess 4:12 for the range that curves lie in, or a level other than zero."
    try:
        level = float(text)
    except ValueError:
        raise ParameterError("a guess is a range or a level", shown(text), cure) from None
    if not 0 < abs(level) < 1e60:
        raise ParameterError("a guess is a range or a level", shown(text), cure)
    return level


def parse_function(above: float | None, time_above: str | None) -> RecordFunction | None:
    """The function of each curve that was given: a level, or levels as ``start:stop:size`` or joined by commas."""
    if above is not None and time_above is not None:
        raise ParameterError("a mean is of one function", "--above and --time-above", "Drop one of them.")
    if above is not None:
        return _function(Above, above, "Write --above 140, or --above=-5.")
    if time_above is None:
        return None
    cure = "Write --time-above 70:180:12, or --time-above 70,140,180."
    return _function(TimeAbove, _levels(time_above, cure), cure)


def _levels(text: str, cure: str) -> Grid | list[float]:
    try:
        if ":" not in text:
            return [float(level) for level in text.split(",")]
        start, stop, size = text.split(":")
        return Grid.uniform(float(start), float(stop), int(size), name="level")
    except ValueError:
        raise ParameterError("levels are start:stop:size, or numbers in rising order", shown(text), cure) from None


def _function(kind: Callable[..., RecordFunction], given: object, cure: str) -> RecordFunction:
    try:
        return kind(given)
    except ParameterError as error:
        raise ParameterError(error.rule, error.given, cure) from None


def parse_bound(
    between: str | None, radius: float | None, rms: float | None, norm: str, center: float | None
) -> BoundLike:
    """The one bound that was given: a range of values, a radius or a root mean square."""
    options = {"--range": between, "--radius": radius, "--rms": rms}
    given = [option for option, value in options.items() if value is not None]
    if not given:
        raise ParameterError(
            "a release needs a public bound on one curve",
            "none",
            "Pass --range LOW:HIGH for values between two public numbers, or --radius R for the largest norm you will "
            "let any curve have; 'dpfda radius' suggests one privately, for a small budget.",
        )
    if len(given) > 1:
        raise ParameterError("a bound is given once", " and ".join(given), f"Drop all but {given[0]}.")
    if norm not in NORMS:
        raise ParameterError(f"norm must be one of {', '.join(NORMS)}", repr(norm)[:40], "Write --norm l2.")
    if radius is not None:
        return NORMS[norm](radius, center)
    if norm != "l2":
        raise ParameterError(f"{given[0]} is about values of curves", f"--norm {norm}", "Drop --norm.")
    if between is None:
        return _parse_rms(rms, center)
    if center is not None:
        raise ParameterError("a range has its centre in the middle", "--range with --center", "Drop --center.")
    return parse_range(between)


def _parse_rms(rms: float | None, center: float | None) -> RMS:
    try:
        return RMS(0.0 if rms is None else rms, center)
    except ParameterError as error:
        raise ParameterError(error.rule.replace("radius", "--rms"), error.given, "Write --rms 1.5, say.") from None
