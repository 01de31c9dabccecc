"""The report of an audit, read again from the JSON that it was written to."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from dpfda.audits.page import audit_page, headed
from dpfda.audits.report import VERSION
from dpfda.core import codec
from dpfda.core.errors import FileError, printable
from dpfda.core.files import read_text


@dataclass(frozen=True)
class SavedAudit:
    """What :meth:`Audit.to_json` wrote: figures and words, without the plan itself.

    Parameters
    ----------
    body : dict
        The figures, as :meth:`Audit.body` has them.

    Examples
    --------
    >>> import os, tempfile, dpfda as dp
    >>> plan = dp.MeanPlan(n=50, epsilon=1.0, bound=dp.L2Ball(1.0), grid=8, method=dp.methods.FRL(1))
    >>> path = dp.audit(plan, draws=1000, releases=8, effort=100).save(os.path.join(tempfile.mkdtemp(), "audit.json"))
    >>> dp.audits.SavedAudit.load(path).title[:27]
    'the report of an audit of a'
    """

    body: dict[str, Any] = field(repr=False)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> SavedAudit:
        """The report of a file; what was edited or is damaged is refused.

        Parameters
        ----------
        path : path
            A file that :meth:`Audit.save` wrote as JSON.
        """
        name = Path(path).name
        found = cls(codec.unseal(read_text(path, "audit"), "audit", VERSION, name))
        try:
            whole = isinstance(found.body["passed"], bool) and bool(found.title and str(found))
        except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError):
            whole = False
        if not whole:
            raise FileError(f"{name!r} does not hold a whole audit.")
        return found

    @property
    def title(self) -> str:
        """What was audited, and how it ended."""
        checks = self.body["checks"]
        failed = sum(not check["passed"] for check in checks)
        ended = f"passed {len(checks)} checks" if self.body["passed"] else f"{failed} of {len(checks)} checks failed"
        what = f"a plan of epsilon {float(Fraction(self.body['epsilon'])):g}, {self.body['plan'][:12]}"
        return printable(f"the report of an audit of {what}: {ended}")

    def to_html(self) -> str:
        """The report as a page; the picture of noise sizes is not among the figures."""
        checks = [(headed(c["part"], c["name"]), bool(c["passed"]), c["detail"]) for c in self.body["checks"]]
        failed = sum(not passed for _, passed, _ in checks)
        verdict = f"FAILED: {failed} of {len(checks)} checks speak against this plan."
        if self.body["passed"]:
            verdict = f"PASSED: nothing spoke against this plan in {len(checks)} checks."
        title = f"Audit of a plan of epsilon {float(Fraction(self.body['epsilon'])):g}, {self.body['plan'][:12]}"
        return audit_page(title, str(self.body.get("of", "")), verdict, checks, self.body["limits"])

    def __str__(self) -> str:
        lines = [self.body["of"], ""] if self.body.get("of") else []
        for check in self.body["checks"]:
            part = f"{check['part']}: " if check["part"] else ""
            mark = "ok" if check["passed"] else "FAIL"
            lines += [f"[{mark:>4}] {part}{check['name']}", f"       {check['detail']}"]
        lines += ["", *(f"- {limit}" for limit in self.body["limits"])]
        return "\n".join(map(printable, lines))
