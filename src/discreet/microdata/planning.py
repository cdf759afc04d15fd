"""What a protection would do: its roles and promise, whether it can be kept, and about how much memory and time."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from discreet.data.embedding import embed
from discreet.microdata.classes import blanks
from discreet.microdata.given import LABELS
from discreet.microdata.preparation import Prepared
from discreet.microdata.promises import check_possible, constraints_of
from discreet.microdata.protection import parameters, promise_of
from discreet.microdata.solving import choose
from discreet.recoding.coarsening import choose_levels, is_open
from discreet.release.summary import describe_columns, describe_notes
from discreet.text import count, duration, entry
from discreet.verification.promise import Promise

# What an import, the compiled kernels and a small file take, in bytes.
IDLE = 300_000_000
# How many times the data stands in memory at most: as read, as released and as written; and as points of the search.
COPIES, POINT_COPIES = 3, 18


@dataclass(frozen=True, eq=False)
class Plan:
    """A protection that was not made.

    Parameters
    ----------
    name : str
        The file, or "the frame".
    records : int
        Number of records.
    promise : Promise
        What the release would keep to.
    parameters : dict
        Everything that was asked for, with the defaults that filled the gaps.
    classes, smallest_class : int
        Classes of records that would be protected apart, and the records of the smallest.
    groups : int
        At most so many groups of records, in all groups of quasi-identifiers.
    blanked : int
        Values that would be blanked so that records with missing values can be grouped.
    memory : int
        About how many bytes it would take.
    seconds : float, optional
        About how long it would take; None where the method runs to its end, or for a number of steps.
    notes : tuple of str
        What was assumed.
    """

    name: str
    records: int
    promise: Promise
    parameters: dict[str, Any]
    classes: int
    smallest_class: int
    groups: int
    blanked: int
    memory: int
    seconds: float | None
    notes: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return vars(self) | {"schema": "discreet/plan/1", "promise": self.promise.as_dict(), "notes": list(self.notes)}

    def summary(self) -> str:
        """The plan in words."""
        lines = [f"{self.name}: {count(self.records, 'record')}, k = {self.promise.k}; nothing was done or written", ""]
        lines += [*describe_columns(self.parameters["columns"]), ""]
        lines += entry("Promise", self.promise.words())
        apart = count(self.classes, "class", "classes")
        lines += entry(
            "Feasible",
            f"yes: {apart} of records to be grouped apart, the smallest of {self.smallest_class:,}; at most "
            f"{count(self.groups, 'group')}",
        )
        if self.blanked:
            lines += entry("Blanked", f"{count(self.blanked, 'value')}, so that records with missing values fit")
        lines += entry("Memory", f"about {self.memory / 1e9:.1f} GB")
        lines += entry("Method", f"{self.parameters['method']}, {self._tell_time()}")
        return "\n".join([*lines, *describe_notes(self.notes)])

    def __repr__(self) -> str:
        return f"Plan of a protection of {count(self.records, 'record')}, k = {self.promise.k}"

    def _tell_time(self) -> str:
        if self.seconds is not None:
            return f"about {duration(self.seconds)} in all on a machine that is idle"
        steps = self.parameters["steps"]
        return count(steps, "step") if steps is not None else "which runs to its end, however long it takes"


def lay_out(prepare: Callable[[], Prepared]) -> Plan:
    """Prepare a protection, as far as it goes without a search, and tell what it would take."""
    began = time.perf_counter()
    prepared = prepare()
    settings = prepared.settings
    name, searching = LABELS, False
    if prepared.labels is None:
        name, method = choose(settings.method, settings.params)
        searching = method.searches
    waiting = [said.name for said in prepared.declarations.columns if is_open(said.coarsen)]
    # Not coarsened at all such a column takes most memory.
    declarations, _ = choose_levels(prepared.dataset, prepared.declarations, lambda _said: 0.0)
    prepared = replace(prepared, declarations=declarations)
    attributes, groups, notes = prepared.divide()
    notes += prepared.fit_labels(groups)[1]
    embedding, constant = embed(attributes)
    embedding.check_memory(prepared.dataset.frame.height)
    reading = time.perf_counter() - began
    width = sum(axis.width for axis in embedding.axes)
    records = prepared.dataset.frame.height
    sizes = [len(rows) for group in groups for rows in group.classes.rows]
    notes += [f"the level of '{column}' will be chosen in the first half of the search" for column in waiting]
    promise, persons = promise_of(prepared.dataset, declarations, settings, prepared.groups)
    constraints = constraints_of(prepared.dataset, declarations, promise, persons, prepared.households)
    if constraints is not None and prepared.labels is None:
        check_possible(prepared.dataset, groups, constraints)
    searches = searching and settings.steps is None and not settings.bound
    return Plan(
        prepared.dataset.name,
        records,
        promise,
        parameters(settings, declarations, attributes, promise.groups) | {"method": name},
        len(sizes),
        min(sizes),
        sum(size // settings.k for size in sizes),
        int(blanks(groups, records).sum()),
        IDLE + COPIES * int(prepared.dataset.frame.estimated_size()) + POINT_COPIES * 8 * records * width,
        # Reading, reading back what was written, and measuring take about as long as reading did here.
        settings.time + 3 * reading if searches else None,
        (*notes, *constant),
    )
