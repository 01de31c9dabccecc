"""How quick the studio is: a planner update on the server, a key press to a new picture in Chromium, and its memory.

The studio runs as a person starts it, a process of its own. Cold updates are for facts that it has not seen (other n
and other lowest values); cached ones repeat them.
"""

from __future__ import annotations

import http.client
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import common

LINK = re.compile(r"^dpfda studio: (http://127\.0\.0\.1:\d+/\?token=\S+)", re.MULTILINE)
#: Other kinds than a mean are planned when a field is left, not while a slider moves.
KINDS = ("mean", "percentiles", "covariance", "density", "survival", "regression", "model", "classes", "radius")
UPDATES = 30


@contextmanager
def studio() -> Iterator[tuple[str, int]]:
    """The link of a running studio, and its process."""
    with tempfile.TemporaryDirectory() as folder, tempfile.NamedTemporaryFile("w+") as log:
        words = [sys.executable, "-m", "dpfda", "studio", folder, "--no-browser"]
        process = subprocess.Popen(words, stdout=log, stderr=log, env={**os.environ, "PYTHONUNBUFFERED": "1"})
        try:
            link = None
            while link is None:
                time.sleep(0.05)
                link = LINK.search(Path(log.name).read_text(encoding="utf-8"))
            yield link[1], process.pid
        finally:
            process.terminate()
            process.wait()


class Visitor:
    """Asks for screens over one connection, as a browser does, with the session's cookie."""

    def __init__(self, link: str):
        place = urlsplit(link)
        self.http = http.client.HTTPConnection(place.hostname or "", place.port)
        self.http.request("GET", f"/?{place.query}")
        answer = self.http.getresponse()
        answer.read()
        self.home = (answer.getheader("location") or "").rsplit("/", 1)[0]
        self.headers = {"Cookie": (answer.getheader("set-cookie") or "").partition(";")[0]}

    def seconds(self, query: str) -> float:
        """How long the changing part of the planning screen takes."""
        began = time.perf_counter()
        self.http.request("GET", f"{self.home}/plan/part?{query}", headers=self.headers)
        answer = self.http.getresponse()
        body = answer.read()
        assert answer.status == 200, answer.status
        assert b"verdict" in body
        return time.perf_counter() - began


def server() -> dict[str, Any]:
    """Milliseconds of an update, cold and cached; memory after all of it."""
    with studio() as (link, process):
        visitor = Visitor(link)
        visitor.seconds("what=mean")  # what is loaded and compiled once is ready
        time.sleep(3)  # and what is made ready for the next steps of sliders is made
        found: dict[str, Any] = {}
        for n in (1000, 10_000):
            queries = [f"what=mean&n={n + 7 * i}&low=-0.{i + 1:02d}" for i in range(UPDATES)]
            cold = [visitor.seconds(query) for query in queries]
            cached = [visitor.seconds(query) for query in queries]
            found[f"mean, n about {n:,}"] = {"cold": told(cold), "cached": told(cached)}
        for kind in KINDS[1:]:
            visitor.seconds(f"what={kind}")
            cold = [visitor.seconds(f"what={kind}&n={1007 + i}") for i in range(5)]
            found[f"{kind}, n about 1,000"] = {
                "cold": told(cold),
                "cached": told([visitor.seconds(f"what={kind}")] * 2),
            }
        memory = int(re.findall(r"VmRSS:\s+(\d+)", Path(f"/proc/{process}/status").read_text())[0]) / 1024
    return {"milliseconds": found, "memory_mb": round(memory)}


def told(seconds: list[float]) -> dict[str, float]:
    return {
        "median": round(1000 * statistics.median(seconds), 1),
        "worst": round(1000 * max(seconds), 1),
    }


def browser() -> dict[str, Any]:
    """Milliseconds from a key press on the slider to the new picture, in Chromium."""
    from playwright.sync_api import sync_playwright

    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    from browser.chromium import find_chromium

    place = find_chromium(os.environ, Path(sys.prefix))
    assert place is not None, "no Chromium was found: make chromium"
    flags = ["--disable-gpu", "--disable-background-networking", *(["--no-sandbox"] if os.getuid() == 0 else [])]
    watch = """() => {
      window.times = [];
      const slider = document.querySelector('[data-for=epsilon]'), result = document.getElementById('result');
      slider.addEventListener('keydown', () => { window.pressed = performance.now(); }, true);
      new MutationObserver(() => requestAnimationFrame(() => {
        if (window.pressed) { window.times.push(performance.now() - window.pressed); window.pressed = 0; }
      })).observe(result, { childList: true });
      slider.focus();
    }"""
    with studio() as (link, _), sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=place, args=flags)
        page = chromium.new_page(viewport={"width": 1280, "height": 900})
        page.goto(link)
        page.wait_for_timeout(4000)
        page.evaluate(watch)
        for key in ["ArrowRight"] * 4 + ["ArrowLeft"] * 8 + ["ArrowRight"] * 8:
            before = page.evaluate("() => window.times.length")
            page.keyboard.press(key)
            while page.evaluate("() => window.times.length") == before:
                page.wait_for_timeout(20)
            page.wait_for_timeout(600)  # as somebody who looks at each picture
        times = page.evaluate("() => window.times")
        chromium.close()
    return {"milliseconds": {"median": round(statistics.median(times), 1), "worst": round(max(times), 1)}}


def run() -> dict[str, Any]:
    found = {"server": server(), "browser": browser()}
    rows = [
        [name, *(f"{each[state][how]:g}" for state in ("cold", "cached") for how in ("median", "worst"))]
        for name, each in found["server"]["milliseconds"].items()
    ]
    common.show("Planner updates, milliseconds", ["plan", "cold", "worst", "cached", "worst"], rows)
    print(f"memory of the server: {found['server']['memory_mb']} MB")
    print(f"key press to picture in Chromium, ms: {found['browser']['milliseconds']}")
    return found
