"""Kernel densities of one variable: the shapes, their bandwidths, and sums over many points that do not take long."""
