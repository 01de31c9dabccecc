"""Is this commit ready to be released? A row for each check, exit code 1 if any of them fails: `make release-check`.

What a person has to look at is in `docs/project/release-checklist.md`.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path

import fragments

ROOT = Path(__file__).parents[1]
#: What is in the wheel beside modules.
KINDS = (".py", ".css", ".html", ".js", ".typed")
#: Built or generated: not what the site is made of.
BUILT = ("_build", "gallery_out", "files", "api", "__pycache__")
Found = tuple[bool, str]


def called(command: list[str], root: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)


def tree(root: Path = ROOT) -> Found:
    """Nothing that is not committed."""
    done = called(["git", "status", "--porcelain"], root)
    changed = done.stdout.splitlines()
    if done.returncode:
        return False, "this is no repository"
    return not changed, f"{len(changed)} files are not committed, {changed[0][3:]} among them" if changed else "clean"


def versions(root: Path = ROOT) -> dict[str, str]:
    """The number in each of its places."""

    def found(path: str, pattern: str) -> str:
        match = re.search(pattern, (root / path).read_text(encoding="utf-8"), re.MULTILINE)
        return match[1] if match else "none"

    number = {path: tomllib.loads((root / path).read_text(encoding="utf-8"))["project"]["version"]
              for path in ("pyproject.toml", "experiments/pyproject.toml")}  # fmt: skip
    return number | {
        "src/dpfda/core/version.py": found("src/dpfda/core/version.py", r'^VERSION = "(.+)"$'),
        "CITATION.cff": found("CITATION.cff", r"^version: (.+)$"),
        "CHANGELOG.md": found("CHANGELOG.md", r"^## (\S+)"),
    }


def version(root: Path = ROOT) -> Found:
    """One number in all places."""
    number = versions(root)
    if len(set(number.values())) == 1:
        return True, number["pyproject.toml"]
    return False, ", ".join(f"{path} says {value}" for path, value in number.items())


def changes(root: Path = ROOT) -> Found:
    """The newest section has a date, and nothing is unreleased."""
    heads = re.findall(r"^## (.+)$", (root / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    if any("unreleased" in head.lower() for head in heads):
        return False, "a section is called Unreleased: run make changes"
    return bool(re.fullmatch(r"\S+ \(\d{4}-\d\d-\d\d\)", heads[0])), f"the newest section is {heads[0]}"


def notes(root: Path = ROOT) -> Found:
    """No fragment is left over."""
    left = [path.name for path in fragments.fragments(root)]
    return not left, f"not taken up: {', '.join(left)}" if left else "none left"


def citation(root: Path = ROOT) -> Found:
    """The date of the citation is that of the changes."""
    here = re.search(r"^date-released: (.+)$", (root / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    there = re.search(r"^## \S+ \((.+)\)$", (root / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    dates = [match[1] if match else "no date" for match in (here, there)]
    return dates[0] == dates[1] != "no date", f"cited as of {dates[0]}, changes of {dates[1]}"


def evidence(root: Path = ROOT) -> Found:
    """Every part of the evidence ran on this code."""
    done = called([sys.executable, "benchmarks/evidence.py", "--status"], root)
    stale = [line.split()[0] for line in done.stdout.splitlines() if not line.endswith("fresh")]
    if done.returncode == 0:
        return True, "every part is fresh"
    return False, f"stale: {', '.join(stale)}" if stale else done.stderr.strip()[-80:]


def newest(paths: Iterable[Path]) -> float:
    return max((path.stat().st_mtime for path in paths if path.is_file()), default=0.0)


def site(root: Path = ROOT) -> Found:
    """Built after the last change of what it is made of."""
    stamp = root / "docs" / "_build" / "built"
    if not stamp.exists() or not (root / "docs" / "_build" / "html" / "index.html").exists():
        return False, "not built: run make docs"
    pages = [path for path in (root / "docs").rglob("*") if not set(path.relative_to(root).parts) & set(BUILT)]
    made_of = [*pages, *root.glob("*.md"), root / "CITATION.cff", *(root / "src").rglob("*.py")]
    fresh = newest(made_of) <= stamp.stat().st_mtime
    return fresh, "built of this tree" if fresh else "older than a page or the code: run make docs"


def wheel(root: Path = ROOT) -> Found:
    """Built from the commit; it holds the package and nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        source, packed = Path(folder) / "source", Path(folder) / "source.tar"
        if called(["git", "archive", "--output", str(packed), "HEAD"], root).returncode:
            return False, "there is no commit to build it of"
        with tarfile.open(packed) as archive:
            archive.extractall(source, filter="data")
        quiet = ["--no-deps", "--no-build-isolation", "--quiet", "--wheel-dir", folder]
        done = called([sys.executable, "-m", "pip", "wheel", str(source), *quiet], root)
        if done.returncode:
            return False, (done.stderr.strip().splitlines() or ["it cannot be built"])[-1][:100]
        (built,) = Path(folder).glob("*.whl")
        names = set(zipfile.ZipFile(built).namelist())
        src = source / "src"
        wanted = {path.relative_to(src).as_posix() for path in (src / "dpfda").rglob("*") if path.suffix in KINDS}
    package = {name for name in names if ".dist-info/" not in name}
    if package != wanted:
        return False, f"more or less than the package: {', '.join(sorted(package ^ wanted)[:3])}"
    if not any(name.endswith("/LICENSE") for name in names):
        return False, "without the licence"
    return True, f"{built.name}, {len(package)} files"


CHECKS: dict[str, Callable[[], Found]] = {
    "tree": tree,
    "version": version,
    "changes": changes,
    "fragments": notes,
    "citation": citation,
    "evidence": evidence,
    "site": site,
    "wheel": wheel,
}


def main() -> int:
    results = {name: check() for name, check in CHECKS.items()}
    for name, (good, said) in results.items():
        print(f"{name:10} {'ok' if good else 'NO':3} {said}")
    return int(not all(good for good, _ in results.values()))


if __name__ == "__main__":
    sys.exit(main())
