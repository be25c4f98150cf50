"""Generalised linear models: a linear score, a transfer function, an output distribution, the likelihood."""
