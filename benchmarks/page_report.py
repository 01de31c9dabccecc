"""How large a report is, and how many pages it prints: the demo's mean, and every other release of the demo."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import common

import dpfda as dp


def printed(page: Path) -> int:
    """Pages of A4 that Chromium prints."""
    from playwright.sync_api import sync_playwright

    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    from browser.chromium import find_chromium

    flags = ["--disable-gpu", *(["--no-sandbox"] if os.getuid() == 0 else [])]
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=find_chromium(os.environ, Path(sys.prefix)), args=flags)
        tab = chromium.new_page()
        tab.goto(page.as_uri())
        content = tab.pdf(prefer_css_page_size=True)
        chromium.close()
    return len(re.findall(rb"/Type\s*/Page[^s]", content))


def run() -> dict[str, Any]:
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        demo = Path(folder, "demo")
        subprocess.run([sys.executable, "-m", "dpfda", "demo", "--out", demo], check=True, capture_output=True)
        for path in sorted(demo.glob("*.json")):
            page = Path(folder, f"{path.stem}.html")
            dp.report(path, path=page)
            found[path.stem] = {"kilobytes": round(page.stat().st_size / 1000, 1), "pages": printed(page)}
    common.show(
        "Reports",
        ["report of", "KB", "printed pages"],
        [[name, f"{each['kilobytes']:g}", str(each["pages"])] for name, each in found.items()],
    )
    return found
