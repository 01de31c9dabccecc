"""`python -m dpfda_experiments`."""

from .command import app

app(prog_name="python -m dpfda_experiments")
