"""Methods: from a problem and a budget to filters and noise laws. One file each."""

from dpfda.methods.ar import AR
from dpfda.methods.auto import Auto
from dpfda.methods.base import Method
from dpfda.methods.bernstein_polynomials import Bernstein
from dpfda.methods.blockwise import Blocks
from dpfda.methods.centred import Centred
from dpfda.methods.event_counts import EventCounts
from dpfda.methods.frl import FRL
from dpfda.methods.gaussian_process import GaussianProcess
from dpfda.methods.histogram import Histogram
from dpfda.methods.knorm import KNorm
from dpfda.methods.leading import Leading
from dpfda.methods.minimax import Minimax
from dpfda.methods.qr import QR
from dpfda.methods.select import Select
from dpfda.methods.staged import Staged

__all__ = [
    "AR",
    "Auto",
    "Bernstein",
    "Blocks",
    "Centred",
    "EventCounts",
    "FRL",
    "GaussianProcess",
    "Histogram",
    "KNorm",
    "Leading",
    "Method",
    "Minimax",
    "QR",
    "Select",
    "Staged",
]
