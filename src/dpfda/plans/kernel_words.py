"""A plan in the functions of a kernel in words: its inputs, its classes or responses, its kernel, what is fitted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dpfda.core.nouns import Nouns
from dpfda.plans.class_densities import ClassDensities
from dpfda.results.wording import AccuracyWords, Wording, kernel_in_words
from dpfda.spaces.inputs import LENGTH, LENGTH_ABOVE, InputBox
from dpfda.spaces.stationary import Stationary

if TYPE_CHECKING:
    from dpfda.plans.kernel import KernelPlan

#: What the expected risk counts.
RISK = "noise; the bias of the penalty depends on the data"


def kernel_wording(plan: KernelPlan) -> Wording:
    """How a plan of a decision function or a robust regression is spoken of."""
    sides = " x ".join(f"[{low:g}, {high:g}]" for low, high in plan.domain)
    rows = [("inputs", f"clipped to {sides}"), ("loss", plan.criterion)]
    text = f"Inputs are clipped to the public box {sides} and snapped to its cells. "
    if plan.bound is None:
        classes = plan.classes or ()
        rows.append(("classes", f"{', '.join(classes)}; positive: {classes[plan.positive]}"))
        text += class_words(classes, bool(plan.labels_read))
        size, name = 1.0, "a margin of one over the box"
        if isinstance(plan.schedule, ClassDensities):
            text += plan.schedule.words()
            size, name = 1.0, "the uniform density of the box"
    else:
        low, high = plan.bound
        named = "" if plan.value is None else f"{plan.value}, "
        rows.append(("responses", f"{named}clipped to [{low:g}, {high:g}]"))
        text += f"Responses are clipped to the public range [{low:g}, {high:g}]."
        size, name = (high - low) / 2, "half the range of responses over the box"
    how = f"psi {plan.psi:.3g}" if plan.way is None else "none: the classes' densities are compared"
    rows.append(("penalty", how))
    volume = float(np.prod([high - low for low, high in plan.domain]))
    return Wording(
        noun="function",
        release=f"{plan.query} function of {len(plan.domain)} input{'s' if len(plan.domain) > 1 else ''}",
        nouns=Nouns.of("record", plan.record),
        target="fitted function",
        assumption=text + " The guarantee holds whatever the data is; only accuracy depends on these ranges.",
        unusable="counts, and has no say in the fit",
        rows=tuple(rows),
        method=repr(plan.chosen),
        numbers=plan.schedule.numbers_text,
        accuracy=AccuracyWords(plan, size * float(np.sqrt(volume)), name, RISK),
        kernel=kernel_words(plan.kernel, plan.box),
        basis=f"basis functions of {kernel_in_words(kernel_words(plan.kernel, plan.box))}",
        fit=fit_words(plan.criterion, plan.psi) if plan.way is None else "",
    )


def kernel_words(kernel: Stationary, box: InputBox) -> str:
    """The kernel with the length scale that was left open filled in."""
    if kernel.length_scale is not None:
        return repr(kernel)
    share = f"{LENGTH:g}" if box.dimension <= 3 else f"{LENGTH_ABOVE * box.dimension**0.5:.2g}"
    return f"{type(kernel).__name__}, length scale {share} of each side"


def class_words(classes: Sequence[str], labels_read: bool) -> str:
    """Which classes there are, and whether that is private."""
    read = (
        " They were read from the data: a record with a label of its own would show as a class, which a public list of "
        "classes prevents."
    )
    return f"Which classes there are is public: {', '.join(classes)}.{read if labels_read else ''}"


def fit_words(criterion: str, psi: float) -> str:
    """What is minimised, in a sentence."""
    loss = criterion.replace("huber", "Huber")
    return f"The function minimises the mean {loss} loss plus {psi:.3g} times its squared norm in the kernel's space."
