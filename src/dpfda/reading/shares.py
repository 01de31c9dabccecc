"""Places of labels and records in an order that says nothing about them, the same on every machine."""

from __future__ import annotations

import hashlib

import numpy as np

from dpfda.core.doubles import doubles


def place_of(content: bytes) -> int:
    """A place in an order that says nothing about what is ordered, the same on every machine."""
    return int.from_bytes(hashlib.blake2b(content, digest_size=8).digest())


def shares(labels: np.ndarray, count: int) -> np.ndarray:
    """Which of `count` parts of all labels each one lies in: equal ones in the same, on every machine."""
    known = {label: place_of(label.encode(errors="surrogatepass")) % count for label in set(labels.tolist())}
    return np.array([known[label] for label in labels.tolist()], dtype=np.int64)


def content_of(records: np.ndarray) -> np.ndarray:
    """A number for what each record holds, which says nothing else about it: a function of that record alone."""
    rows = np.ascontiguousarray(doubles(records))
    return np.array([place_of(row.tobytes()) for row in rows], dtype=np.uint64)
