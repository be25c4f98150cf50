"""Settings that every test shares."""

import os

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # scikit-learn skips two of its estimator checks without it

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "evenodds", deadline=None, max_examples=40, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("evenodds")
LONGEST = ["test_spark", "test_sources", "test_browser", "test_shards", "test_leave_one_out", "test_bad_files"]


def pytest_collection_modifyitems(items):
    """A file's tests run in one process: what they share is fitted, and its kernels are compiled, once. With several
    processes, the files that take longest come first, so that none is left over at the end (`--no-loadscope-reorder`).
    """
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))
    items.sort(key=lambda item: LONGEST.index(item.path.stem) if item.path.stem in LONGEST else len(LONGEST))


def pytest_terminal_summary(terminalreporter):
    """In CI nothing may skip: what a machine lacks there, .ci/run must install."""
    skipped = terminalreporter.stats.get("skipped", [])
    if skipped and os.environ.get("CI"):
        terminalreporter.write_line(f"{len(skipped)} skipped, and in CI none may")
        terminalreporter._session.exitstatus = 1
