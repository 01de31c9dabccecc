"""What this package raises and warns of, for people who catch it. All errors are :class:`DpfdaError`."""

from dpfda.core.errors import (
    AlreadyCharged,
    BudgetExceeded,
    ClusterError,
    DpfdaError,
    FileError,
    LedgerError,
    LedgerWarning,
    LeftOutWarning,
    NoiseWarning,
    NotPrivateWarning,
    ParameterError,
    PlanMismatch,
    RecordError,
    UnitWarning,
)

__all__ = [
    "AlreadyCharged",
    "BudgetExceeded",
    "ClusterError",
    "DpfdaError",
    "FileError",
    "LedgerError",
    "LedgerWarning",
    "LeftOutWarning",
    "NoiseWarning",
    "NotPrivateWarning",
    "ParameterError",
    "PlanMismatch",
    "RecordError",
    "UnitWarning",
]
