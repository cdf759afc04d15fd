"""Text laid out for people: a title in the margin and wrapped lines beside it."""

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
