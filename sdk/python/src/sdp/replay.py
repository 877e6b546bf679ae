"""``python -m sdp.replay CASE_DIR module[:name] [--out DIR]``: runs a saved case without a platform."""

from __future__ import annotations

import argparse
import os
import sys

from ._runner.load import NoRunnerError, load_runner
from .testing.replay import replay


def main(arguments: list[str] | None = None) -> None:
    """Runs the case and ends the process."""
    parser = argparse.ArgumentParser(prog="python -m sdp.replay", description=__doc__)
    parser.add_argument("case", help="a folder with case.json")
    parser.add_argument("target", metavar="module[:name]", help="a module or a .py file, and the runner in it")
    parser.add_argument("--out", default=os.environ.get("SDP_REPLAY_OUT"), help="where outputs are written")
    options = parser.parse_args(arguments)
    try:
        runner = load_runner(options.target)
    except NoRunnerError as error:
        print(error, file=sys.stderr)
        raise SystemExit(1) from None
    raise SystemExit(replay(runner, options.case, options.out))


if __name__ == "__main__":
    main()
