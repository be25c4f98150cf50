"""Settings that every test shares."""

import os
from pathlib import Path

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # scikit-learn skips two of its estimator checks without it

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadScopeScheduling

settings.register_profile(
    "evenodds", deadline=None, max_examples=40, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("evenodds")
SPARK = ["test_spark", "test_sources"]  # share a session
LONGEST = [*SPARK, "test_shards", "test_browser", "test_leave_one_out", "test_mixture", "test_tune", "test_bad_files"]


class ByFile(LoadScopeScheduling):
    """A file's tests run in one process: what they share is fitted, and its kernels are compiled, once."""

    def _split_scope(self, nodeid):
        stem = Path(nodeid.partition("::")[0]).stem
        return "spark" if stem in SPARK else stem


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Not `--dist loadgroup`: with pytest 9.2 and xdist 3.8 its groups are not seen, and both processes ran Spark."""
    config.option.loadscopereorder = False
    return ByFile(config, log)


def pytest_collection_modifyitems(items):
    """The files that take longest come first, so that none is left over for one process at the end."""
    items.sort(key=lambda item: LONGEST.index(item.path.stem) if item.path.stem in LONGEST else len(LONGEST))


def pytest_terminal_summary(terminalreporter):
    """In CI nothing may skip: what a machine lacks there, .ci/run must install."""
    skipped = terminalreporter.stats.get("skipped", [])
    if skipped and os.environ.get("CI"):
        terminalreporter.write_line(f"{len(skipped)} skipped, and in CI none may")
        terminalreporter._session.exitstatus = 1
