"""``python -m sdp module[:name]`` is ``sdp-runner module[:name]``."""

from .cli import main

main()
