"""`discreet app`: the server, its link and its lock."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import secrets
import socket
import sys
import tempfile
import webbrowser
from pathlib import Path

import uvicorn
from fastapi import FastAPI
from fastapi.responses import HTMLResponse
from nicegui import app as nicegui_app
from nicegui import ui

from discreet.errors import InputError
from discreet.jobs.job import lock
from discreet.web import home, microdata, review, tables, theme
from discreet.web.folder import Folder
from discreet.web.guard import MOST_BYTES, SHOW_KEY, Guard

# Seconds between two looks at the queue.
PAUSE = 1.0


def serve(path: Path, *, port: int = 0, browser: bool = True) -> None:
    """Serve the app for a folder until somebody ends it.

    Parameters
    ----------
    path : Path
        The folder.
    port : int
        The port; 0 for any that is free.
    browser : bool
        Whether to open a browser, too.
    """
    folder = Folder(path)
    # Whoever reviews what another user has made, in whose hidden folder nothing can be kept, is not alone anyway.
    hidden = folder.jobs.path.parent
    if folder.jobs.is_ours:
        hidden.mkdir(mode=0o700, exist_ok=True)
    if folder.jobs.is_ours and lock(hidden / "steward.lock") is None:
        raise InputError(f"{path}: the app is open on this folder already; use it there, or end it first")
    address, name = choose_place()
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((address, port))
            listening.listen()  # whoever opens the link at once waits for the first page
        except OSError as error:
            raise InputError(f"port {port} cannot be used ({os.strerror(error.errno or 0)}); choose another") from None
        guard = Guard(make(folder), f"{name}:{listening.getsockname()[1]}")
        print(f"Open this link, once:  {guard.link}\nCtrl-C ends the app; jobs go on.", flush=True)
        opened = _open(guard.make_file_link()) if browser else None
        # Exceptions of pages could quote data, and an access log would hold the token.
        if not os.environ.get("DISCREET_DEBUG"):
            logging.disable(logging.CRITICAL)
        config = uvicorn.Config(
            guard,
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            ws_max_size=MOST_BYTES,
            timeout_graceful_shutdown=1,
        )
        # What is loaded stays: looking for garbage among it would make pages wait.
        gc.collect()
        gc.freeze()
        try:
            uvicorn.Server(config).run(sockets=[listening])
        except KeyboardInterrupt:
            pass  # how the app is ended
        finally:
            if opened is not None:
                opened.unlink(missing_ok=True)


def choose_place(platform: str = sys.platform) -> tuple[str, str]:
    """The address that this sitting listens on, of this machine alone, and a name that no other server has.

    A browser sends a cookie to every port of the name that it came from, so nobody else's pages are on ours. Linux has
    all of 127.0.0.0/8; other systems have one address, but browsers know all names under `localhost`.
    """
    if platform == "linux":
        address = f"127.{1 + secrets.randbelow(254)}.{secrets.randbelow(256)}.{1 + secrets.randbelow(254)}"
        return address, address
    return "127.0.0.1", f"{secrets.token_hex(16)}.localhost"


def make(folder: Folder) -> FastAPI:
    """The application behind the guard."""
    behind = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)

    @behind.get("/report/{name}")
    def report(name: str) -> HTMLResponse:
        if not name.endswith((".report.html", ".internal.html")):
            return HTMLResponse("", status_code=404)
        try:
            return HTMLResponse(folder.file(name).read_bytes())
        except InputError:
            return HTMLResponse("", status_code=404)

    home.add_pages(folder)
    microdata.add_pages(folder)
    tables.add_pages(folder)
    review.add_pages(folder)

    nicegui_app.on_page_exception(_apologise)

    async def tend() -> None:
        while True:
            await asyncio.to_thread(folder.jobs.tend)
            await asyncio.sleep(PAUSE)

    tasks: list[asyncio.Task[None]] = []
    nicegui_app.on_startup(lambda: tasks.append(asyncio.create_task(tend())))
    ui.add_head_html(f"<script>{SHOW_KEY}</script>", shared=True)
    nicegui_app.config.socket_io_js_transports = ["websocket"]  # what else there is shows no key
    ui.run_with(behind, title="discreet", dark=None, tailwind=False, show_welcome_message=False, reconnect_timeout=30)
    return behind


def _apologise() -> None:
    """What is shown in place of a page that failed: the words of an exception could quote data."""
    theme.note("This page could not be shown, by a fault of ours. Reload it, or go on with the commands.", "bad")


def _open(link: str) -> Path:
    """Open a browser by way of a file that only its owner can read: the process list would show a link to all."""
    handle, name = tempfile.mkstemp(prefix="discreet-", suffix=".html")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(f'<!doctype html><meta http-equiv="refresh" content="0;url={link}"><title>discreet</title>')
    webbrowser.open(Path(name).as_uri())
    return Path(name)
