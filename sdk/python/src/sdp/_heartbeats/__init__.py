"""Heartbeats from a separate process."""
