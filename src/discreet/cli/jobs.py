"""`discreet jobs`: long work that outlives the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter

from discreet.cli.printing import show, show_json, tell
from discreet.text import count

if TYPE_CHECKING:
    from discreet.jobs.job import Job

jobs = App(name="jobs", help="Long work that outlives the terminal: queued, resumed after a break, never lost.")
HERE = Path()
Words = Annotated[str, Parameter(allow_leading_hyphen=True)]


@jobs.command
def add(*command: Words, folder: Path = HERE, title: str = "", json: bool = False) -> int:
    """Add a command to the queue of a folder; it runs in the background, after those added before.

    Options of the job stand before the command: discreet jobs add --folder work protect survey.csv -o release.csv.

    Parameters
    ----------
    command
        A command without `discreet`, its paths relative to the folder.
    folder
        The folder to work in.
    title
        What to call the job.
    json
        Print the job as JSON to standard output.
    """
    from discreet.jobs.queue import Jobs

    job = Jobs(folder).add(command, title=title)
    return _tell(job, json, f"Job {job.id} is in the queue; discreet jobs show {job.id} tells how it gets on")


@jobs.command(name="list")
def list_(folder: Path = HERE, /, *, json: bool = False) -> int:
    """List the jobs of a folder.

    Parameters
    ----------
    folder
        The folder of the jobs.
    json
        Print the jobs as JSON to standard output.
    """
    from discreet.jobs.queue import Jobs

    found = Jobs(folder).list()
    if json:
        show_json([job.describe() for job in found])
    else:
        show("\n".join(_line(job) for job in found) or "There are no jobs here")
    return 0


@jobs.command(name="show")
def show_(number: str, folder: Path = HERE, /, *, wait: bool = False, json: bool = False) -> int:
    """Tell how a job gets on.

    Parameters
    ----------
    number
        The number of the job.
    folder
        The folder of the jobs.
    wait
        Wait until it has ended.
    json
        Print the job as JSON to standard output.
    """
    from discreet.jobs.queue import Jobs

    queue = Jobs(folder)
    job = queue.get(number)
    if wait:
        queue.wait(job)
    about: dict[str, Any] = job.describe()
    if json:
        show_json(about)
        return 0
    progress = about["progress"]
    lines = [_line(job), f"Command     discreet {' '.join(about['command'])}"]
    if about["message"]:
        lines.append(f"Message     {about['message']}")
    if progress.get("steps"):
        loss = f"cost {progress['cost']:.6g}" + (
            f", at least {progress['bound']:.6g}" if progress.get("bound") is not None else ""
        )
        lines.append(f"Search      {count(progress['steps'], 'step')} in {progress['seconds']:.0f} s, {loss}")
    lines += [f"Written     {file}" for file in about["result"].get("files", [])]
    show("\n".join(lines))
    return 0


@jobs.command
def stop(number: str, folder: Path = HERE, /, *, json: bool = False) -> int:
    """Stop a job: its search ends, and the best that it has found is verified and written.

    Parameters
    ----------
    number
        The number of the job.
    folder
        The folder of the jobs.
    json
        Print the job as JSON to standard output.
    """
    from discreet.jobs.queue import Jobs

    job = Jobs(folder).stop(number)
    return _tell(job, json, f"Job {job.id} was asked to stop")


@jobs.command
def resume(number: str | None = None, folder: Path = HERE, /, *, json: bool = False) -> int:
    """Let a job go on from its checkpoint, or the whole queue after a crash of the machine.

    Parameters
    ----------
    number
        The number of a job that was stopped or failed; of none, those whose process was killed go on.
    folder
        The folder of the jobs.
    json
        Print the jobs as JSON to standard output.
    """
    from discreet.jobs.queue import Jobs

    queue = Jobs(folder if number is None or number.isdigit() else Path(number))
    if number is not None and number.isdigit():
        job = queue.resume(number)
        return _tell(job, json, f"Job {job.id} goes on")
    queue.tend()
    return list_(queue.folder, json=json)


@jobs.command
def remove(number: str, folder: Path = HERE, /, *, json: bool = False) -> int:
    """Forget a job and its checkpoint; the files that it has written stay.

    Parameters
    ----------
    number
        The number of the job.
    folder
        The folder of the jobs.
    json
        Print the number as JSON to standard output.
    """
    from discreet.jobs.queue import Jobs

    Jobs(folder).remove(number)
    show_json({"removed": number}) if json else tell(f"Job {number} is forgotten")
    return 0


def _tell(job: Job, json: bool, words: str) -> int:
    show_json(job.describe()) if json else tell(words)
    return 0


def _line(job: Job) -> str:
    state, progress = job.state(), job.progress()
    how = state.state
    if how == "running":
        how = f"running: {progress.get('stage', 'starting')} {100 * progress.get('fraction', 0.0):.0f} %"
    elif state.code:
        how = f"failed ({state.code})"
    title = job.request().get("title") or " ".join(job.command[:2])
    return f"{job.id}  {how:<24}  {title}"
