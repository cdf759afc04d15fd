"""Write the manual's page on the commands from their docstrings: `python tools/commands.py`."""

import re
from pathlib import Path

from discreet.cli.app import app
from wrap import wrap

PAGE = Path(__file__).resolve().parents[1] / "docs" / "commands.md"


def page() -> str:
    """The page, from the same docstrings as `--help`."""
    text = app.generate_docs(output_format="markdown")
    # Run as `python -m something`, the usage lines would say so.
    text = re.sub(r" -m [\w.]+", "", text)
    # Usage lines are no examples to be run.
    return wrap(text.replace("```console\n", "```text\n").replace("# discreet\n", "# Commands\n", 1))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
