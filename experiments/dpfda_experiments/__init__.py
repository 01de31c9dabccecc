"""The experiments of the paper, one file each, through the front door only; `python -m dpfda_experiments` runs them.

Every experiment is a module that says what it reproduces (`TITLE`, `SOURCE`), which data files it
needs (`FILES`), which cells it consists of (`cells`), how one cell is run (`run`) and what to make
of the rows (`report`). `study` runs cells and keeps them, `pages` writes what came out, `reproduce` does
both; `paper` holds the paper's mechanisms, `authors` what its authors ran, `published` their printed numbers.
"""

#: In the order of the paper.
NAMES = ("timing", "selection", "mechanisms", "variants", "densities", "curves", "mortality")
