"""The command line: a thin shell over the public verbs."""

import os
import signal
import sys

from discreet.errors import INTERRUPTED


def _flush() -> None:
    """Print what is left; what cannot be printed changes the status no more."""
    from discreet.cli.printing import silence

    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            silence(stream)


def main() -> None:
    """Run the command line and exit with its status."""
    try:
        # To be told to end is an interruption too: what is half written must go.
        for number in (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
            signal.signal(number, signal.default_int_handler)
        # Small dense systems are solved faster, and always alike, by one thread.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        # Whatever library starts a process of its own: it imports nothing from a folder of data.
        os.environ["PYTHONSAFEPATH"] = "1"
        from discreet.cli.printing import open_streams

        open_streams()
        from discreet.cli.app import run

        status = run(sys.argv[1:])
    except KeyboardInterrupt:  # while still loading
        status = INTERRUPTED
    if status == INTERRUPTED:
        # An interrupt that passed through exec() on its way makes Python end by the signal whatever status it is given.
        os._exit(status)
    _flush()
    sys.exit(status)
