"""The commands, and how whatever happens becomes an exit status and a message without a value in it."""

from __future__ import annotations

import errno
import os
import sys
import traceback
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from cyclopts import App, CycloptsError, Group, Parameter

from discreet._version import __version__
from discreet.cli.convert import convert
from discreet.cli.example import example
from discreet.cli.group import group
from discreet.cli.inspection import inspect, measure, verify
from discreet.cli.jobs import jobs
from discreet.cli.methods import compile_, methods
from discreet.cli.printing import show, show_json, silence, tell
from discreet.cli.protect import protect, refine
from discreet.cli.report import report, review
from discreet.cli.studies import reproduce, study
from discreet.cli.suppress import audit, suppress
from discreet.cli.tables import link, primary, tabulate
from discreet.cli.web import app as open_app
from discreet.errors import INTERRUPTED, PLACED, DiscreetError, DiscreetWarning, tell_placed
from discreet.text import printable

USAGE, REFUSED = 2, 1

app = App(
    name="discreet",
    help="Statistical disclosure control: releases that are safe, as useful as possible, and proven.",
    version=__version__,
    help_format="markdown",
    group_commands=Group("Options", sort_key=9),
    default_parameter=Parameter(negative=()),
    exit_on_error=False,
    print_error=False,
    suppress_keyboard_interrupt=False,
    result_action="return_value",
)


def completion(shell: Literal["bash", "zsh", "fish"], /) -> int:
    """Print a script that lets a shell complete commands and options.

    For this session: eval "$(discreet completion bash)". For good: put that line into ~/.bashrc; for zsh write the
    script to a file named _discreet in a folder of $fpath.

    Parameters
    ----------
    shell
        The shell that the script is for.
    """
    show(app.generate_completion(prog_name="discreet", shell=shell))
    return 0


# The commands along the walk, each with an example that its help shows.
WALK: dict[str, list[tuple[Any, str]]] = {
    "Microdata": [
        (inspect, "discreet inspect survey.csv --toml survey.toml"),
        (protect, "discreet protect survey.csv --config survey.toml --k 5 -o release.csv"),
        (verify, "discreet verify release.csv --promise release.csv.release.json"),
        (measure, "discreet measure survey.csv release.csv --config survey.toml --row-map map.csv"),
        (refine, "discreet refine survey.csv old.csv --config survey.toml --k 5 --key id -o release.csv"),
        (report, "discreet report release.csv --original survey.csv --row-map map.csv"),
        (review, "discreet review release.csv --decision approved --reviewer 'A. Second'"),
        (group, "discreet group companies.csv --config companies.toml --k 5 -o grouping.toml"),
    ],
    "Tables": [
        (tabulate, "discreet tabulate companies.csv --by region --by size_class --value turnover -o t.parquet"),
        (primary, "discreet primary t.parquet --p 10 --threshold 3 -o flagged.parquet"),
        (link, "discreet link by-region.parquet by-size.parquet -o linked.parquet"),
        (suppress, "discreet suppress flagged.parquet -o public.csv"),
        (audit, "discreet audit flagged.parquet --pattern suppressed.parquet"),
        (convert, "discreet convert table.tab table.parquet"),
    ],
    "Work that lasts": [
        (open_app, "discreet app demo"),
        (jobs, "discreet jobs add protect survey.csv --config survey.toml --k 5 -o release.csv"),
    ],
    "Research": [
        (methods, "discreet methods"),
        (study, "discreet study compare survey.csv --config survey.toml --method memetic --method mdav -o study"),
        (reproduce, "discreet reproduce 2013 --quick"),
    ],
    "To begin with": [
        (example, "discreet example survey ."),
        (compile_, "discreet compile"),
        (completion, 'eval "$(discreet completion bash)"'),
    ],
}
for place, (title, steps) in enumerate(WALK.items()):
    section = Group(title, sort_key=place)
    for step, (command, line) in enumerate(steps):
        how: dict[str, Any] = {"group": section, "sort_key": step, "help_epilogue": f"Example: `{line}`"}
        if isinstance(command, App):
            for key, value in how.items():
                setattr(command, key, value)
            app.command(command)
        else:
            app.command(command, name=command.__name__.rstrip("_"), **how)


