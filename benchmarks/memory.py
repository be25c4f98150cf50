"""The memory of a process, and by how much it rises during a call, as Linux counts it."""

import gc
from collections.abc import Callable
from pathlib import Path


def status(field: str, pid: int | str = "self") -> int:
    """Of a process in bytes: VmRSS, what it has, or VmHWM, the most it ever had (ru_maxrss a child inherits)."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    raise OSError(f"no {field} in /proc/{pid}/status")


def forget_peak() -> int:
    """Set the most this process ever had to what it has, and say what that is."""
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")
    return status("VmRSS")


def peak_extra(call: Callable[[], object]) -> int:
    """The bytes by which resident memory rose at its highest during a call."""
    import pyarrow as pa

    gc.collect()
    pa.default_memory_pool().release_unused()
    before = forget_peak()
    result = call()
    extra = status("VmHWM") - before
    del result
    return max(0, extra)
