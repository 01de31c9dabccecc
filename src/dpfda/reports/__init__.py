"""Reports for people who decide: a release or a plan in plain words, pictures and tables, as one page.

The same parts as data (`sections`, `pictures`, `table`) are what the local page shows.
"""

from dpfda.reports.pictures import pictures
from dpfda.reports.sections import sections
from dpfda.reports.tables import table
from dpfda.reports.writing import ledger_page, report

__all__ = ["ledger_page", "pictures", "report", "sections", "table"]
