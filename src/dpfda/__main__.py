"""`python -m dpfda` is the command `dpfda`."""

from .cli import main

main()
