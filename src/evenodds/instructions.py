"""The machine instructions that reading text needs: 64 bytes at a time, and counting bits.

Each is a plain Python function here, which is what an uncompiled kernel runs; compiled, the same name stands for the
instruction. `text_kernel` is `kernel` with these known to the compiler. Compiled kernels are kept on disk by the age of
their own file: after a change here delete `__pycache__/*.nbi`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from evenodds.kernel import Kernel

WIDE = 64  # bytes that are folded at once


def trailing_zeros(x: Any) -> int:
    """The place of the lowest bit that is set; 64 where none is."""
    x = int(x)
    return (x & -x).bit_length() - 1 if x else 64


def bits_set(x: Any) -> int:
    """How many bits are set."""
    return int(x).bit_count()


def high_half(a: Any, b: Any) -> Any:
    """The first 64 of the 128 bits of a product."""
    return np.uint64(int(a) * int(b) >> 64)


def load_eight(data: Any, i: Any) -> Any:
    """The eight bytes from i on as one little-endian integer; they must all be there."""
    return np.uint64(int.from_bytes(data[i : i + 8].tobytes(), "little"))


def fetch_soon(data: Any, i: Any) -> None:
    """Tell the machine that data[i] will be wanted, so that it is there by then."""


def same_byte(data: Any, i: int, byte: Any) -> Any:
    """One bit for each of the 64 bytes from i on: whether it is this one."""
    return _bits(data[i : i + WIDE] == byte)


def not_ascii(data: Any, i: int) -> Any:
    """One bit for each of the 64 bytes from i on: whether it is 128 or more."""
    return _bits(data[i : i + WIDE] >= 128)


def fold_ascii(data: Any, i: int, out: Any, j: int, case: int, zero: int) -> Any:
    """Copy 64 bytes and say which are of words: A-Z get the bit `case`, and with `zero` all digits are 0."""
    block = data[i : i + WIDE]
    upper, digit = (block >= 65) & (block <= 90), (block >= 48) & (block <= 57)
    small = (block >= 97) & (block <= 122)
    lowered = np.where(upper, block | np.uint8(case), block)
    out[j : j + WIDE] = np.where(digit & bool(zero), np.uint8(48), lowered)
    return _bits(upper | small | digit | (block == 95))


def _bits(flags: Any) -> Any:
    return np.packbits(flags, bitorder="little").view("<u8")[0]


class TextKernel(Kernel):
    """A kernel that may use the instructions above, and the functions marked `shared`."""

    def teach(self, numba: Any) -> None:
        """Tell the compiler what the names above mean, and which functions are shared."""
        _teach()
        while _shared:
            function, options = _shared.pop()
            numba.extending.register_jitable(**options)(function)


def text_kernel(function: Callable[..., Any]) -> TextKernel:
    """Mark a function as a kernel over text."""
    return TextKernel(function)


_shared: list[tuple[Callable[..., Any], dict[str, bool]]] = []  # functions, and how the compiler is to take them


def shared(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a plain function that kernels call; it must stand in their own file, whose age their cache goes by."""
    _shared.append((function, {"_nrt": True}))
    return function


