"""Budgets that renew by the calendar: a public rule names the period that a moment belongs to.

Periods are those of the UTC calendar. They never go back: a charge belongs to the period of its time, or to that of the
charge before it where that is later. So a clock that is set back opens no budget again; one that was ahead once keeps
its period until the calendar has caught up.
"""

from __future__ import annotations

from datetime import date, datetime

from dpfda.core.errors import ParameterError, shown

#: How often a budget can renew, and the adjective for it.
PERIODS = {"day": "daily", "week": "weekly", "month": "monthly", "quarter": "quarterly", "year": "yearly"}


def check_period(period: str | None) -> str:
    """The name of a rule; nothing for a budget that never renews."""
    if period is None or period == "":
        return ""
    if not isinstance(period, str) or period not in PERIODS:
        raise ParameterError(
            f"a budget renews every {', '.join(PERIODS)}", shown(period), "Pass period='year', or none for one budget."
        )
    return period


def name_of(period: str, day: date) -> str:
    """The name of the period that a day belongs to: names sort as their periods follow each other.

    >>> [name_of(period, date(2027, 1, 1)) for period in PERIODS]
    ['2027-01-01', '2026-W53', '2027-01', '2027-Q1', '2027']
    """
    if period == "week":
        year, week, _ = day.isocalendar()
        return f"{year:04d}-W{week:02d}"
    if period == "quarter":
        return f"{day.year:04d}-Q{(day.month + 2) // 3}"
    return day.isoformat()[: {"day": 10, "month": 7, "year": 4}[period]]


def period_after(period: str, time: str, before: str) -> str:
    """The period of a charge at this time (as a ledger spells it), after one of the period `before`.

    >>> period_after("year", "2027-01-01T00:00:00Z", "2026"), period_after("year", "2025-06-01T00:00:00Z", "2026")
    ('2027', '2026')
    """
    if not period:
        return ""
    return max(name_of(period, datetime.strptime(time, "%Y-%m-%dT%H:%M:%SZ").date()), before)
