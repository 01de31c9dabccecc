"""The studio: planning, releasing and reviewing on a page of one's own machine, for people who do not write code.

`fields` and `kinds` are the forms, `planner` what they come to before data; `folder` and `data_screen` lead to a file,
`release_screen`, `tickets` and `jobs` to one charge and one release, `results_screen` and `ledger_screen` show what
there is. `guard` decides who may speak to any of it, `server` starts and ends it.
"""

from dpfda.studio.server import serve

__all__ = ["serve"]
