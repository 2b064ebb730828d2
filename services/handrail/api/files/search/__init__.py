"""Finding files by name and by content: one candidate rule, two engines, the same results."""
