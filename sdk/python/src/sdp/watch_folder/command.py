"""The command ``python -m sdp.watch_folder``."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from .._version import VERSION
from ..errors import SettingsError
from .send import Send, to_ingest, to_session
from .watch import watch_folder

_EPILOG = """
A file NAME.meta.json beside a file is a JSON object of its metadata. What was sent is in .sdp-sent.jsonl.

environment:
  SDP_URL            the platform's base address
  SDP_TOKEN          a token, with --session
  SDP_INGEST_SECRET  the secret of the ingest, with --ingest
"""


def main(arguments: list[str] | None = None) -> None:
    """Watches a folder until it is stopped."""
    parser = argparse.ArgumentParser(
        prog="python -m sdp.watch_folder",
        description="Sends the files of a folder to a session or a managed ingest as they are completed, oldest first. "
        "It tries again for as long as it takes, and after a restart goes on where it was: each file is sent once.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", type=_folder)
    target = parser.add_mutually_exclusive_group(required=True)
    target.add_argument("--session", metavar="ID", help="the session")
    target.add_argument("--ingest", metavar="PATH", help="path of a managed ingest")
    parser.add_argument("--node", metavar="NAME", help="the node, if the session has several input nodes")
    parser.add_argument(
        "--settle",
        metavar="SECONDS",
        type=_seconds,
        default=5.0,
        help="seconds without a change after which a file is complete (5)",
    )
    parser.add_argument("--limit-rate", metavar="RATE", type=_rate, help="most bytes a second, as in 500K or 2M")
    parser.add_argument("--pattern", metavar="REGEX", type=_pattern, help="metadata from the name: its named groups")
    parser.add_argument("--move-to", metavar="FOLDER", type=Path, help="moves acknowledged files there")
    parser.add_argument("--mark", action="store_true", help="writes NAME.sent beside each acknowledged file")
    parser.add_argument("--once", action="store_true", help="ends when all files are sent or refused")
    parser.add_argument("--version", action="version", version=f"sdp.watch_folder {VERSION}")
    options = parser.parse_args(arguments)
    if options.move_to is not None and options.move_to.resolve() == options.folder.resolve():
        parser.error("--move-to must name another folder")
    if options.ingest is not None and options.node is not None:
        parser.error("--node belongs to --session: a managed ingest has its own node")
    try:
        send: Send = (
            to_session(options.session, node=options.node, bytes_per_second=options.limit_rate)
            if options.ingest is None
            else to_ingest(options.ingest, bytes_per_second=options.limit_rate)
        )
    except SettingsError as error:
        parser.error(str(error))
    try:
        refused = watch_folder(
            options.folder,
            send,
            settle_seconds=options.settle,
            pattern=options.pattern,
            move_to=options.move_to,
            mark=options.mark,
            once=options.once,
            say=lambda line: print(line, file=sys.stderr, flush=True),
        )
    except KeyboardInterrupt:  # Ctrl-C: the journal holds what was sent
        raise SystemExit(130) from None
    except OSError as error:  # with --once: the folder cannot be read
        parser.exit(1, f"{error}\n")
    raise SystemExit(1 if refused > 0 else 0)


def _folder(value: str) -> Path:
    path = Path(value)
    if not path.is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {value}")
    return path


def _seconds(value: str) -> float:
    seconds = float(value) if re.fullmatch(r"\d+(\.\d+)?", value) else 0.0
    if not 0.0 < seconds <= 3_600.0:
        raise argparse.ArgumentTypeError("it must be a number of seconds, above 0 and up to 3600")
    return seconds


def _rate(value: str) -> float:
    found = re.fullmatch(r"(\d+)([KMG]?)", value, re.IGNORECASE)
    number = 0 if found is None else int(found[1]) * 1024 ** " KMG".index(found[2].upper() or " ")
    if number == 0:
        raise argparse.ArgumentTypeError("it must be a number of bytes, as in 500K or 2M")
    return float(number)


def _pattern(value: str) -> re.Pattern[str]:
    """Named groups may be written as elsewhere, too: ``(?<name>...)``."""
    try:
        return re.compile(re.sub(r"\(\?<(?=[A-Za-z_])", "(?P<", value))
    except re.error as error:
        raise argparse.ArgumentTypeError(f"it must be a regular expression: {error}") from None
