"""How quick the studio is, how long hypothetical releases take, and how large reports are."""

from __future__ import annotations

from typing import Any

from figures.saved import Saved
from figures.text import number, table


def figures(saved: Saved) -> dict[str, Any]:
    found = saved.take("page", "page-screen", "page-hypothetical")
    server, pressed = found["screen"]["server"], found["screen"]["browser"]["milliseconds"]
    updates = [
        [kind, *(f"{each[state][how]:,.0f}" for state in ("cold", "cached") for how in ("median", "worst"))]
        for kind, each in server["milliseconds"].items()
    ]
    times = [
        [each["kind"], *(number(each[name]) for name in ("cold", "cold_band", "warm", "warm_band"))]
        for each in found["hypothetical"]["times"]
    ]
    reports = [
        [kind, f"{each['kilobytes']:g}", each["pages"]] for kind, each in found["report"].items() if kind != "code"
    ]
    return {
        "updates": table(["plan", "new facts: median, ms", "worst", "seen before: median, ms", "worst"], updates),
        "memory": f"{server['memory_mb']:,}",
        "pressed": f"{pressed['median']:,.0f}",
        "pressed_worst": f"{pressed['worst']:,.0f}",
        "times": table(["plan", "first time", "and its band", "later", "and its band"], times),
        "reports": table(["report of", "KB", "printed pages"], reports),
    }
