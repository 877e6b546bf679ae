"""The command ``sdp-runner``."""

from __future__ import annotations

import argparse
import sys

from ._runner.load import NoRunnerError, load_runner
from ._runner.run import run
from ._version import VERSION

_EPILOG = """
environment:
  SDP_URL                   the platform's base address
  SDP_RUNNER_TOKEN          a runner token
  SDP_RUNNER_CONCURRENCY    tasks at the same time (1)
  SDP_RUNNER_INSTANCE       an id that no other process uses (name, host, process and a random part)
  SDP_RUNNER_WAIT_SECONDS   how long a claim waits, 0 to 60 (30)
  SDP_RUNNER_GRACE_SECONDS  how long tasks may continue after SIGTERM (15)
  SDP_RUNNER_LOG            lines on standard error from this level on: debug, info, warn, error (info)
  SDP_RUNNER_RUN_LOGS       off: log lines of a task are not sent to its run (on)
  SDP_RUNNER_CAPTURE        off: printed lines are not sent to the run's log (on)
  SDP_RUNNER_CLAIM_NEXT     off: the end of a task does not claim the next by the same call (on)
  SDP_RUNNER_TEMPLATE_SUFFIX
                            added to the names of the node templates that it claims
  SDP_REPLAY_CASE           work on this saved case instead of claiming
"""


def main(arguments: list[str] | None = None) -> None:
    """Starts the runner of a module."""
    parser = argparse.ArgumentParser(
        prog="sdp-runner",
        description="Runs a runner of the Simulation Data Platform until it gets SIGTERM or SIGINT.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("target", metavar="module[:name]", help="a module or a .py file, and the runner in it")
    parser.add_argument("--version", action="version", version=f"sdp-runner {VERSION}")
    options = parser.parse_args(arguments)
    try:
        runner = load_runner(options.target)
    except NoRunnerError as error:
        print(error, file=sys.stderr)
        raise SystemExit(1) from None
    run(runner)


if __name__ == "__main__":
    main()
