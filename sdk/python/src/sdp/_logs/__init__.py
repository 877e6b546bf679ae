"""Log lines of a run."""
