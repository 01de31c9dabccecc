"""Results of benchmarks as they were saved, and which of them were asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


class Saved:
    """The files of a folder of results, read when they are asked for.

    `parts` are the runs whose figures a subject shows: it names each when it takes what that run left. `package` is the
    digest of the package as it is now, and `stale` says of parts why their figures are not of a whole run of this code.
    """

    def __init__(self, folder: Path, package: str = "", stale: dict[str, str] | None = None):
        self.folder, self.package, self.stale = folder, package, stale or {}
        self.parts: list[str] = []

    def take(self, name: str, *parts: str) -> Any:
        """What `name`.json holds; `parts` are the runs that wrote what is used of it."""
        self.parts += [part for part in parts or (name,) if part not in self.parts]
        return self.history(name)

    def history(self, name: str) -> Any:
        """The same of a file that no part writes any more."""
        return json.loads((self.folder / f"{name}.json").read_text(encoding="utf-8"))

    def runs(self) -> dict[str, dict[str, Any]]:
        """What is known of the last whole run of each part."""
        return dict(self.history("runs")) if self.there("runs") else {}

    def there(self, name: str) -> bool:
        """Whether a benchmark has been run at all."""
        return (self.folder / f"{name}.json").exists()
