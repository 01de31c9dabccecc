"""`python -m dpfda` is the command `dpfda`."""

from dpfda.cli import main

main()
