"""Pages of measured figures: each subject's figures into `evidence.json`, and from there into its page.

A page is its template filled in; of the README and other pages only what stands between `<!-- evidence: NAME -->` and
`<!-- end -->` is written. A template holds no number of its own but those that it declares to be choices, not
measurements, in its first line: `{# given: 1,000 95 #}`. Every template may say `{{ source }}`: which parts of the
benchmarks its figures are of, and which of those ran on other code than this.
"""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jinja2
from parts import PARTS, of_package, why_stale

from figures import pictures, text
from figures.saved import Saved

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results"
TEMPLATES = ROOT / "docs" / "evidence" / "templates"
#: A module each (with underscores), and a page of the same name where there is a template of it.
SUBJECTS = (
    "accuracy",
    "bands",
    "claims",
    "densities",
    "field",
    "forecasts",
    "models",
    "page",
    "percentiles-and-survival",
    "reproduction",
    "runs",
    "scale",
    "speed",
    "trust",
)
#: Pages of which only blocks are filled, by the template of each block; its last word is the subject.
BLOCKS = {"README-speed": ROOT / "README.md", "index-runs": TEMPLATES.parent / "README.md"}
BLOCK = re.compile(r"(<!-- evidence: (?P<name>[\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
#: A number in a sentence: not part of a name (S-1, float64) and not a footnote.
NUMBER = re.compile(r"(?<![\w.-])\d[\d,.]*(?<![,.])")


def evidence(
    results: Path = RESULTS, package: dict[bool, str] | None = None, benchmarks: dict[str, str] | None = None
) -> dict[str, Any]:
    """Everything that pages show, which run on which code each subject's figures are of, and which code is here.

    The code that is here is what `package` and `benchmarks` say, or looked at.
    """
    package = package or of_package()
    benchmarks = {name: part.code for name, part in PARTS.items()} if benchmarks is None else benchmarks
    known = Saved(results).runs()
    whys = {
        name: why_stale(part, known.get(name), package, benchmarks.get(name, ""), part.left(results))
        for name, part in PARTS.items()
    }
    stale = {name: why for name, why in whys.items() if why}
    subjects = {}
    for name in SUBJECTS:
        saved = Saved(results, package[True], stale)
        shown = importlib.import_module(f"figures.{name.replace('-', '_')}").figures(saved)
        subjects[name] = {"parts": saved.parts, "shown": shown}
    return {
        "benchmarks": benchmarks, "package": package[True], "package below the front": package[False],
        "runs": known, "stale": stale, "subjects": subjects,
    }  # fmt: skip


def rendered(found: dict[str, Any]) -> dict[Path, str]:
    """Pages as they must be, from what `evidence.json` holds."""
    whole = [name for name in SUBJECTS if (TEMPLATES / f"{name}.md.jinja").exists()]
    pages = {TEMPLATES.parent / f"{name}.md": _filled(name, name, found) for name in whole}
    for block, page in BLOCKS.items():
        before = pages.get(page) or page.read_text(encoding="utf-8")
        words = _filled(block, block.split("-")[-1], found)
        pages[page] = BLOCK.sub(lambda m, b=block, w=words: f"{m[1]}{w}{m[3]}" if m["name"] == b else m[0], before)
    return pages


def write(results: Path = RESULTS) -> None:
    """Write `evidence.json`, all pages that show figures, and their pictures."""
    found = evidence(results)
    (results / "evidence.json").write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    for path, page in rendered(found).items():
        path.write_text(page, encoding="utf-8")
    pictures.write(results, ROOT / "docs" / "images")


def undeclared(template: str) -> set[str]:
    """Numbers in a template's sentences that are neither filled in nor declared as choices."""
    first, _, rest = template.partition("\n")
    given = re.match(r"\{# given: (.*) #\}$", first)
    known = set(given[1].split()) if given else set()
    return set(numbers(re.sub(r"\{[{%].*?[%}]\}", "", rest, flags=re.DOTALL))) - known


def numbers(page: str) -> Iterator[str]:
    """The numbers in the sentences and tables of a page: code, links and comments do not count."""
    page = re.sub(r"^```.*?^```$", "", page, flags=re.DOTALL | re.MULTILINE)
    page = re.sub(r"<!--.*?-->|`[^`\n]*`|\]\([^)]*\)", "", page, flags=re.DOTALL)
    page = re.sub(r"^\s*\d+\. ", "", page, flags=re.MULTILINE)
    yield from NUMBER.findall(page)


def _filled(template: str, subject: str, found: dict[str, Any]) -> str:
    """One template with the figures of its subject."""
    source = (TEMPLATES / f"{template}.md.jinja").read_text(encoding="utf-8")
    maker = jinja2.Environment(undefined=jinja2.StrictUndefined, keep_trailing_newline=True)
    shown = found["subjects"][subject]["shown"]
    words = {name: text.markdown(value) if isinstance(value, dict) else value for name, value in shown.items()}
    return maker.from_string(source).render(words, source=_source(subject, found)).lstrip("\n")


def _source(subject: str, found: dict[str, Any]) -> str:
    """Which parts the figures of a subject are of, and which of them are not of a whole run of this code."""
    parts = found["subjects"][subject]["parts"]
    other = [part for part in parts if part in found["stale"]]
    here = [part for part in parts if part not in other]
    words = [f"by {text.listed(f'`{part}`' for part in here)} on the code of this version"] if here else []
    words += [f"by {text.listed(f'`{part}`' for part in other)} on earlier code"] if other else []
    return f"Measured {', and '.join(words)} ([all runs](README.md#runs))." if parts else ""
