"""Bayesian networks: a graph of variables, and a table p(node | parents) for each of them."""
