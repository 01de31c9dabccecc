"""The command `dpfda`: plan, release, compare and account, one verb each."""

from dpfda.cli.app import app, main

__all__ = ["app", "main"]
