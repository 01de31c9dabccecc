"""The privacy budget of a study: one SQLite file, exact fractions, entries that never change.

A charge is written and synced before any noise is drawn, inside one exclusive transaction, so
processes that share a ledger can never overspend together, and a crash can cost budget but
never privacy. Entries form a hash chain, so damage and careless edits are noticed; whoever can
rewrite the whole file can forge it, and the seal printed in each statement is what would tell.

`entries` is what a ledger says and how that is verified, `store` the file that says it, `home` how a
copy is told from the original, and `ledger` the words that users speak.
"""

from .entries import Entry
from .ledger import Ledger

__all__ = ["Entry", "Ledger"]
