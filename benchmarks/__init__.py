"""Benchmarks of evenodds beside the libraries people use today; `python -m benchmarks.run` runs them all."""
