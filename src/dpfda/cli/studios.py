"""`dpfda studio`: the page on this machine."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from dpfda.cli.commands import command
from dpfda.cli.console import out
from dpfda.cli.options import LedgerFile
from dpfda.core.errors import FileError

#: What the extra `studio` brings.
NEEDED = ("starlette", "uvicorn")


@command()
def studio_command(
    folder: Annotated[Path, typer.Argument(help="The folder with the data, where results are written too.")] = Path(),
    *,
    ledger: LedgerFile = None,
    port: Annotated[int | None, typer.Option(help="Port of this machine. Default: a free one.")] = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Whether to open a browser.")] = True,
) -> None:
    """Plan, release and review on a page in your browser, on this machine alone.

    It needs the extra `studio`. Without --ledger the only ledger of the folder is used, or one is made on the page.

    Example: dpfda studio study --no-browser
    """
    if missing := [name for name in NEEDED if find_spec(name) is None]:
        raise FileError(f"The studio needs {' and '.join(missing)}. Install it with: pip install 'dpfda[studio]'.")
    import_module("dpfda.studio").serve(folder, ledger, port, browser, out.print)
