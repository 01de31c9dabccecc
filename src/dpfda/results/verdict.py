"""A verdict before the charge: whether a release will show its curve clearly, coarsely, or mostly noise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property

#: Up to these ratios of the error to the signal, both root mean squares, a release is clear or coarse.
CLEAR, COARSE = 0.3, 0.75
WORDS = ("clear", "coarse", "mostly noise")


def word_for(ratio: float, few: bool = False) -> str:
    """The word for a ratio; `few` where so little is released that it shows nothing but noise.

    >>> word_for(0.3), word_for(0.75), word_for(0.76), word_for(0.1, few=True)
    ('clear', 'coarse', 'mostly noise', 'mostly noise')
    """
    if few or not ratio <= COARSE:
        return WORDS[2]
    return WORDS[0] if ratio <= CLEAR else WORDS[1]


def _better(word: str) -> str:
    """The next better word; nothing for what is clear."""
    return "" if word == WORDS[0] else WORDS[WORDS.index(word) - 1]


class Verdict:
    """What a release will be worth, from public facts alone: a sentence, and the figures behind it.

    ``str(verdict)`` is the sentence. There is no truth value: compare `word`.

    Parameters
    ----------
    ratio : float
        Root mean squared error over the root mean square of the signal, typically over the plan's class.
    signal : str
        What the error is measured against, in words.
    records : str
        What several records are called.
    find : callable
        Finds what would make it better: see `needs`. Called when that is first asked for.
    few : str, optional
        Why a release is mostly noise whatever its ratio.
    bound : str, optional
        Whether the bound suits a public guess, where there is one.

    Examples
    --------
    >>> import dpfda as dp
    >>> facts = {"bound": dp.L2Ball(1.0), "grid": 48}
    >>> dp.MeanPlan(n=3000, epsilon=1, **facts).verdict.word
    'clear'
    >>> verdict = dp.MeanPlan(n=30, epsilon=1, **facts).verdict
    >>> verdict.word, sorted(verdict.needs)
    ('mostly noise', ['epsilon', 'n'])
    """

    def __init__(
        self, ratio: float, signal: str, records: str, find: Callable[[str], Mapping[str, float]], few: str = "",
        bound: str = "",
    ):  # fmt: skip
        self.ratio, self.signal, self.few, self.bound = float(ratio), signal, few, bound
        self.word = word_for(self.ratio, bool(few))
        self._records, self._find = records, find

    @property
    def better(self) -> str:
        """The next better word; nothing for what is clear."""
        return _better(self.word)

    @cached_property
    def needs(self) -> dict[str, float]:
        """The epsilon, the n or the bound's radius from which on the word is the next better one, as far as found."""
        return dict(self._find(self.better)) if self.better else {}

    @property
    def cure(self) -> str:
        """The same in words; empty for what is clear."""
        return self.cure_for(self.word)

    def cure_for(self, word: str) -> str:
        """What it takes to get beyond a word, that of a simulation say, in words; empty for what is clear."""
        better = _better(word)
        if not better:
            return ""
        needs = self.needs if word == self.word else self._find(better)
        ways = {
            "epsilon": "from epsilon {:.3g} on",
            "n": f"from {{:,.0f}} {self._records} on",
            "bound": "within a bound of radius {:.3g}, if that holds most of them",
        }
        found = [ways[name].format(value) for name, value in needs.items()]
        return (
            f"{better.capitalize()} {', or '.join(found)}."
            if found
            else "More records or epsilon alone are not enough here: try another method."
        )

    @property
    def sentence(self) -> str:
        """The verdict without its cure."""
        why = f"{self.few}; " if self.few else ""
        return f"{self.word.capitalize()}: {why}the error is expected to be {self._times} {self.signal}."

    @property
    def told(self) -> str:
        """The verdict as plans and statements tell it: with its cure where it is bad news."""
        return str(self) if self.word == WORDS[2] else self.sentence

    @property
    def _times(self) -> str:
        if 0.95 <= self.ratio < 1.05:
            return "as large as"
        return f"{self.ratio:.0%} of" if self.ratio < 1 else f"{min(self.ratio, 1e6):.2g} times"

    def __str__(self) -> str:
        return " ".join(filter(None, (self.sentence, self.cure, self.bound)))

    def __repr__(self) -> str:
        return f"<Verdict: {self}>"

    def __bool__(self) -> bool:
        raise TypeError("A verdict is neither true nor false: compare verdict.word with 'clear', say.")