def run(arguments: Sequence[str]) -> int:
    """Run a command and give its exit status: 0 done, 1 refused, 2 usage or input error, 3 partial, 130 interrupted."""
    began = len(PLACED)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", DiscreetWarning)
            show_otherwise = warnings.showwarning
            warnings.showwarning = lambda message, category, *place: (
                tell(f"discreet: {message}")
                if issubclass(category, DiscreetWarning)
                else show_otherwise(message, category, *place)
            )
            status = app(list(arguments))
    except CycloptsError as error:
        return _complain("usage", f"{error}\nTry: discreet {_name_command(arguments)}--help", USAGE, arguments)
    except DiscreetError as error:
        return _complain(error.code, str(error), error.exit_status, arguments)
    except KeyboardInterrupt:
        return _complain("interrupted", f"interrupted; {tell_placed(began)}", INTERRUPTED, arguments)
    except BrokenPipeError:  # whoever read the help has left
        silence(sys.stdout)
        return 0
    except MemoryError:
        advice = "" if len(PLACED) > began else ". For protect, try --method tour."
        message = f"not enough memory for this data and method; {tell_placed(began)}{advice}"
        return _complain("memory", message, REFUSED, arguments)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EIO):
            return _complain("fault", _describe_fault(error, tell_placed(began)), REFUSED, arguments)
        silence(sys.stdout)
        return _complain("write", f"{os.strerror(error.errno)}; {tell_placed(began)}", USAGE, arguments)
    except SystemExit as error:  # of the library that prints the help, where nobody reads it to its end
        silence(sys.stdout)
        return error.code if isinstance(error.code, int) and error.code != 1 else 0
    except BaseException as error:  # a panic in a library is no Exception
        if _was_interrupted(error):
            return _complain("interrupted", f"interrupted; {tell_placed(began)}", INTERRUPTED, arguments)
        return _complain("fault", _describe_fault(error, tell_placed(began)), REFUSED, arguments)
    return status if isinstance(status, int) else 0


@app.command(show=False)
def work(job: Path, held: int, /) -> int:
    """Work on a job; what `discreet jobs` starts.

    Parameters
    ----------
    job
        The folder of the job.
    held
        The handle of its lock.
    """
    from discreet.jobs.worker import carry_out

    return carry_out(job, held, run)


def _name_command(arguments: Sequence[str]) -> str:
    return f"{arguments[0]} " if arguments and arguments[0] in app else ""


def _complain(code: str, message: str, status: int, arguments: Sequence[str]) -> int:
    """Say what went wrong, to a program too if it asked for JSON: its code stays the same in later versions."""
    if "--json" in arguments:
        show_json({"schema": "discreet/error/1", "code": code, "status": status, "message": printable(message)})
    tell(f"discreet: {message}")
    return status


def _was_interrupted(error: BaseException) -> bool:
    """Whether an interrupt is behind an error: compiled modules that one ends while they load say ImportError."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, KeyboardInterrupt):
        cause = cause.__cause__ or cause.__context__
    return cause is not None


def _describe_fault(error: BaseException, so_far: str) -> str:
    """A fault of ours, told without its message, which could quote a value."""
    if os.environ.get("DISCREET_DEBUG"):
        tell("".join(traceback.format_exception(error)))
    last = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{os.path.basename(last.filename)}, line {last.lineno}"  # noqa: PTH119 - a name, not a path
    return (
        f"a fault in discreet itself ({type(error).__name__} in {where}); {so_far}. The details are not "
        "shown because they could quote data; set DISCREET_DEBUG=1 to see them."
    )
