"""Methods: from a problem and a budget to filters and noise laws. One file each."""

from .ar import AR
from .auto import Auto
from .base import Method
from .bernstein import Bernstein
from .blocks import Blocks
from .centred import Centred
from .frl import FRL
from .gaussian_process import GaussianProcess
from .knorm import KNorm
from .minimax import Minimax
from .qr import QR
from .select import Select
from .staged import Staged

__all__ = [
    "AR",
    "Auto",
    "Bernstein",
    "Blocks",
    "Centred",
    "FRL",
    "GaussianProcess",
    "KNorm",
    "Method",
    "Minimax",
    "QR",
    "Select",
    "Staged",
]
