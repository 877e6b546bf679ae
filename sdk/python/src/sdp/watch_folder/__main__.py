"""``python -m sdp.watch_folder``."""

from .command import main

main()
