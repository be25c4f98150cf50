"""How a kernel is compiled, and two machine instructions Python has no word for.

A kernel is a plain serial function over arrays; threads run it over fixed shards, so the result does not depend on how
many there are. It is compiled at its first call on much data: numba takes a third of a second to load, which a coin
tossed ten times should not wait for. Uncompiled it is the same function, and the tests hold the two together; where
there is no numba, that is what runs.
"""

from __future__ import annotations

import functools
import struct
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

FEW = 4096  # numbers in the first argument, below which loading the compiler costs more than it saves


class Kernel:
    """A function over arrays, compiled when that pays."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.py_func = function
        functools.update_wrapper(self, function)

    def __call__(self, *args: Any) -> Any:
        """Run it: as plain Python on a few numbers, compiled on many."""
        few = args[0].size < FEW and "numba" not in sys.modules
        return self.plain(*args) if few else self.compiled(*args)

    @functools.cached_property
    def plain(self) -> Callable[..., Any]:
        """The function itself; its numbers overflow in silence, as they do in machine code."""
        return np.errstate(all="ignore")(self.py_func)

    @functools.cached_property
    def compiled(self) -> Callable[..., Any]:
        """Machine code that runs without the interpreter's lock, kept on disk between processes."""
        numba = _numba()
        return self.plain if numba is None else numba.njit(nogil=True, cache=True)(self.py_func)


def kernel(function: Callable[..., Any]) -> Kernel:
    """Mark a function as a kernel."""
    return Kernel(function)


def product_error(a: float, b: float, product: float) -> float:
    """What rounding took from a·b: a·b - product, exactly (Dekker 1971; one fused multiply-add when compiled)."""
    t = 134217729.0 * a
    a1 = t - (t - a)
    t = 134217729.0 * b
    b1 = t - (t - b)
    return ((a1 * b1 - product) + a1 * (b - b1) + (a - a1) * b1) + (a - a1) * (b - b1)


def bits(x: float) -> Any:
    """The 64 bits of a double, as an integer."""
    return struct.unpack("<Q", struct.pack("<d", x))[0]


@functools.cache
def _numba() -> Any:
    """The compiler with our two instructions, or None where it is not installed."""
    try:
        import numba
        from llvmlite import ir
        from numba.extending import intrinsic, overload
    except ImportError:
        return None
    f8, u8 = numba.types.float64, numba.types.uint64

    def fused_code(typing_context: Any, a: Any, b: Any, c: Any) -> Any:
        return f8(f8, f8, f8), lambda context, builder, signature, args: builder.fma(*args)

    def cast_code(typing_context: Any, x: Any) -> Any:
        return u8(f8), lambda context, builder, signature, args: builder.bitcast(args[0], ir.IntType(64))

    fused: Any = intrinsic(fused_code)
    cast: Any = intrinsic(cast_code)

    # the names of an overload's arguments must match to the letter, so these stay without annotations
    overload(product_error, inline="always")(lambda a, b, product: lambda a, b, product: fused(a, b, -product))
    overload(bits, inline="always")(lambda x: lambda x: cast(x))
    return numba
