"""The agent of a capture machine: sends the files of a folder as they are completed, each once.

    from sdp.watch_folder import to_session, watch_folder

    watch_folder("/captures", to_session("0198f2b4-6c1e-7d3a-9b52-3f1c8a7e4d10"), move_to="/captures/sent")

``python -m sdp.watch_folder --help`` is the same from a terminal or a service.
"""

from .scan import FoundFile
from .send import Acknowledged, Send, to_ingest, to_session
from .watch import watch_folder

__all__ = ["Acknowledged", "FoundFile", "Send", "to_ingest", "to_session", "watch_folder"]
