"""Blocks of rows on their way between workers: bytes that hold exactly what a block holds, and nothing that runs."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from typing import Any

import numpy as np

from dpfda.core.labels import Coder
from dpfda.reading.blocks import Block, Raw, Rows

#: Columns of texts, and all others.
TEXTS = ("ids", "units", "order", "files")
NUMBERS = ("values", "rows", "times", "starts", "days", "groups")


def packed(raw: Raw, names: tuple[str, ...]) -> bytes:
    """A block, and the names of the groups that it numbers."""
    numbers = {name: part for name in NUMBERS if (part := getattr(raw, name, None)) is not None}
    words = {name: part.tolist() for name in TEXTS if (part := getattr(raw, name, None)) is not None}
    one = isinstance(raw, Rows) and raw.units is raw.ids
    facts = {"kind": type(raw).__name__, "file": raw.file, "names": names, "texts": words, "one": one}
    sheet = np.frombuffer(json.dumps(facts).encode("ascii"), dtype=np.uint8)
    buffer = io.BytesIO()
    np.savez(buffer, facts=sheet, **numbers)
    return buffer.getvalue()


def unpacked(content: bytes) -> tuple[Raw, tuple[str, ...]]:
    """What was packed."""
    with np.load(io.BytesIO(content), allow_pickle=False) as held:
        parts: dict[str, Any] = {name: held[name] for name in held.files}
    facts = json.loads(parts.pop("facts").tobytes())
    for name, words in facts["texts"].items():
        parts[name] = np.empty(len(words), dtype=object)
        parts[name][:] = words
    if facts["one"]:
        parts["units"] = parts["ids"]
    kind = Rows if facts["kind"] == "Rows" else Block
    return kind(**parts, file=facts["file"]), tuple(facts["names"])


def recoded(raw: Raw, names: tuple[str, ...], coder: Coder | None) -> Raw:
    """The same with groups in the numbers of this bucket."""
    if coder is None or raw.groups is None:
        return raw
    codes = np.append(coder.column(names), np.nan)  # the last is for none
    return replace(raw, groups=codes[np.where(np.isnan(raw.groups), -1, raw.groups).astype(int)])
