"""Inputs of a task: metadata, bytes, text, rows and frames."""
