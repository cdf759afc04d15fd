"""The cells of a table as a grid: coloured by status, hierarchies to open and close, slices beyond two dimensions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from nicegui import run, ui
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.tabular.dimension import Dimension
from discreet.tabular.table import Table
from discreet.verification.cell import CellAccount, describe_cell, explain_cell
from discreet.web import theme

# What stands for a suppressed value in public.
MARK = "x"
INDENT = "\u2003"
# Enter on a cell is as good as a click on it.
ON_KEY = """(event) => { const cell = event.target.closest('.ag-cell'); if (cell) emit({
    rowIndex: cell.closest('.ag-row').getAttribute('row-index'), colId: cell.getAttribute('col-id')}) }"""


class Grid:
    """A table on a page, or side by side as it is and as the public will see it; `draw` shows it.

    Parameters
    ----------
    table : Table
        The table.
    faces : mapping of str to bool
        The heading of each grid, and whether it is what the public will see.
    marks : mapping of str to str
        What the steward said of cells, by number.
    chosen : callable, optional
        Told the number of a cell that somebody chooses.
    """

    def __init__(
        self,
        table: Table,
        *,
        faces: Mapping[str, bool] | None = None,
        marks: Mapping[str, str] | None = None,
        chosen: Callable[[int], Any] | None = None,
    ) -> None:
        self.table, self.chosen = table, chosen
        self.marked = {int(cell) for cell in marks or {}}
        self.faces = {"": False} if faces is None else dict(faces)
        self.axes = list(range(len(table.dimensions)))  # rows, columns, then those that are sliced
        self.slices = [_outline(one)[0][0] for one in table.dimensions]
        self.closed: dict[int, set[int]] = {axis: set() for axis in self.axes}
        self._texts = _say_values(table)
        self._cells: NDArray[np.int64] = np.empty((0, 0), np.int64)
        self._shown: list[tuple[int, int]] = []
        self.choosers = ui.element("div").classes("row-of")
        self._choose_axes()
        self.grids = []
        with ui.element("div").classes("grid-of"):
            for title in self.faces:
                with theme.panel(title) if title else ui.element("div").style("min-width:0"):
                    grid = ui.aggrid({"columnDefs": [], "rowData": []})
                grid.on("cellClicked", self._click, args=["rowIndex", "colId"])
                grid.on("keydown.enter", self._click, js_handler=ON_KEY)
                self.grids.append(grid)

    def _choose_axes(self) -> None:
        """Which dimension goes down, which across, and which code of each other one is shown."""
        self.choosers.clear()
        names = {axis: self.table.dimensions[axis].name for axis in self.axes}
        with self.choosers:
            for place, label in enumerate(("Down", "Across") if len(self.axes) > 1 else ()):
                _chooser(names, self.axes[place], label, partial(self._turn, place))
            for axis in self.axes[2:]:
                dimension = self.table.dimensions[axis]
                codes = {place: INDENT * depth + dimension.codes[place] for place, depth in _outline(dimension)}
                _chooser(codes, self.slices[axis], names[axis], partial(self._cut, axis))

    async def _turn(self, place: int, event: Any) -> None:
        other = self.axes.index(event.value)
        self.axes[place], self.axes[other] = self.axes[other], self.axes[place]
        self._choose_axes()
        await self.draw()

    async def _cut(self, axis: int, event: Any) -> None:
        self.slices[axis] = event.value
        await self.draw()

    async def draw(self) -> None:
        """Show the table as it is now; what is shown is worked out beside the server's other work."""
        found = await run.io_bound(self._lay_out)
        for grid, options in zip(self.grids, found or [], strict=False):
            grid.options.update(options)
            grid.update()

    def _lay_out(self) -> list[dict[str, Any]]:
        """What each grid shows."""
        table = self.table
        if not self.axes:  # numbered cells, with relations but no dimensions
            self._shown = [(cell, 0) for cell in range(len(table))]
            self._cells = np.arange(len(table))[:, None]
            names, heads, title = [f"cell {cell}" for cell in range(len(table))], ["value"], "cell"
        else:
            rows = table.dimensions[self.axes[0]]
            self._shown = _outline(rows, self.closed[self.axes[0]])
            across = _outline(table.dimensions[self.axes[1]]) if len(self.axes) > 1 else [(0, 0)]
            self._cells = self._find([place for place, _ in self._shown], [place for place, _ in across])
            signs = dict.fromkeys(rows.parents[0].tolist(), "▾ ")
            signs |= dict.fromkeys(self.closed[self.axes[0]], "▸ ")
            names = [f"{INDENT * depth}{signs.get(place, '')}{rows.codes[place]}" for place, depth in self._shown]
            heads, title = [table.response or "count"], rows.name
            if len(self.axes) > 1:
                heads = [table.dimensions[self.axes[1]].codes[place] for place, _ in across]
        return [
            {**_columns(title, heads), "rowData": self._fill(names, public=public)} for public in self.faces.values()
        ]

    def _find(self, down: list[int], across: list[int]) -> NDArray[np.int64]:
        """The cells of the slice, by row and column; −1 where there is none."""
        strides = self.table.places.strides
        key = int(sum(self.slices[axis] * int(strides[axis]) for axis in self.axes[2:]))
        keys = key + np.array(down)[:, None] * strides[self.axes[0]]
        if len(self.axes) > 1:
            keys = keys + np.array(across)[None, :] * strides[self.axes[1]]
        return self.table.places.find(keys.ravel()).reshape(keys.shape)

    def _fill(self, names: list[str], *, public: bool) -> list[dict[str, Any]]:
        """The rows: texts, colours of those that have one, and marks."""
        table, texts = self.table, self._texts
        hidden = set(np.flatnonzero(table.suppressed).tolist()) if public else set()
        status = {} if public else {int(cell): str(table.status[cell]) for cell in np.flatnonzero(table.status)}
        data = []
        for name, cells in zip(names, self._cells.tolist(), strict=True):
            line: dict[str, Any] = {"code": name, "s": {}, "m": {}}
            for at, cell in enumerate(cells):
                if cell < 0:
                    continue
                line[f"c{at}"] = MARK if cell in hidden else texts[cell]
                if cell in hidden:
                    line["s"][f"c{at}"] = "x"
                elif cell in status:
                    line["s"][f"c{at}"] = status[cell]
                if cell in self.marked:
                    line["m"][f"c{at}"] = True
            data.append(line)
        return data

    async def _click(self, event: Any) -> None:
        row, field = int(event.args["rowIndex"]), str(event.args["colId"])
        if field == "code" and self.axes:
            place = self._shown[row][0]
            self.closed[self.axes[0]] ^= {place} & set(self.table.dimensions[self.axes[0]].parents[0].tolist())
            await self.draw()
        elif field != "code" and self.chosen is not None:
            cell = int(self._cells[row, int(field.removeprefix("c"))])
            if cell >= 0:
                await self.chosen(cell)


