"""The privacy budget of a study: one SQLite file, exact fractions, entries that never change.

A charge is written and synced before any noise is drawn, inside one exclusive transaction, so
processes that share a ledger can never overspend together, and a crash can cost budget but
never privacy. Entries form a hash chain, so damage and careless edits are noticed; whoever can
rewrite the whole file can forge it, and the seal printed in each statement is what would tell.
Each entry's seal covers the total of all charges, so a charge reads the last rows alone and costs the
same however long the ledger is; the whole chain is read to list, verify, back up and adopt.

`entries` is what a ledger says, `periods` when its budget renews, `verified` how that is believed, `store` the
file that says it, `home` how a copy is told from the original, `releases` which charge paid for what, `tables` how it
is shown, `budget` what is spent and what is left, and `ledger` the words that users speak.
"""

from dpfda.ledger.entries import Entry, Output
from dpfda.ledger.ledger import Ledger
from dpfda.ledger.releases import Finding

__all__ = ["Entry", "Finding", "Ledger", "Output"]
