"""Where rows come from, and the one verb over them: sum."""
