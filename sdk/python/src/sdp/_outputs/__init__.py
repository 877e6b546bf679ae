"""Outputs of a task, of any size."""
