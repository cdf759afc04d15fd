"""Which files this process has put in place, so that nobody is told "nothing was written" where something was."""

from pathlib import Path

PLACED: list[Path] = []


def tell_placed(since: int = 0) -> str:
    """What was written since there were so many entries, as the end of a sentence."""
    files = ", ".join(str(path) for path in PLACED[since:])
    return f"written before that: {files}" if files else "nothing was written"
