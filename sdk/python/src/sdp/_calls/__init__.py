"""Calls of the runner routes over HTTP."""
