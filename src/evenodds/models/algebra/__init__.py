"""Linear algebra that knows nothing of models: triangles of rows, and which of their columns say the same."""
