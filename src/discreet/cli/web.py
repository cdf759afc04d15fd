"""`discreet app`: the web app on a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from discreet.errors import InputError


def app(
    folder: Path = Path(), /, *, port: int = 0, browser: Annotated[bool, Parameter(negative="--no-browser")] = True
) -> int:
    """Open the web app on a folder: from a file to a signed-off release, without a line typed.

    It listens on this machine only, behind a link that works once. Needs the extra `web`.

    Parameters
    ----------
    folder
        The folder whose files are protected; nothing outside it is read or written.
    port
        The port to listen on; any that is free by default.
    browser
        Open the link in a browser, too; it is printed in any case.
    """
    try:
        from discreet.web.app import serve
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("discreet"):
            raise
        raise InputError("the web app needs the extra `web`: pip install 'discreet[web]'") from None

    serve(folder, port=port, browser=browser)
    return 0
