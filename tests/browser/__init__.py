"""Tests of the page in a real browser: `make test-browser` runs them.

A package, because its `conftest` would otherwise take the name of the one above, from which other tests import.
"""
