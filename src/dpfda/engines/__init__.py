"""Where the work is done: in this process, on a Dask cluster or on Spark. The bits are the same."""

from dpfda.core.watching import Phase, watched
from dpfda.engines.checkpoints import Saved
from dpfda.engines.checkpoints import load as load_summary
from dpfda.engines.summarize import Checkpoint, Declared, summarize, summarize_groups
from dpfda.problems.summary import Summary

__all__ = [
    "Checkpoint", "Declared", "Phase", "Saved", "Summary", "load_summary", "summarize", "summarize_groups", "watched",
]  # fmt: skip
