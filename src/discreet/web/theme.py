"""How pages look: one frame, one set of colours and spaces, light and dark, from a wall to a phone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from nicegui import ui

from discreet.jobs.history import History
from discreet.web.folder import Folder

INK, TEAL, AMBER, RED, GREEN = "#1f2937", "#00796b", "#b45309", "#b91c1c", "#15803d"
CSS = Path(__file__).with_name("style.css").read_text(encoding="utf-8")
# Of charts, to be read on light and dark paper alike.
AXIS = {
    "axisLabel": {"color": "#808890"},
    "nameTextStyle": {"color": "#808890"},
    "axisLine": {"lineStyle": {"color": "#80889080"}},
    "splitLine": {"lineStyle": {"color": "#80889030"}},
}
STATES = {"done": "good", "stopped": "warn", "failed": "bad", "running": "busy", "queued": "", "unsigned": "warn"}


@contextmanager
def page(folder: Folder, title: str, here: str = "") -> Iterator[None]:
    """The frame of a page: the bar above it, and one column of panels."""
    ui.add_css(CSS)
    ui.page_title(f"{title} – discreet")
    ui.colors(primary=TEAL, secondary=INK, positive=GREEN, negative=RED, warning=AMBER)
    dark = ui.dark_mode(folder.dark)

    def turn() -> None:
        folder.dark = not folder.dark
        dark.set_value(folder.dark)

    with ui.element("nav").classes("bar"):
        ui.link("discreet", "/").classes("name")
        ui.label(folder.path.name).classes("where").tooltip(str(folder.path))
        ui.element("div").classes("room")
        for word, target in (("Files", "/"), ("Jobs", "/jobs"), ("Review", "/review")):
            link(word, target, "go here" if target == here else "go")
        ui.button(icon="contrast", on_click=turn).props('flat round dense aria-label="Light or dark"').mark("dark")
    with ui.element("main").classes("page"):
        yield


def link(words: str, target: str, classes: str = "filelink", *, new_tab: bool = False) -> ui.link:
    """A link whose words are text, whatever a file is called."""
    return ui.link(words, target, new_tab=new_tab).classes(classes)


def heading(words: str, level: int = 1) -> None:
    """A heading."""
    with ui.element(f"h{level}"):
        ui.label(words)


def pill(words: str, kind: str = "") -> None:
    """A word on the state of something."""
    ui.label(words).classes(f"pill {kind}")


def note(words: str, kind: str = "") -> ui.label:
    """A sentence that matters."""
    return ui.label(words).classes(f"note {kind}").props('role="status"')


def lead(words: str) -> None:
    """What a page is for, in a sentence."""
    ui.label(words).classes("lead")


@contextmanager
def panel(title: str = "") -> Iterator[None]:
    """A panel with a heading."""
    with ui.element("section").classes("panel"):
        if title:
            heading(title, 2)
        yield


def grid(header: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> None:
    """A table of texts; columns of numbers to the right."""
    with ui.element("div").classes("scroll"), ui.element("table").classes("plain"):
        with ui.element("thead"), ui.element("tr"):
            for place, word in enumerate(header):
                with ui.element("th").classes("right" if place in right else ""):
                    ui.label(word)
        with ui.element("tbody"):
            for row in rows:
                with ui.element("tr"):
                    for place, word in enumerate(row):
                        with ui.element("td").classes("right" if place in right else ""):
                            ui.label(word)


def entries(pairs: Sequence[tuple[str, str]]) -> None:
    """Sentences with their titles; what to beware of stands out."""
    for title, words in pairs:
        if title == "Beware":
            note(f"Beware: {words}", "warn")
    rest = [pair for pair in pairs if pair[0] != "Beware"]
    if rest:
        with ui.element("div").classes("legend"):
            for place, (title, words) in enumerate(rest):
                with ui.element("b"):
                    ui.label("" if place and rest[place - 1][0] == title else title)
                ui.label(words)


def bars(shares: dict[str, float], *, most: float = 100.0) -> None:
    """Percentages as bars, each with its name and number."""
    with ui.element("div").classes("bars"):
        for name, share in shares.items():
            ui.label(name).classes("label")
            with ui.element("div").classes("track"):
                ui.element("div").classes("fill").style(f"width:{min(100.0, 100.0 * share / most):.1f}%")
            ui.label(f"{share:.1f} %").classes("soft num")


def primary(words: str, act: Callable[[], object], mark: str) -> ui.button:
    """The button that leads on."""
    return ui.button(words, on_click=act).props("unelevated color=primary").mark(mark)


def secondary(words: str, act: Callable[[], object], mark: str) -> ui.button:
    """Any other button."""
    return ui.button(words, on_click=act).props("outline color=primary").mark(mark)


def dim(words: str) -> ui.label:
    """Something said in passing."""
    return ui.label(words).classes("soft")


def code(text: str) -> None:
    """A text to be copied as it is."""
    ui.label(text).classes("code").props("tabindex=0")


def title_bar(title: str, history: History, again: Callable[[], object]) -> None:
    """What is worked on, and the button that takes the last choice back."""

    def undo() -> None:
        if history.can_undo:
            history.undo()
            again()
        else:
            ui.notify("There is nothing to undo")

    with ui.element("div").classes("row-of").style("width:100%"):
        heading(title)
        ui.element("div").style("flex:1")
        ui.button("Undo", icon="undo", on_click=undo).props("flat dense color=primary").mark("undo")


def steps(place: str, words: dict[str, str], is_open: dict[str, bool], here: str) -> None:
    """The steps of a way; those that can be gone to are links."""
    with ui.element("nav").classes("steps").props('aria-label="Steps"'):
        for number, (step, word) in enumerate(words.items(), 1):
            mark = ui.link(target=f"{place}/{step}") if is_open[step] else ui.element("span")
            with mark.classes(("here" if step == here else "") if is_open[step] else "off"):
                ui.label(str(number)).classes("dot")
                ui.label(word).classes("word")


@contextmanager
def follows(words: str = "Looking at the file …") -> Iterator[ui.element]:
    """Where what must be counted first will stand; the page itself is there at once."""
    with ui.element("div").classes("row-of soft") as waiting:
        ui.spinner(size="sm")
        ui.label(words)
    content = ui.element("div").classes("content")
    try:
        yield content
    except Exception:
        # Its words could quote data; whoever sets DISCREET_DEBUG sees them in the terminal.
        with content:
            note("This page could not be shown, by a fault of ours. Reload it, or go on with the commands.", "bad")
        raise
    finally:
        waiting.delete()
