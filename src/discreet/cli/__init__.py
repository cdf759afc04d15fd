"""The command line: a thin shell over the public verbs."""

import os
import sys

INTERRUPTED = 130


def main() -> None:
    """Run the command line and exit with its status."""
    try:
        from discreet.cli.app import run

        status = run(sys.argv[1:])
    except KeyboardInterrupt:  # while still loading
        status = INTERRUPTED
    if status == INTERRUPTED:
        # An interrupt that passed through exec() on its way makes Python end by the signal whatever status it is given.
        sys.stderr.flush()
        os._exit(status)
    sys.exit(status)
