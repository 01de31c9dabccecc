"""Tables of colours as tiny PNG files inside a page: one byte a cell, compressed by Python itself."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np

#: From pale to dark, and from blue over white to rust: both can be told apart without seeing red or green.
SEQUENTIAL = ("#f4f8fb", "#c6dcec", "#8db9da", "#4f8fbf", "#1f5f96", "#0f2f52")
DIVERGING = ("#123f6b", "#4f8fbf", "#b9d4e8", "#f6f6f4", "#efc3a4", "#cf7438", "#7d350b")
#: Those of lines and regions, as in the style sheet on a light page.
PALETTE = ("#1f4e79", "#b3430e", "#1b7f5c", "#7b3fa0", "#8a6d00", "#b0236b", "#0f7c8c", "#59636e")


def ramp(colours: tuple[str, ...], size: int = 255) -> np.ndarray:
    """Red, green and blue of so many colours between these.

    >>> ramp(("#000000", "#ffffff"), 3).tolist()
    [[0, 0, 0], [128, 128, 128], [255, 255, 255]]
    """
    known = np.array([[int(each[i : i + 2], 16) for i in (1, 3, 5)] for each in colours], float)
    place = np.linspace(0, len(colours) - 1, size)
    return (
        np.column_stack([np.interp(place, np.arange(len(colours)), known[:, i]) for i in range(3)]).round().astype(int)
    )


def picture(cells: np.ndarray, colours: np.ndarray) -> str:
    """The address of a picture within a page: rows from above, each cell the number of its colour; 0 is see-through.

    >>> picture(np.array([[1, 0]]), ramp(("#000000",), 1))[:30]
    'data:image/png;base64,iVBORw0K'
    """
    height, width = cells.shape
    rows = np.column_stack([np.zeros(height, np.uint8), cells.astype(np.uint8)]).tobytes()
    table = np.vstack([[255, 255, 255], colours]).astype(np.uint8).tobytes()
    parts = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
        (b"PLTE", table),
        (b"tRNS", b"\0"),
        (b"IDAT", zlib.compress(rows, 9)),
        (b"IEND", b""),
    )
    whole = b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*part) for part in parts)
    return "data:image/png;base64," + base64.b64encode(whole).decode()


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
