"""Write the committed pages that are made from code: `make docs` does it before it builds the site.

`reference()` is also what the tests compare these pages with.
"""

from __future__ import annotations

from pathlib import Path

import commands_page
import constants_page

DOCS = Path(__file__).parent


def reference() -> dict[Path, str]:
    """Each generated page with its text."""
    found = {"reference/commands": commands_page.commands(), "reference/constants": constants_page.page()}
    return {DOCS / f"{name}.md": text for name, text in found.items()}


if __name__ == "__main__":
    for path, text in reference().items():
        path.write_text(text, encoding="utf-8")
