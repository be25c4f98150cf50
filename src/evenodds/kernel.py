"""How a kernel is compiled, and three machine instructions Python has no word for.

A kernel is a plain serial function over arrays; threads run it over fixed shards, so the result does not depend on how
many there are. It is compiled at its first call on much data: numba takes a third of a second to load, which a coin
tossed ten times should not wait for. Uncompiled it is the same function, and the tests hold the two together; where
there is no numba, that is what runs.
"""

from __future__ import annotations

import functools
import struct
import sys
import threading
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Array = TypeVar("Array", bound=NDArray[Any])
FEW = 4096  # numbers in the first argument, below which loading the compiler costs more than it saves
_compiling = threading.RLock()  # the compiler is taught, and asked, by one thread at a time
OFTEN = 300  # calls on a few numbers, such as thousands of short columns, from which on it saves more after all


class Kernel:
    """A function over arrays, compiled when that pays."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.py_func, self.calls = function, 0
        functools.update_wrapper(self, function)

    def __call__(self, *args: Any) -> Any:
        """Run it: as plain Python on a few numbers, compiled on many or if it is called again and again."""
        self.calls += 1
        few = args[0].size < FEW and self.calls <= OFTEN and "numba" not in sys.modules
        return self.plain(*args) if few else self.compiled(*args)

    @functools.cached_property
    def plain(self) -> Callable[..., Any]:
        """The function itself; its numbers overflow in silence, as they do in machine code."""
        return np.errstate(all="ignore")(self.py_func)

    @functools.cached_property
    def compiled(self) -> Callable[..., Any]:
        """Machine code that runs without the interpreter's lock, kept on disk between processes where that can be."""
        with _compiling:
            numba = compiler()
            if numba is None:
                return self.plain
            self.teach(numba)
            try:
                return numba.njit(nogil=True, cache=True)(self.py_func)
            except RuntimeError:  # there is no folder that can be written, as in a container: it is compiled each time
                return numba.njit(nogil=True)(self.py_func)

    def teach(self, numba: Any) -> None:
        """Tell the compiler what it must know beyond our three instructions."""


def kernel(function: Callable[..., Any]) -> Kernel:
    """Mark a function as a kernel."""
    return Kernel(function)


def frozen(array: Array) -> Array:
    """A view that is only read: a kernel is compiled once for these, wherever their arrays come from."""
    view: Array = array.view()
    view.flags.writeable = False
    return view


def product_error(a: Any, b: Any, product: Any) -> Any:
    """What rounding took from a·b: a·b - product, exactly (Dekker 1971; one fused multiply-add when compiled)."""
    t = 134217729.0 * a  # 2^27 + 1: Veltkamp's split
    a1 = t - (t - a)
    t = 134217729.0 * b
    b1 = t - (t - b)
    return ((a1 * b1 - product) + a1 * (b - b1) + (a - a1) * b1) + (a - a1) * (b - b1)


def bits(x: float) -> Any:
    """The 64 bits of a double, as an integer."""
    return struct.unpack("<Q", struct.pack("<d", x))[0]


def eight_bytes(data: Any, start: int, stop: int) -> Any:
    """The bytes data[start:stop], at most eight, as one little-endian integer."""
    return np.uint64(int.from_bytes(data[start : min(start + 8, stop)].tobytes(), "little"))


@functools.cache
def compiler() -> Any:
    """The compiler with our three instructions, or None where it is not installed."""
    try:
        import numba
        from llvmlite import ir
        from numba.extending import intrinsic, overload
    except ImportError:
        return None
    _without_blas()
    f8, u8 = numba.types.float64, numba.types.uint64

    def fused_code(typing_context: Any, a: Any, b: Any, c: Any) -> Any:
        return f8(f8, f8, f8), lambda context, builder, signature, args: builder.fma(*args)

    def cast_code(typing_context: Any, x: Any) -> Any:
        return u8(f8), lambda context, builder, signature, args: builder.bitcast(args[0], ir.IntType(64))

    def load_code(typing_context: Any, data: Any, i: Any) -> Any:
        def load(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            array = context.make_array(signature.args[0])(context, builder, args[0])
            where = builder.gep(array.data, [args[1]])
            return builder.load(builder.bitcast(where, ir.IntType(64).as_pointer()), align=1)

        return u8(data, numba.types.intp), load

    fused: Any = intrinsic(fused_code)
    cast: Any = intrinsic(cast_code)
    load: Any = intrinsic(load_code)
    byte, one = np.uint64(8), np.uint64(1)

    def compiled_eight_bytes(data, start, stop):  # type: ignore[no-untyped-def]
        if start + 8 <= len(data):
            word = load(data, start)
            return word if start + 8 <= stop else word & ((one << (byte * np.uint64(stop - start))) - one)
        word = np.uint64(0)
        for j in range(start, min(start + 8, stop)):
            word |= np.uint64(data[j]) << (byte * np.uint64(j - start))
        return word

    # the names of an overload's arguments must match to the letter, so these stay without annotations
    overload(product_error, inline="always")(lambda a, b, product: lambda a, b, product: fused(a, b, -product))
    overload(bits, inline="always")(lambda x: lambda x: cast(x))
    overload(eight_bytes, inline="always")(lambda data, start, stop: compiled_eight_bytes)
    return numba


def _without_blas() -> None:
    """Load the part of the compiler that looks for BLAS without letting it look: what calls BLAS looks again, kernels
    do not, and loading scipy.linalg would take longer than loading all kernels.
    """
    from numba.np import linalg

    look, linalg.ensure_blas = linalg.ensure_blas, lambda: None
    try:
        import numba.np.arraymath  # noqa: F401
    finally:
        linalg.ensure_blas = look