def borrowing(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a shared function that makes no arrays: who holds one is not counted in it, which can cost more than it."""
    _shared.append((function, {"_nrt": False}))
    return function


@functools.cache
def _teach() -> None:
    """Tell the compiler what the names above mean."""
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic, overload

    u1, u8, where = types.uint8, types.uint64, types.intp
    byte, word, block = ir.IntType(8), ir.IntType(64), ir.VectorType(ir.IntType(8), WIDE)

    def address(context: Any, builder: Any, type_: Any, array_type: Any, array: Any, i: Any) -> Any:
        start = builder.gep(context.make_array(array_type)(context, builder, array).data, [i])
        return builder.bitcast(start, type_.as_pointer())

    def splat(builder: Any, value: Any) -> Any:
        single = builder.insert_element(ir.Constant(block, ir.Undefined), value, ir.IntType(32)(0))
        return builder.shuffle_vector(single, single, ir.Constant(ir.VectorType(ir.IntType(32), WIDE), [0] * WIDE))

    def every(value: int) -> Any:
        return ir.Constant(block, [value] * WIDE)

    def zeros_code(typing_context: Any, x: Any) -> Any:
        return where(u8), lambda context, builder, signature, args: builder.cttz(args[0], ir.IntType(1)(0))

    def set_code(typing_context: Any, x: Any) -> Any:
        return where(u8), lambda context, builder, signature, args: builder.ctpop(args[0])

    def half_code(typing_context: Any, a: Any, b: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            wide = ir.IntType(128)
            product = builder.mul(*(builder.zext(value, wide) for value in args))
            return builder.trunc(builder.lshr(product, wide(64)), word)

        return u8(u8, u8), code

    def eight_code(typing_context: Any, data: Any, i: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.load(address(context, builder, word, signature.args[0], *args), align=1)

        return u8(data, where), code

    def fetch_code(typing_context: Any, data: Any, i: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            start = builder.gep(context.make_array(signature.args[0])(context, builder, args[0]).data, [args[1]])
            pointer, number = byte.as_pointer(), ir.IntType(32)
            type_ = ir.FunctionType(ir.VoidType(), [pointer, number, number, number])
            fetch = builder.module.declare_intrinsic("llvm.prefetch", [pointer], type_)
            builder.call(fetch, [builder.bitcast(start, pointer), number(1), number(3), number(1)])
            return context.get_dummy_value()

        return types.void(data, where), code

    def same_code(typing_context: Any, data: Any, i: Any, value: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            data, i, value = args
            bytes_ = builder.load(address(context, builder, block, signature.args[0], data, i), align=1)
            return builder.bitcast(builder.icmp_unsigned("==", bytes_, splat(builder, value)), word)

        return u8(data, where, u1), code

    def high_code(typing_context: Any, data: Any, i: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            bytes_ = builder.load(address(context, builder, block, signature.args[0], *args), align=1)
            return builder.bitcast(builder.icmp_signed("<", bytes_, every(0)), word)

        return u8(data, where), code

    def fold_code(typing_context: Any, data: Any, i: Any, out: Any, j: Any, case: Any, zero: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            data, i, out, j, case, zero = args
            bytes_ = builder.load(address(context, builder, block, signature.args[0], data, i), align=1)

            def within(vector: Any, low: int, many: int) -> Any:
                return builder.icmp_unsigned("<", builder.sub(vector, every(low)), every(many))

            upper, digit = within(bytes_, 65, 26), within(bytes_, 48, 10)
            letter = within(builder.or_(bytes_, every(32)), 97, 26)
            wordlike = builder.or_(builder.or_(letter, digit), builder.icmp_unsigned("==", bytes_, every(95)))
            lowered = builder.or_(bytes_, builder.select(upper, splat(builder, case), every(0)))
            # where digits are folded their low four bits go: 0x30 to 0x39 become 0x30
            keep = builder.not_(builder.select(digit, splat(builder, builder.mul(zero, byte(15))), every(0)))
            builder.store(
                builder.and_(lowered, keep), address(context, builder, block, signature.args[2], out, j), align=1
            )
            return builder.bitcast(wordlike, word)

        return u8(data, where, out, where, u1, u1), code

    zeros: Any = intrinsic(zeros_code)
    count: Any = intrinsic(set_code)
    half: Any = intrinsic(half_code)
    eight: Any = intrinsic(eight_code)
    fetch: Any = intrinsic(fetch_code)
    same: Any = intrinsic(same_code)
    high: Any = intrinsic(high_code)
    fold: Any = intrinsic(fold_code)
    overload(trailing_zeros, inline="always")(lambda x: lambda x: zeros(x))
    overload(bits_set, inline="always")(lambda x: lambda x: count(x))
    overload(high_half, inline="always")(lambda a, b: lambda a, b: half(a, b))
    overload(load_eight, inline="always")(lambda data, i: lambda data, i: eight(data, i))
    overload(fetch_soon, inline="always")(lambda data, i: lambda data, i: fetch(data, i))
    overload(same_byte, inline="always")(lambda data, i, byte: lambda data, i, byte: same(data, i, byte))
    overload(not_ascii, inline="always")(lambda data, i: lambda data, i: high(data, i))
    overload(fold_ascii, inline="always")(
        lambda data, i, out, j, case, zero: lambda data, i, out, j, case, zero: fold(data, i, out, j, case, zero)
    )
