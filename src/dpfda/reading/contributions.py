"""One row per record, ready to be encoded: rows become curves, curves reach the grid, a unit's curves become one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from dpfda.reading.blocks import Block, Order, Raw, check_labels, curves, group_each, on_grid, runs, together, told
from dpfda.spaces.alignment import kept_of
from dpfda.spaces.pooling import MOST_CURVES
from dpfda.spaces.rules import Rules

#: Bytes of records that are made at a time.
RECORD_BYTES = 1 << 27


def contributions(blocks: Iterable[Block], alignment: Rules | None, order: Order) -> Iterator[Block]:
    """One row per unit: blocks of curves that are side by side are averaged; without units, blocks pass."""
    waiting: list[Block] = []
    for block in blocks:
        if alignment is None or alignment.unit is None:
            yield block if alignment is None else replace(block, values=told(alignment.each, block, block.values))
            continue
        if not len(block):
            continue
        assert block.units is not None
        check_labels(block.units, block, alignment.unit.name)
        starts = runs(block.units)
        order.follow(block.units[starts], block)
        last = waiting[-1].units if waiting else None
        if last is not None and block.units[0] != last[-1]:
            yield from _pooled(together(waiting), alignment)
            waiting = []
        if starts.size > 1:
            yield from _pooled(together([*waiting, block.take(np.arange(starts[-1]))]), alignment)
            waiting = []
        waiting.append(block.take(np.arange(starts[-1], len(block))))
    if waiting:
        assert alignment is not None
        yield from _pooled(together(waiting), alignment)


def _pooled(block: Block, alignment: Rules) -> Iterator[Block]:
    """One record for each unit of a block, so many units at a time that their records fit into memory."""
    assert block.units is not None
    assert alignment.unit is not None
    starts = runs(block.units)
    groups = group_each(block, starts, alignment.lenient)
    most = alignment.unit.most
    if alignment.lenient:  # no unit may stop a run by how much it holds
        most = min(MOST_CURVES, most or MOST_CURVES)
    if most is not None and (np.diff(np.append(starts, len(block))) > most).any():
        kept = []
        for start, stop in zip(starts.tolist(), [*starts[1:].tolist(), len(block)], strict=True):
            labels = [str(i) for i in range(stop - start)] if block.order is None else block.order[start:stop].tolist()
            kept.append(start + kept_of(labels, block.values[start:stop], most))
        block = block.take(np.concatenate(kept))
        assert block.units is not None
        starts = runs(block.units)
    step = max(1, RECORD_BYTES // (8 * alignment.record_width))
    for first in range(0, starts.size, step):
        some = starts[first : first + step]
        stop = starts[first + step] if first + step < starts.size else len(block)
        part = block.take(np.arange(some[0], stop)) if some.size < starts.size else block
        values = told(alignment.contributions, part, part.values, some - some[0])
        files = None if block.files is None else block.files[some]
        own = None if groups is None else groups[first : first + step]
        yield Block(values, block.rows[some], groups=own, file=block.file, files=files)


def records(raws: Iterable[Raw], alignment: Rules | None, ids: Order, units: Order) -> Iterator[Block]:
    """All three steps: one row per record, ready to be encoded."""
    lenient = alignment is not None and alignment.lenient
    return contributions(on_grid(curves(raws, ids, lenient), alignment), alignment, units)
