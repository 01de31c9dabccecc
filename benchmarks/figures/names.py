"""What pages call the data sets, whose names in the results are those of files."""

from __future__ import annotations

SETS = {
    "aemet_logprec": "Spanish rain",
    "ausfemale": "Australian mortality",
    "canadian_prec": "Canadian rain",
    "elec_load": "consumers' loads",
    "italy_power": "Italian power",
    "nyc_taxi": "New York taxis",
    "poblenou": "Barcelona NOx",
    "tecator": "meat spectra",
    "adelaide_monday_demand": "Adelaide Mondays",
    "dti_cca": "white matter",
    "adelaide ": "Adelaide, ",
    "dti": "white matter",
    "pareto": "Pareto",
}


def called(name: str) -> str:
    """A set by a name that people know, with what follows the name of its file."""
    for file, words in SETS.items():
        if name.startswith(file):
            return words + name[len(file) :]
    return name
