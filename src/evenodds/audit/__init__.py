"""Judging models: how right, how sure, and rightly so."""
