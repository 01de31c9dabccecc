"""The command `dpfda`: plan, release, compare and account, one verb each."""

from .app import app, main

__all__ = ["app", "main"]
