"""Where the work is done: in this process, on a Dask cluster or on Spark. The bits are the same."""

from .answers import ClusterError
from .run import ENGINES, Checkpoint, summarize, summarize_groups

__all__ = ["ENGINES", "Checkpoint", "ClusterError", "summarize", "summarize_groups"]
