"""A held task and how it ends."""
