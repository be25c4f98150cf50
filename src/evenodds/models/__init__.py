"""How variables hang together: the models."""
