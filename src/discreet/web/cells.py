"""The cells of a table as a grid: coloured by status, hierarchies to open and close, slices beyond two dimensions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from nicegui import ui

from discreet.tabular.dimension import Dimension
from discreet.tabular.table import Table
from discreet.web import theme

# What stands for a suppressed value in public.
MARK = "x"
INDENT = "\u2003"


class Grid:
    """A table on a page.

    Parameters
    ----------
    table : Table
        The table.
    public : bool
        Whether to show what the public will see.
    marks : mapping of str to str
        What the steward said of cells, by number.
    chosen : callable, optional
        Told the number of a cell that somebody clicks on.
    """

    def __init__(
        self,
        table: Table,
        *,
        public: bool = False,
        marks: Mapping[str, str] | None = None,
        chosen: Callable[[int], object] | None = None,
    ) -> None:
        self.table, self.public, self.marks, self.chosen = table, public, dict(marks or {}), chosen
        self.rows, self.columns, *rest = [*range(len(table.dimensions)), None][: max(2, len(table.dimensions))]
        self.slices = {axis: 0 for axis in rest if axis is not None}
        self.closed: set[int] = set()
        self._cells = {tuple(codes): cell for cell, codes in enumerate(table.codes.tolist())}
        if self.slices:
            with ui.element("div").classes("row-of"):
                for axis in self.slices:
                    self._choose_slice(axis)
        self.grid = ui.aggrid(self._options())
        self.grid.on("cellClicked", self._click, args=["rowIndex", "colId"])

    def _choose_slice(self, axis: int) -> None:
        dimension = self.table.dimensions[axis]
        names = {place: INDENT * depth + dimension.codes[place] for place, depth in _outline(dimension)}

        def choose(event: Any) -> None:
            self.slices[axis] = event.value
            self.draw()

        chooser = ui.select(names, value=0, label=dimension.name, on_change=choose)
        chooser.props("outlined dense options-dense").style("min-width:200px")

    def draw(self) -> None:
        """Show the table as it is now."""
        self.grid.options.update(self._options())
        self.grid.update()

    def _shown(self) -> list[tuple[int, int]]:
        """The rows that are not within a closed code, with their depths."""
        dimension = self.table.dimensions[self.rows]
        parents = dimension.parents[0]
        hidden: set[int] = set()
        shown = []
        for place, depth in _outline(dimension):
            above = int(parents[place])
            if above in self.closed or above in hidden:
                hidden.add(place)
            else:
                shown.append((place, depth))
        return shown

    def _options(self) -> dict[str, Any]:
        table = self.table
        rows = table.dimensions[self.rows]
        wide = [(0, 0)] if self.columns is None else _outline(table.dimensions[self.columns])
        branches = set(rows.parents[0].tolist())
        names = (
            [table.response or "count"]
            if self.columns is None
            else [table.dimensions[self.columns].codes[place] for place, _ in wide]
        )
        right = {"type": "rightAligned", "sortable": False, "resizable": True, "minWidth": 100}
        classes = {f"st-{kind}": f"(data.s || {{}})[colDef.field] == '{kind}'" for kind in ("1", "2", "3", "x")}
        classes["st-m"] = "(data.m || {})[colDef.field]"
        defs: list[dict[str, Any]] = [
            {"headerName": rows.name, "field": "code", "pinned": "left", "minWidth": 150, "sortable": False}
        ]
        defs += [
            {**right, "headerName": name, "field": f"c{at}", "cellClassRules": classes} for at, name in enumerate(names)
        ]
        data = []
        for place, depth in self._shown():
            sign = ("▸ " if place in self.closed else "▾ ") if place in branches else ""
            line: dict[str, Any] = {"code": f"{INDENT * depth}{sign}{rows.codes[place]}", "s": {}, "m": {}}
            for at, (column, _) in enumerate(wide):
                cell = self._at(place, column)
                if cell is not None:
                    line[f"c{at}"], kind = self._say(cell)
                    if kind:  # most cells have none, and a large table goes over the wire as a whole
                        line["s"][f"c{at}"] = kind
                    if str(cell) in self.marks:
                        line["m"][f"c{at}"] = True
            data.append(line)
        return {"columnDefs": defs, "rowData": data, "suppressFieldDotNotation": True, "rowHeight": 34}

    def _at(self, row: int, column: int) -> int | None:
        places = dict(self.slices) | {self.rows: row} | ({} if self.columns is None else {self.columns: column})
        return self._cells.get(tuple(places[axis] for axis in range(len(self.table.dimensions))))

    def _say(self, cell: int) -> tuple[str, str]:
        """What stands in a cell, and the colour of it."""
        if self.public and self.table.suppressed[cell]:
            return MARK, "x"
        status = int(self.table.status[cell])
        return say_value(self.table, cell), "" if self.public or not status else str(status)

    def _click(self, event: Any) -> None:
        row, _ = self._shown()[int(event.args["rowIndex"])]
        field = str(event.args["colId"])
        if field == "code":
            self.closed ^= {row}
            self.draw()
        elif self.chosen is not None:
            wide = [(0, 0)] if self.columns is None else _outline(self.table.dimensions[self.columns])
            cell = self._at(row, wide[int(field.removeprefix("c"))][0])
            if cell is not None:
                self.chosen(cell)


def say_value(table: Table, cell: int) -> str:
    """The value of a cell as it is written."""
    value = float(table.value[cell])
    return "" if np.isnan(value) else f"{value:,.{table.decimals if table.decimals is not None else 2}f}"


def show_key() -> None:
    """What the colours mean."""
    with ui.element("div").classes("row-of soft"):
        for kind, words in (("1", "unsafe"), ("2", "suppressed to protect others"), ("3", "empty or fixed")):
            ui.label(words).classes(f"key st-{kind}")
        ui.label("Click on a code to open or close it, on a cell to see more.")


def show_cell(table: Table, cell: int) -> None:
    """All that is known of a cell; internal."""
    theme.heading(table.name(cell), 2)
    rule = table.rule_words()[cell]
    rows = [["value", say_value(table, cell)]]
    if table.count is not None:
        rows.append(["contributors", f"{table.count[cell]:,.0f}"])
    rows.append(
        ["status", ("safe", "unsafe", "suppressed to protect others", "empty or fixed")[int(table.status[cell])]]
    )
    rows += [["found by", str(rule).replace("+", ", ")]] if rule else []
    if table.lpl[cell] or table.upl[cell]:
        low, high = table.value[cell] - table.lpl[cell], table.value[cell] + table.upl[cell]
        rows.append(["must be possible", f"{low:,.0f} to {high:,.0f}"])
    theme.grid(("", ""), rows)


def _outline(dimension: Dimension) -> list[tuple[int, int]]:
    """The codes of a dimension, each after the one above it, with their depths."""
    parents = dimension.parents[0]
    below: dict[int, list[int]] = {}
    for place, above in enumerate(parents.tolist()):
        below.setdefault(above, []).append(place)
    found: list[tuple[int, int]] = []
    waiting = [(place, 0) for place in reversed(below.get(-1, []))]
    while waiting:
        place, depth = waiting.pop()
        found.append((place, depth))
        waiting += [(one, depth + 1) for one in reversed(below.get(place, []))]
    return found
