"""Audits: an attempt to show that a plan breaks its promise, for people who ask how we know.

An audit never sees confidential data. It invents the worst neighbours it can find, sends them through the code that
real data would go through, and compares what comes out with what the plan states.
"""

from dpfda.audits.functions import check_function
from dpfda.audits.report import Audit
from dpfda.audits.run import audit
from dpfda.audits.saved import SavedAudit

__all__ = ["Audit", "SavedAudit", "audit", "check_function"]
