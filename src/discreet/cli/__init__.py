"""The command line: a thin shell over the public verbs."""

import sys


def main() -> None:
    """Run the command line and exit with its status."""
    from discreet.cli.app import run

    sys.exit(run(sys.argv[1:]))
