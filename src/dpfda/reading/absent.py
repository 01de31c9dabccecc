"""What is said of columns that are asked for and are not there.

Names may be a first record that was taken for names: they are counted and compared, never shown.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from dpfda.core.errors import ParameterError, shown


def no_column(role: str, name: str, names: Sequence[str]) -> ParameterError:
    """The error for a `name` that is none of those of the data."""
    close = difflib.get_close_matches(name.strip().lower(), [known.strip().lower() for known in names], 1, 0.7)
    hint = "One of them is spelt almost so: check capitals and spaces." if close else "Check the spelling."
    return ParameterError(
        f"{role} must name a column of the data", shown(name), f"The data has {len(names)} columns. {hint}"
    )


def no_long_column(name: str) -> ParameterError:
    """The same for one of the three columns of a long table."""
    return ParameterError(
        "a long layout names columns of the data",
        f"{shown(name)}, which is none",
        "Name the columns that say whose, when and what: layout=dp.Long(id='meter', time='hour', value='kwh').",
    )


def no_names(asked: str, wanted: object, data: object) -> ParameterError:
    """The error for columns of data that has no names; `asked` is the option that names them."""
    cures = {
        "columns": "Choose the columns of an array by data[:, 2:8], or pass a DataFrame.",
        "layout": "Pass a DataFrame or a file that has these columns.",
    }
    beside = f"Pass one label per record, {asked}=[...], or a DataFrame."
    given = f"{asked}={shown(wanted)} with {type(data).__name__}"
    return ParameterError("columns can be named where data has names", given, cures.get(asked, beside))
