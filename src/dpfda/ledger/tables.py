"""A ledger in tables: what is left of its budget, and its charges with what became of them."""

from __future__ import annotations

from fractions import Fraction

from dpfda.core import markup
from dpfda.ledger.entries import Balance, Book, Entry, Output

#: How many charges a notebook shows, and the longest fraction that is written out.
SHOWN, MOST_DIGITS = 10, 20
#: Characters of a bar.
WIDTH = 40


def spelt(amount: Fraction) -> str:
    """An amount as a decimal, and exactly where that is not all of it.

    >>> spelt(Fraction(1, 4)), spelt(Fraction(1, 3)), spelt(Fraction(2))
    ('0.25', '0.333333 (1/3)', '2')
    """
    short = f"{float(amount):.6g}"
    if Fraction(short) == amount:
        return short
    return f"{short} ({amount})" if len(str(amount)) <= MOST_DIGITS else f"about {short}"


def cost(epsilon: Fraction, delta: Fraction) -> str:
    """A price in words."""
    return f"epsilon {spelt(epsilon)}" + (f", delta {float(delta):g}" if delta else "")


def bar(share: float) -> str:
    """How much of something is gone, as a picture of text; full only when all of it is.

    >>> bar(0.5), bar(0.999).count("-"), bar(0.001).count("#")
    ('[####################--------------------]', 1, 1)
    """
    gone = round(min(share, 1.0) * WIDTH)
    gone = min(max(gone, 1 if share > 0 else 0), WIDTH - 1 if share < 1 else WIDTH)
    return f"[{'#' * gone}{'-' * (WIDTH - gone)}]"


def budget(balance: Balance, charges: int) -> list[tuple[str, str]]:
    """The rows of a table: how much there is, how much is gone, in decimals and percent."""
    here, share = balance.last, float(balance.last.period_spent / balance.epsilon)
    rows = [("study", balance.study), ("budget", cost(balance.epsilon, balance.delta) + _every(balance.period))]
    gone = f"{cost(here.period_spent, here.period_spent_delta)} ({share:.1%})".replace("%", " %")
    rows.append((f"spent in {here.period}" if balance.period else "spent", gone))
    left = f"{cost(balance.left, balance.left_delta)} ({1 - share:.1%})".replace("%", " %")
    if balance.left < 0:  # an adoption wrote in what other periods had spent
        left = f"nothing: {cost(-balance.left, Fraction(0))} more than the budget was released"
    rows.append(("left", left))
    if balance.period:
        rows.append(("spent over all periods", cost(here.spent, here.spent_delta)))
    return [*rows, ("charges", f"{charges:,}")]


def _every(period: str) -> str:
    return f" every {period} (UTC calendar)" if period else ""


#: The columns of a whole ledger as a table.
COLUMNS = (
    "kind", "number", "time", "query", "epsilon", "delta", "spent", "period", "period_spent", "note", "operator", "run",
    "charge", "output", "sha256", "plan", "epsilon_exact", "spent_exact", "seal",
)  # fmt: skip


def listed(book: Book) -> list[dict[str, object]]:
    """Every charge, each followed by its free entries, as plain data; numbers are numbers, and exact beside it."""
    written: dict[int, list[Output]] = {}
    for output in book.outputs:
        written.setdefault(output.charge, []).append(output)
    found = []
    for entry in book.entries:
        outputs = written.get(entry.number, [])
        noted = {"output": outputs[-1].file, "sha256": outputs[-1].sha256} if outputs else {}
        found.append(as_data(entry) | noted)
        found += [
            {"kind": "output", "epsilon": 0.0, "delta": 0.0, "output": output.file}
            | {name: getattr(output, name) for name in ("number", "time", "charge", "sha256", "seal")}
            for output in outputs
        ]
    return found


def as_data(entry: Entry) -> dict[str, object]:
    """A charge as plain data."""
    amounts = ("epsilon", "delta", "spent", "period_spent")
    texts = ("number", "time", "query", "period", "note", "operator", "run", "plan", "seal")
    exact = {"epsilon_exact": str(entry.epsilon), "spent_exact": str(entry.spent)}
    numbers = {name: float(getattr(entry, name)) for name in amounts}
    return {"kind": "charge"} | {name: getattr(entry, name) for name in texts} | numbers | exact


def as_html(book: Book) -> str:
    """The budget and the last charges, for notebooks."""
    rows = [
        (str(e.number), e.time, e.query, cost(e.epsilon, e.delta), e.note, e.plan[:12]) for e in book.entries[-SHOWN:]
    ]
    names = ("number", "time", "query", "cost", "note", "plan")
    last = markup.columns(f"The last {len(rows)} charges", names, rows) if rows else ""
    return markup.facts("Ledger", budget(book.balance_now, len(book.entries))) + last
