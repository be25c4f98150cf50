"""Mixtures of a family, fitted by EM."""
