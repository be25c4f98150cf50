"""Settings that every test shares."""

import os

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # scikit-learn skips two of its estimator checks without it

from hypothesis import HealthCheck, settings

settings.register_profile(
    "evenodds", deadline=None, max_examples=40, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("evenodds")


def pytest_terminal_summary(terminalreporter):
    """In CI nothing may skip: what a machine lacks there, .ci/run must install."""
    skipped = terminalreporter.stats.get("skipped", [])
    if skipped and os.environ.get("CI"):
        terminalreporter.write_line(f"{len(skipped)} skipped, and in CI none may")
        terminalreporter._session.exitstatus = 1
