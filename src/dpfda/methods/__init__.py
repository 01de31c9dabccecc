"""Methods: from a problem and a budget to filters and noise laws. One file each."""

from .ar import AR
from .base import Method
from .frl import FRL
from .knorm import KNorm
from .minimax import Minimax
from .qr import QR

__all__ = ["AR", "FRL", "KNorm", "Method", "Minimax", "QR"]
