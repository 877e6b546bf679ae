"""A runner: its definition, its settings, its work."""
