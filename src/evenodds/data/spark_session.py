"""Spark itself: a session of it, and what it says when something goes wrong, as one sentence."""

from __future__ import annotations

import os
import shutil
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from evenodds.errors import DataError


@contextmanager
def said(name: str) -> Iterator[None]:
    """What Spark says of what it could not do, as one sentence."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise DataError(_sentence(name, str(error))) from error


def _sentence(name: str, text: str) -> str:
    """The line of Spark's that says why.

    >>> _sentence("rows", "Job aborted.\\nCaused by: SparkException: Python worker exited unexpectedly (crashed)")
    'rows: a Python worker of Spark was killed, and no retry went better: is there enough memory for it?'
    """
    if "Python worker exited unexpectedly" in text or "Python worker failed to connect" in text:
        return f"{name}: a Python worker of Spark was killed, and no retry went better: is there enough memory for it?"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    causes = [line.removeprefix("Caused by: ").partition(": ")[2] for line in lines if line.startswith("Caused by: ")]
    why = next((cause for cause in reversed(causes) if cause), lines[0] if lines else "it did not say why")
    where = next((word for line in lines for word in line.split() if word.startswith("file:")), "")
    return f"{name}: Spark could not read or count it: {why[:300]}{f' ({where})' if where and where not in why else ''}"


def session(master: str | None = None) -> Any:
    """A session of Spark: the one that is running, or one on this `master`."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise DataError("Spark is not installed: pip install 'evenodds[spark]'") from None
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas")  # of which only Arrow is used here
    running = SparkSession.getActiveSession()
    if running is not None:
        return running
    if master is None or not master.startswith("sc://"):
        home = os.environ.get("JAVA_HOME")
        if shutil.which("java") is None and not (home and os.path.exists(os.path.join(home, "bin", "java"))):
            raise DataError("Spark needs Java 17 or newer, and there is none: install a JRE, or set JAVA_HOME")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # else the workers are whatever `python3` is
    builder = SparkSession.builder.appName("evenodds").config("spark.log.level", "ERROR")
    builder = builder.config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
    if master is not None and master.startswith("sc://"):
        return builder.remote(master).getOrCreate()
    if master is None or master.startswith("local"):
        builder = builder.config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1")
        builder = builder.config("spark.sql.shuffle.partitions", "8")  # 200 are for clusters
    return builder.master(master or "local[*]").getOrCreate()
