"""Linear algebra that keeps to the thread which calls it."""

from __future__ import annotations

import functools
from contextlib import AbstractContextManager
from typing import Any

from threadpoolctl import ThreadpoolController


def alone() -> AbstractContextManager[Any]:
    """While it lasts, every product and factor of matrices is made by one thread: the threads here are over shards.

    So the bits do not depend on how a library divides its work, and its threads do not wait for each other's: on small
    matrices and busy cores that was ten times slower, measured.
    """
    return _linear_algebra().limit(limits=1, user_api="blas")


@functools.cache
def _linear_algebra() -> ThreadpoolController:
    """The libraries that can be told how many threads to use; they must have been loaded to be found."""
    import numpy.linalg  # noqa: F401
    import scipy.linalg  # noqa: F401

    return ThreadpoolController()
