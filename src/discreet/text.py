"""Text for people, a title in the margin and wrapped lines beside it, as JSON or HTML; names may hold anything."""

import html
import json
import re
import textwrap

WIDTH = 100
MARGIN = 12

# What a terminal obeys instead of showing: control characters (but tab and line feed), marks that turn the direction
# of writing, separators that break lines, and halves of characters that no encoding has.
_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def count(number: int, noun: str, many: str = "") -> str:
    """A number and what it counts: "1 cell", "2,000 cells", "3 classes" (where `many` says so)."""
    return f"{number:,} {noun if number == 1 else many or noun + 's'}"


def printable(text: str) -> str:
    """A text that may hold names from a file, with whatever a terminal would obey written out, as \\x1b."""
    return _OBEYED.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def as_json(content: object, *, ascii_only: bool = False) -> str:
    """JSON that people can read too; what a terminal would obey is escaped, and all but ASCII if asked for."""
    text = json.dumps(content, indent=2, ensure_ascii=ascii_only, allow_nan=False)
    return _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def entry(title: str, text: str) -> list[str]:
    """Lines of a text beside its title."""
    return textwrap.wrap(
        printable(text),
        WIDTH,
        initial_indent=f"{title:<{MARGIN}}",
        subsequent_indent=" " * MARGIN,
        break_long_words=False,
        break_on_hyphens=False,
    )


def entries_of(summary: str) -> list[tuple[str, str]]:
    """The entries of a summary, each with its title; lines stay as they were broken."""
    found: list[tuple[str, str]] = []
    for line in filter(None, summary.splitlines()[1:]):
        title, text = line[:MARGIN].strip(), line[MARGIN:].strip()
        if title or not found:
            found.append((title, text))
        else:
            found[-1] = found[-1][0], f"{found[-1][1]}\n{text}"
    return found


def as_html(summary: str) -> str:
    """A summary, its title and its entries, as a table of HTML without a script: what notebooks show."""
    body = "".join(
        f'<tr><th scope="row" style="text-align:left;vertical-align:top">{html.escape(title)}</th>'
        f'<td style="text-align:left;white-space:pre-line">{html.escape(text)}</td></tr>'
        for title, text in entries_of(summary)
    )
    heading = html.escape(printable(summary.splitlines()[0]))
    caption = f'<caption style="caption-side:top;text-align:left">{heading}</caption>'
    return f'<table style="max-width:60em">{caption}<tbody>{body}</tbody></table>'


def write_figure(number: float) -> str:
    """A number for people: whole, or with two digits after the point."""
    return f"{number:,.0f}" if number == round(number) else f"{number:,.2f}"


def duration(seconds: float) -> str:
    """Seconds in words."""
    if seconds < 90:
        return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def silent(*_progress: object) -> None:
    """Take no notice of progress: the default wherever a stage and a fraction, or a fraction alone, are told."""
