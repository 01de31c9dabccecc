"""Methods: from a problem and a budget to filters and noise laws. One file each."""

from .ar import AR
from .base import Method
from .bernstein import Bernstein
from .frl import FRL
from .gaussian_process import GaussianProcess
from .knorm import KNorm
from .minimax import Minimax
from .qr import QR

__all__ = ["AR", "Bernstein", "FRL", "GaussianProcess", "KNorm", "Method", "Minimax", "QR"]
