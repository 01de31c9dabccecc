"""A session of Spark for the command, which says nothing of its own accord."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dpfda.core.errors import ParameterError, shown


@contextmanager
def session(master: str) -> Iterator[None]:
    """The active session, or a quiet one that ends with this."""
    try:
        import pyspark.sql
    except ImportError:
        raise ParameterError("engine='spark' needs Spark", "none installed", "Install dpfda[spark].") from None
    if pyspark.sql.SparkSession.getActiveSession() is not None:
        yield
        return
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # workers are of this Python
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder: Any = pyspark.sql.SparkSession.builder.master(master).appName("dpfda")
    for name in ("spark.ui.enabled", "spark.ui.showConsoleProgress"):
        builder = builder.config(name, "false")
    started: Any = None
    with _silence():
        try:
            started = builder.getOrCreate()
        except Exception:  # its text is Java's
            started = None
    if started is None:
        raise ParameterError(
            "engine='spark' needs Java (17 or later), and a cluster that answers", shown(master), "Check both."
        )
    try:
        yield
    finally:
        with _silence():
            started.stop()


@contextmanager
def _silence() -> Iterator[None]:
    """Nothing that is started here, nor what it starts, has this process's terminal to write to."""
    kept = [os.dup(1), os.dup(2)]
    nothing = os.open(os.devnull, os.O_WRONLY)
    try:
        for stream in (1, 2):
            os.dup2(nothing, stream)
        yield
    finally:
        for stream, own in zip((1, 2), kept, strict=True):
            os.dup2(own, stream)
            os.close(own)
        os.close(nothing)
