"""Text laid out for people: a title in the margin and wrapped lines beside it. Progress that nobody listens to."""

import textwrap

WIDTH = 100
MARGIN = 12


def entry(title: str, text: str) -> list[str]:
    """Lines of a text beside its title."""
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=f"{title:<{MARGIN}}",
        subsequent_indent=" " * MARGIN,
        break_long_words=False,
        break_on_hyphens=False,
    )


def duration(seconds: float) -> str:
    """Seconds in words."""
    if seconds < 90:
        return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def silent(*_progress: object) -> None:
    """Take no notice of progress: the default wherever a stage and a fraction, or a fraction alone, are told."""
