"""The guard before every request and every websocket: who may speak with the app, and what a page may do.

The server behind it answers any host and any origin; whatever it would say, nothing passes here but

- a `Host` that is the one name of this sitting with our port, so that no other name leads here (DNS rebinding): else
  421;
- an `Origin`, if one is sent, that is ours, and a `Sec-Fetch-Site` of `none` or `same-origin`: else 403;
- a sitting: the token of the printed link is exchanged once for a cookie and a key, which end when nobody uses them:
  else 403; what a page says by itself, such as the pulse of its websocket, is no use;
- a body that a page of ours could send: else 413.

Cookies know no ports: a server at another port of the same name is sent ours. So the cookie alone opens nothing but the
program code of pages. The key is no cookie; the browser keeps it in the storage of our origin, which the port is a part
of. A page, whatever its address, is first an empty door: its script shows the key in a header and gets a pass, which
leads to the page once. A websocket shows the key itself, before anything is accepted from it or sent over it.

The link that we hand to the browser in a file of our own is the one exception: browsers call whatever a local file
leads to "cross-site". It has a token of its own, good for opening a page as a whole and for nothing else.

Nothing is logged: a log would hold the token.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import time
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, urlencode

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Refusal = tuple[int, str, str]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

# Seconds after which a sitting that nobody uses is over, and the largest body of a request.
SITTING, MOST_BYTES = 8 * 3600.0, 1_000_000
ENTRANCE, DOOR = "/enter", "/pass"
# Seconds that a pass is good for: it leads to its page at once.
HASTE = 30.0
# Where the program code of pages lives, which anybody may read who installs what we do.
CODE = ("/_nicegui/", "/favicon.ico")
# Where the websocket of a page lives, and how messages begin that a page sends though nobody does anything.
SOCKET, PULSE = "/_nicegui_ws/", ("3", '42["ack"')
# Under which name the browser keeps the key, and how it shows key and pass.
KEPT, KEY_HEADER, KEY, PASS = "discreet", "x-discreet-key", "key", "pass"
# What browsers say of a page that a local file opens; no other site can open one with our token, which it has not.
FROM_FILE = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
# NiceGUI compiles its templates in the browser ('unsafe-eval') and starts them from the page itself ('unsafe-inline').
POLICY = (
    "default-src 'none'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self' data:; connect-src 'self'; manifest-src 'self'; object-src 'none'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
# A report of ours needs no script at all.
REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; object-src 'none'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
# The cookie is strict, so the page that sets it leads on by itself: a redirect would still come from elsewhere.
WELCOME = """<!doctype html><html lang="en"><meta charset="utf-8"><meta name="color-scheme" content="light dark">
<title>discreet</title><noscript>The app needs JavaScript.</noscript><script nonce="{nonce}">
localStorage.setItem("{kept}", "{key}"); location.replace("/");</script>"""
OPEN_DOOR = f"""
addEventListener("load", async () => {{
    const shown = {{"{KEY_HEADER}": localStorage.getItem("{KEPT}") || ""}};
    const answer = await fetch("{DOOR}", {{method: "POST", headers: shown}}).catch(() => null);
    if (answer && answer.ok) {{
        const place = new URL(location.href);
        place.searchParams.set("{PASS}", await answer.text());
        location.replace(place);
    }} else {{
        document.getElementById("shut").hidden = false;
    }}
}});
"""
# The door runs this one script and asks nobody but us.
DOOR_POLICY = (
    f"{REPORT_POLICY}; connect-src 'self'; "
    f"script-src 'sha256-{base64.b64encode(hashlib.sha256(OPEN_DOOR.encode()).digest()).decode()}'"
)
EMPTY_DOOR = f"""<!doctype html><html lang="en"><meta charset="utf-8"><meta name="color-scheme" content="light dark">
<title>discreet</title><noscript>The app needs JavaScript.</noscript>
<body style="font:16px/1.5 system-ui;max-width:34rem;margin:15vh auto;padding:0 1rem"><div id="shut" hidden><h1>Not this
browser</h1><p>The sitting was opened in another browser, or in another profile or private window of this one. Go on
there, or start the app again and open its link here.</div><script>{OPEN_DOOR}</script>"""
# Begins each page: its websocket shows the key, and the pass, which is spent, leaves the address.
SHOW_KEY = f"""
window.WebSocket = class extends WebSocket {{
    constructor(url) {{
        const place = new URL(url);
        place.searchParams.set("{KEY}", localStorage.getItem("{KEPT}") || "");
        super(place);
    }}
}};
{{
    const place = new URL(location.href);
    place.searchParams.delete("{PASS}");
    history.replaceState(history.state, "", place);
}}
"""
SORRY = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>discreet</title>'
    '<body style="font:16px/1.5 system-ui;max-width:34rem;margin:15vh auto;padding:0 1rem"><h1>{title}</h1><p>{words}'
)


class Guard:
    """The app behind its guard.

    Parameters
    ----------
    app : callable
        The ASGI application.
    host : str
        The name of this sitting and the port, as in the address of its pages.
    report_path : str
        Paths that begin so are reports: pages without scripts.
    clock : callable
        Tells the seconds.

    Attributes
    ----------
    token : str
        What the printed link holds, until somebody has used a link.
    file_token : str
        What the link in our file holds, if there is one, until then.
    """

    def __init__(
        self, app: App, host: str, *, report_path: str = "/report/", clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.app = app
        self.token, self.file_token = secrets.token_urlsafe(32), ""
        name, _, port = host.rpartition(":")
        self.cookie = f"discreet-{port}"
        self.host = host if port != "80" else name
        self._report_path = report_path
        self._clock = clock
        self._cookie_value = self._key = ""
        self._passes: dict[str, float] = {}
        self._used = 0.0

    @property
    def link(self) -> str:
        """The link that opens the app, once."""
        return f"http://{self.host}{ENTRANCE}?token={self.token}"

    def make_file_link(self) -> str:
        """A link for a file that leads the browser here; whichever of the links is used first, the other is void."""
        self.file_token = secrets.token_urlsafe(32)
        return f"http://{self.host}{ENTRANCE}?token={self.file_token}"

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Let a request through, or not."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        headers: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
        entering = scope["type"] == "http" and scope["path"] == ENTRANCE
        refusal = self._judge_entry(scope, headers) if entering else self._judge(scope, headers)
        if refusal is not None:
            await _refuse(scope, receive, send, *refusal)
        elif entering:
            await self._enter(send)
        elif scope["type"] == "websocket":
            await self.app(scope, self._listen(receive, send), send)
        elif scope["path"] == DOOR:
            await _send(send, 200, self._make_pass().encode(), REPORT_POLICY)
        elif scope["path"].startswith((SOCKET, *CODE)):
            await self._pass(scope, headers, receive, send)
        elif self._take_pass(scope):
            self._used = self._clock()
            await self._pass(scope, headers, receive, send)
        else:
            await _send(send, 200, EMPTY_DOOR.encode(), DOOR_POLICY)

    def _make_pass(self) -> str:
        """A pass, which opens one page, once and soon."""
        now = self._clock()
        self._passes = {known: made for known, made in self._passes.items() if now - made <= HASTE}
        made = secrets.token_urlsafe(32)
        self._passes[made] = now
        return made

    def _take_pass(self, scope: MutableMapping[str, Any]) -> bool:
        """Whether a request has a pass, which is spent with it; the app does not see it."""
        asked = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        made = [self._passes.pop(value, None) for name, value in asked if name == PASS]
        scope["query_string"] = urlencode([one for one in asked if one[0] != PASS]).encode()
        return any(one is not None and self._clock() - one <= HASTE for one in made)

    def _listen(self, receive: Receive, send: Send) -> Receive:
        """What a websocket says, for as long as the sitting lasts; the pulse of a page does not make it last."""

        async def receive_while_sitting() -> Message:
            message = await receive()
            if message["type"] != "websocket.receive":
                return message
            if self._is_over():
                await send({"type": "websocket.close", "code": 1008})
                return {"type": "websocket.disconnect", "code": 1008}
            if not (message.get("text") or "").startswith(PULSE):
                self._used = self._clock()
            return message

        return receive_while_sitting

    def _is_host_ours(self, headers: dict[str, list[str]]) -> bool:
        return len(headers.get("host", [])) == 1 and headers["host"][0].lower() == self.host

    def _judge(self, scope: MutableMapping[str, Any], headers: dict[str, list[str]]) -> Refusal | None:
        """Why a request is refused; None if it is not."""
        refusal = self._judge_sender(headers)
        if refusal is not None:
            return refusal
        if not self._is_known(headers):
            return 403, "No sitting", "The sitting is over, or it never began. Start the app again and open its link."
        if scope["type"] == "websocket" or scope["path"].startswith(SOCKET):
            shown = dict(parse_qsl(scope.get("query_string", b"").decode("latin-1"))).get(KEY, "")
        elif scope["path"] == DOOR:
            shown = headers.get(KEY_HEADER, [""])[0] if scope["method"] == "POST" else ""
        elif scope["path"].startswith(CODE) or scope["method"] == "GET":
            return None  # without a pass an empty door
        else:
            shown = ""
        if not hmac.compare_digest(shown.encode(), self._key.encode()):
            return 403, "No key", "This browser does not hold the key of the sitting. Start the app again."
        return None

    def _judge_entry(self, scope: MutableMapping[str, Any], headers: dict[str, list[str]]) -> Refusal | None:
        """Why the door stays shut; None if it opens, once."""
        given = dict(parse_qsl(scope["query_string"].decode("latin-1"))).get("token", "").encode()
        by_file = bool(self.file_token) and hmac.compare_digest(given, self.file_token.encode())
        if by_file and all(headers.get(name, [value]) == [value] for name, value in FROM_FILE.items()):
            headers = {**headers, "sec-fetch-site": ["none"]}
        refusal = self._judge_sender(headers)
        if refusal is not None:
            return refusal
        right = bool(self.token) and hmac.compare_digest(given, self.token.encode())
        if scope["method"] != "GET" or not (right or by_file):
            return 403, "Not this link", "The link was used already, or is another one. Start the app again."
        return None

    def _judge_sender(self, headers: dict[str, list[str]]) -> Refusal | None:
        """Why whoever sent a request is not heard; None if he is."""
        if not self._is_host_ours(headers):
            return 421, "Not here", "This address is not the one the app listens on. Use the link it printed."
        if any(origin.lower() != f"http://{self.host}" for origin in headers.get("origin", [])):
            return 403, "Not from there", "Another site asked for this page; the app answers its own pages only."
        if any(site not in ("none", "same-origin") for site in headers.get("sec-fetch-site", [])):
            return (
                403,
                "Not from there",
                "Another site led here; copy the link that the app printed to the address bar.",
            )
        return None

    def _is_over(self) -> bool:
        """Whether there is no sitting; one that nobody used for long is none, and stays none."""
        if self._key and self._clock() - self._used > SITTING:
            self._cookie_value = self._key = ""
        return not self._key

    def _is_known(self, headers: dict[str, list[str]]) -> bool:
        if self._is_over():
            return False
        try:
            jar = SimpleCookie("; ".join(headers.get("cookie", [])))
        except CookieError:
            return False
        given = jar[self.cookie].value if self.cookie in jar else ""
        return hmac.compare_digest(given.encode(), self._cookie_value.encode())

    async def _enter(self, send: Send) -> None:
        """Exchange the token for a cookie and a key, once."""
        self.token = self.file_token = ""
        self._cookie_value, self._key = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        self._used = self._clock()
        cookie = f"{self.cookie}={self._cookie_value}; Path=/; HttpOnly; SameSite=Strict"
        nonce = secrets.token_urlsafe(16)
        policy = f"{REPORT_POLICY}; script-src 'nonce-{nonce}'"
        welcome = WELCOME.format(nonce=nonce, kept=KEPT, key=self._key)
        await _send(send, 200, welcome.encode(), policy, [(b"set-cookie", cookie.encode())])

    async def _pass(
        self, scope: MutableMapping[str, Any], headers: dict[str, list[str]], receive: Receive, send: Send
    ) -> None:
        """Let a request through: not more than a page of ours would send, and with our headers on the answer."""
        length = headers.get("content-length", ["0"])[0]
        if not length.isdigit() or int(length) > MOST_BYTES:
            await _answer(send, 413, "Too much", "No page of the app sends as much as this.")
            return
        seen, begun = 0, False
        # In a sandbox a page neither reloads as another one nor opens any.
        policy = f"{REPORT_POLICY}; sandbox" if scope["path"].startswith(self._report_path) else POLICY

        async def receive_some() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            return {"type": "http.disconnect"} if seen > MOST_BYTES else message

        async def send_guarded(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                kept = [(name, value) for name, value in message["headers"] if name.decode().lower() not in HEADERS]
                message["headers"] = [*kept, *_encode(HEADERS | {"content-security-policy": policy})]
            await send(message)

        try:
            await self.app(scope, receive_some, send_guarded)
        except Exception:
            if seen <= MOST_BYTES or begun:
                raise
            await _answer(send, 413, "Too much", "No page of the app sends as much as this.")


def _encode(headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode(), value.encode()) for name, value in headers.items()]


async def _refuse(
    scope: MutableMapping[str, Any], receive: Receive, send: Send, status: int, title: str, words: str
) -> None:
    if scope["type"] == "websocket":
        await receive()  # the wish to connect
        await send({"type": "websocket.close", "code": 1008})
    else:
        await _answer(send, status, title, words)


async def _answer(send: Send, status: int, title: str, words: str) -> None:
    await _send(send, status, SORRY.format(title=title, words=words).encode(), REPORT_POLICY)


async def _send(
    send: Send, status: int, body: bytes, policy: str, more: list[tuple[bytes, bytes]] | None = None
) -> None:
    headers = [
        (b"content-type", b"text/html; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
        *_encode(HEADERS | {"content-security-policy": policy}),
        *(more or []),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
