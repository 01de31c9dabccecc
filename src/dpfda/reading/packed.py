"""Files that are packed (``.gz``, ``.zst``), unpacked as they are read: a piece at a time, whatever they unpack to."""

from __future__ import annotations

from types import TracebackType
from typing import IO, Any, Self

from dpfda.core.errors import FileError
from dpfda.reading.arrow import pa

#: What Arrow calls what an ending stands for.
PACKINGS = {".gz": "gzip", ".zst": "zstd"}


class Unpacked:
    """The bytes that a file holds, to be read from beginning to end."""

    def __init__(self, file: IO[bytes], packing: str, name: str):
        self.file, self.name = file, name
        self.stream: Any = pa.CompressedInputStream(pa.PythonFile(file, mode="r"), PACKINGS[packing])

    def read(self, size: int) -> bytes:
        """The next bytes: `size` of them, or fewer; none at the end."""
        try:
            found: bytes = self.stream.read(size)
            return found
        except (OSError, pa.ArrowException):  # its words are the archive's own
            pass
        raise FileError(f"{self.name!r} is damaged, or no archive of its kind. Pack it again.")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.file.close()