def _chooser(names: Mapping[int, str], value: int, label: str, choose: Callable[[Any], Any]) -> None:
    chooser = ui.select(dict(names), value=value, label=label, on_change=choose)
    chooser.props("outlined dense options-dense").style("min-width:180px")


def _columns(title: str, heads: list[str]) -> dict[str, Any]:
    """How the columns of a grid look."""
    right = {"type": "rightAligned", "sortable": False, "resizable": True, "minWidth": 100}
    classes = {f"st-{kind}": f"(data.s || {{}})[colDef.field] == '{kind}'" for kind in ("1", "2", "3", "x")}
    classes["st-m"] = "(data.m || {})[colDef.field]"
    first = {"headerName": title, "field": "code", "pinned": "left", "minWidth": 150, "sortable": False}
    rest = [
        {**right, "headerName": name, "field": f"c{at}", "cellClassRules": classes} for at, name in enumerate(heads)
    ]
    return {"columnDefs": [first, *rest], "suppressFieldDotNotation": True, "rowHeight": 34}


def _say_values(table: Table) -> list[str]:
    """The values of all cells as they are written."""
    digits = table.decimals if table.decimals is not None else 2
    return ["" if value != value else f"{value:,.{digits}f}" for value in table.value.tolist()]


def show_key() -> None:
    """What the colours mean."""
    with ui.element("div").classes("row-of soft"):
        for kind, words in (("1", "unsafe"), ("2", "suppressed to protect others"), ("3", "empty or fixed")):
            ui.label(words).classes(f"key st-{kind}")
        ui.label("Click on a code to open or close it, on a cell to see more; or use the arrow keys and Enter.")


async def show_cell(table: Table, cell: int) -> None:
    """All that is known of a cell: what it is at once, what an attacker can work out when that is found. Internal."""
    known = describe_cell(table, cell)
    theme.heading(known.name, 2)
    place = ui.element("div").style("width:100%")
    is_hidden = bool(table.suppressed[cell])
    with place:
        theme.grid(("", ""), _describe(known, ["…", "…"] if is_hidden else []))
    if not is_hidden:
        return
    try:
        account = await run.io_bound(explain_cell, table, cell)
    except DiscreetError as error:
        account, refused = None, str(error)
    else:
        refused = "not found out"
    if place.is_deleted:
        return  # nobody waits for it any more
    place.clear()
    with place:
        if account is None:
            theme.grid(("", ""), _describe(known, [refused, refused]))
        else:
            assert account.feasible is not None
            theme.grid(("", ""), _describe(account, [_span(*account.feasible), account.describe_protected()]))


def _describe(known: CellAccount, attacked: list[str]) -> list[list[str]]:
    rows = [["value", "" if known.value is None else f"{known.value:,.10g}"]]
    rows += [] if known.contributors is None else [["contributors", f"{known.contributors:,.10g}"]]
    rows.append(["status", known.status])
    rows += [["found by", ", ".join(known.rules)]] if known.rules else []
    rows += [["must be possible", _span(*known.required)]] if known.required else []
    rows += [["over a range of", f"{known.required_width:,.10g}"]] if known.required_width else []
    return rows + [list(pair) for pair in zip(("attacker's interval", "protects"), attacked, strict=False)]


def _span(low: float, high: float) -> str:
    return f"{low:,.10g} to {high:,.10g}"


def _outline(dimension: Dimension, closed: set[int] | None = None) -> list[tuple[int, int]]:
    """The codes of a dimension, each after the one above it, with their depths; none within a closed one."""
    below: dict[int, list[int]] = {}
    for place, above in enumerate(dimension.parents[0].tolist()):
        below.setdefault(above, []).append(place)
    found: list[tuple[int, int]] = []
    waiting = [(place, 0) for place in reversed(below.get(-1, []))]
    while waiting:
        place, depth = waiting.pop()
        found.append((place, depth))
        if place not in (closed or ()):
            waiting += [(one, depth + 1) for one in reversed(below.get(place, []))]
    return found
