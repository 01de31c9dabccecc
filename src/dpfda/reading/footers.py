"""How many values each stored column of a Parquet file holds, from its footer alone.

The library that decodes Parquet ends the whole process over some damaged footers when it is asked for the figures of a
column. Its own readers refuse such files in order, so only these figures are taken here: the footer is a tree of
numbered fields (Thrift's compact protocol), of which we walk all and keep a few.
"""

from __future__ import annotations

from typing import IO, Any

#: The length of the footer and the four letters after it.
TAIL, LETTERS = 8, b"PAR1"
#: Fields within fields: real footers have six.
DEEPEST = 32
#: Numbers of the fields that lead to a column's count: row groups, their columns, a column's facts, its values.
GROUPS, COLUMNS, FACTS, VALUES = 4, 1, 3, 5


def stored_values(file: IO[bytes]) -> list[list[int]]:
    """Values in each stored column, row group by row group. Raises ValueError for what is no footer."""
    end = file.seek(0, 2)
    file.seek(max(0, end - TAIL))
    tail = file.read(TAIL)
    size = int.from_bytes(tail[:4], "little")
    if tail[4:] != LETTERS or size > end - TAIL:
        raise ValueError("no footer")
    file.seek(end - TAIL - size)
    tree = _Fields(file.read(size)).value(_STRUCT)
    counts = [[chunk[FACTS][VALUES] for chunk in group[COLUMNS]] for group in tree.get(GROUPS, [])]
    if any(count < 0 for group in counts for count in group):
        raise ValueError("fewer than no values")
    return counts


_TRUE, _FALSE, _BYTE, _DOUBLE, _BYTES, _LIST, _SET, _MAP, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12
_INTEGERS = (4, 5, 6)


class _Fields:
    """A walk through encoded fields that never leaves their bytes."""

    def __init__(self, data: bytes):
        self.data, self.place = data, 0

    def take(self, count: int) -> bytes:
        if not 0 <= count <= len(self.data) - self.place:
            raise ValueError("past the end")
        self.place += count
        return self.data[self.place - count : self.place]

    def whole(self) -> int:
        """A number of seven bits a byte, the lowest first."""
        found = 0
        for shift in range(0, 70, 7):
            byte = self.take(1)[0]
            found |= (byte & 0x7F) << shift
            if byte < 0x80:
                return found
        raise ValueError("a number without end")

    def signed(self) -> int:
        found = self.whole()
        return (found >> 1) ^ -(found & 1)

    def value(self, kind: int, depth: int = 0) -> Any:
        """What stands here: numbers, lists and fields by number; nothing of texts."""
        if depth > DEEPEST:
            raise ValueError("too deep")
        if kind == _STRUCT:
            return self._struct(depth)
        if kind in (_LIST, _SET):
            return self._list(depth)
        if kind in _INTEGERS:
            return self.signed()
        if kind == _MAP:
            return self._map(depth)
        self.take({_TRUE: 0, _FALSE: 0, _BYTE: 1, _DOUBLE: 8}[kind] if kind != _BYTES else self.whole())
        return None

    def _struct(self, depth: int) -> dict[int, Any]:
        found: dict[int, Any] = {}
        number = 0
        while head := self.take(1)[0]:
            number = number + (head >> 4) if head >> 4 else self.signed()
            found[number] = self.value(head & 0x0F, depth + 1)
        return found

    def _list(self, depth: int) -> list[Any]:
        head = self.take(1)[0]
        size = head >> 4 if head >> 4 < 15 else self.whole()
        kind = head & 0x0F
        if size > len(self.data) - self.place:  # every item takes a byte
            raise ValueError("a list past the end")
        kind = _BYTE if kind in (_TRUE, _FALSE) else kind
        return [self.value(kind, depth + 1) for _ in range(size)]

    def _map(self, depth: int) -> None:
        size = self.whole()
        kinds = self.take(1)[0] if size else 0
        if size > len(self.data) - self.place:
            raise ValueError("a map past the end")
        for _ in range(size):
            self.value(kinds >> 4, depth + 1)
            self.value(kinds & 0x0F, depth + 1)
