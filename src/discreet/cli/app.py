"""The commands, and how whatever happens becomes an exit status and a message without a value in it."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence

from cyclopts import App, CycloptsError, Parameter

from discreet._version import __version__
from discreet.cli.compile import compile_
from discreet.cli.convert import convert
from discreet.cli.example import example
from discreet.cli.group import group
from discreet.cli.inspection import inspect
from discreet.cli.methods import methods
from discreet.cli.protect import protect, refine
from discreet.cli.releases import measure, verify
from discreet.cli.studies import reproduce, study
from discreet.cli.suppress import audit, suppress
from discreet.cli.tables import link, primary, tabulate
from discreet.errors import INTERRUPTED, DiscreetError

USAGE, REFUSED = 2, 1

app = App(
    name="discreet",
    help="Statistical disclosure control: releases that are safe, as useful as possible, and proven.",
    version=__version__,
    help_format="markdown",
    default_parameter=Parameter(negative=()),
    exit_on_error=False,
    print_error=False,
    suppress_keyboard_interrupt=False,
    result_action="return_value",
)
for command in (
    inspect,
    protect,
    group,
    refine,
    verify,
    measure,
    methods,
    tabulate,
    primary,
    link,
    suppress,
    audit,
    convert,
    example,
):
    app.command(command)
app.command(compile_, name="compile")
app.command(study)
app.command(reproduce)


def run(arguments: Sequence[str]) -> int:
    """Run a command and give its exit status: 0 done, 1 refused, 2 usage or input error, 3 partial, 130 interrupted."""
    try:
        status = app(list(arguments))
        sys.stdout.flush()
    except CycloptsError as error:
        return _complain(f"{error}\nTry: discreet {_name_command(arguments)}--help", USAGE)
    except DiscreetError as error:
        return _complain(str(error), error.exit_status)
    except KeyboardInterrupt:
        return _complain("interrupted; nothing was written", INTERRUPTED)
    except BrokenPipeError:
        # Whoever read our output has left; what is still buffered has nowhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except MemoryError:
        return _complain(
            "not enough memory for this data and method; nothing was written. For protect, try --method tour.", REFUSED
        )
    except (SystemExit, GeneratorExit):
        raise
    except BaseException as error:  # a panic of compiled code is no Exception
        return _complain(_describe_fault(error), REFUSED)
    return status if isinstance(status, int) else 0


def _name_command(arguments: Sequence[str]) -> str:
    return f"{arguments[0]} " if arguments and arguments[0] in app else ""


def _complain(message: str, status: int) -> int:
    print(f"discreet: {message}", file=sys.stderr)
    return status


def _describe_fault(error: BaseException) -> str:
    """A fault of ours, told without its message, which could quote a value."""
    if os.environ.get("DISCREET_DEBUG"):
        traceback.print_exception(error)
    last = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{os.path.basename(last.filename)}, line {last.lineno}"  # noqa: PTH119 - a name, not a path
    return (
        f"a fault in discreet itself ({type(error).__name__} in {where}); nothing was written. The details are not "
        "shown because they could quote data; set DISCREET_DEBUG=1 to see them."
    )
