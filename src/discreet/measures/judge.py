"""The measures of a pair of original and release, ours and the user's own functions, as plain values ready for JSON."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.data.attributes import Attribute, Values
from discreet.data.dataset import Dataset
from discreet.data.files.csv import assign_types
from discreet.errors import InputError
from discreet.measures.change import changes
from discreet.measures.choices import Choices, Own
from discreet.measures.fellegi import MOST_ATTRIBUTES, decile_bins, probabilistic_linkage
from discreet.measures.interval import SCALE, has_true_zero, interval_disclosure
from discreet.measures.linkage import (
    MOST_SEARCHED_FULLY,
    SAMPLE_SIZE,
    Linkage,
    distance_linkage,
    draw_sample,
    mixed_linkage,
    subset_linkage,
)
from discreet.measures.loss import (
    general_loss,
    hierarchical_loss,
    information_loss,
    share_changed,
    weighted_loss,
)
from discreet.measures.pair import Pair
from discreet.measures.probabilistic import probabilistic_loss
from discreet.measures.risk import attribute_disclosure, closeness, population_risk, record_risk

Progress = Callable[[str, float], None]
# The 2013 paper's risk and the 2021 paper's, whatever else is asked for.
OF_2013 = Choices()
OF_2021 = Choices(direction="released", nearest=2, interval="rank", records=True)


@dataclass(frozen=True)
class Judge:
    """Takes the measures of one pair; a linkage that several of them need is computed once."""

    pair: Pair
    choices: Choices
    tell: Progress
    per_record: dict[str, NDArray[np.float64]] = field(default_factory=dict)

    def measure(self, names: Iterable[str]) -> dict[str, Any]:
        """The values of the measures, and under `covers` which attributes they are of."""
        values: dict[str, Any] = {}
        linkages: dict[Choices, Linkage] = {}
        for name in names:
            self.tell(f"measuring {name}", 0.0)
            values |= getattr(self, f"_{name}")(linkages)
        if self.pair.weights is not None:
            values |= self._population(self.pair.weights)
        values["covers"] = {"numeric": self.pair.numeric()[0], "all": self.pair.names, "blank": self.pair.blank}
        return values

    def _population(self, weights: Values) -> dict[str, Any]:
        found = population_risk(self.pair.classes, weights)
        self.per_record.update(individual_risk=found.by_record)
        loss = weighted_loss(self.pair.attributes, self.pair.released, weights)
        return {"population": found.as_dict(), "weighted_il": loss}

    def _il(self, _linkages: dict[Choices, Linkage]) -> dict[str, Any]:
        il, parts = information_loss(self.pair.attributes, self.pair.released)
        changed = share_changed(self.pair.attributes, self.pair.released)
        changes = {"changed_per_attribute": changed} if changed else {}
        apart = hierarchical_loss(self.pair.attributes, self.pair.released)
        return {"il": il, "il_per_attribute": parts} | changes | apart

    def _gil(self, _linkages: dict[Choices, Linkage]) -> dict[str, Any]:
        names, X, Y = self.pair.numeric(blank=False)
        if not names:
            return {"gil": None}
        found = general_loss(X, Y, names).as_dict()
        return {"gil": found.pop("gil"), "gil_parts": found}

    def _pil(self, _linkages: dict[Choices, Linkage]) -> dict[str, Any]:
        names, X, Y = self.pair.numeric(blank=False)
        if not names:
            return {"pil": None}
        found = probabilistic_loss(X, Y, names).as_dict()
        return {"pil": found.pop("pil"), "pil_parts": found}

    def _dld(self, linkages: dict[Choices, Linkage]) -> dict[str, Any]:
        found = self._linkage(self.choices, linkages)
        return {"dld": found.rate, "dld_standard_error": found.standard_error, "dld_searched": len(found.queries)}

    def _pld(self, _linkages: dict[Choices, Linkage]) -> dict[str, Any]:
        if len(self.pair.names) > MOST_ATTRIBUTES:
            return {"pld": None}
        codes = [
            decile_bins(attribute.values, released)
            if attribute.categories is None
            else (_codes(attribute.values), _codes(released))
            for attribute, released in zip(self.pair.attributes, self.pair.released, strict=True)
        ]
        before, after = (np.column_stack([pair[side] for pair in codes]) for side in (0, 1))
        found = probabilistic_linkage(before, after, seed=self.choices.seed, progress=self._heard("pld"))
        return {"pld": found.rate, "pld_standard_error": found.standard_error, "pld_searched": len(found.queries)}

    def _id(self, _linkages: dict[Choices, Linkage]) -> dict[str, Any]:
        found = self._interval(self.choices)
        if found is None:
            return {"id": None}
        by_sd = {"id_by_sd": found["by_sd"]} if found["by_sd"] else {}
        return {"id": found["rate"], "id_per_attribute": found["attributes"]} | by_sd

    def _dr(self, linkages: dict[Choices, Linkage]) -> dict[str, Any]:
        interval = self._interval(OF_2013)
        linked = self._linkage(replace(OF_2013, sample=self.choices.sample, seed=self.choices.seed), linkages)
        return _mean("dr", linked.rate, None if interval is None else interval["rate"]) | _error("dr", linked)

    def _score(self, linkages: dict[Choices, Linkage]) -> dict[str, Any]:
        risk = self._dr(linkages)
        return _mean("score", self._il(linkages)["il"], risk["dr"]) | _halve("score", risk, "dr")

    def _gdr(self, linkages: dict[Choices, Linkage]) -> dict[str, Any]:
        own = self.choices
        asked = replace(OF_2021, known=own.known, choose=own.choose, sample=own.sample, seed=own.seed)
        interval = self._interval(OF_2021)
        linked = self._linkage(asked, linkages)
        return _mean("gdr", linked.rate, None if interval is None else interval["rate"]) | _error("gdr", linked)

    def _si(self, linkages: dict[Choices, Linkage]) -> dict[str, Any]:
        risk = self._gdr(linkages)
        return _mean("si", self._gil(linkages)["gil"], risk["gdr"]) | _halve("si", risk, "gdr")

    def _k(self, _linkages: dict[Choices, Linkage]) -> dict[str, Any]:
        sizes = np.bincount(self.pair.classes)
        return {"k": int(sizes.min()), "classes": len(sizes)}

    def _ad(self, _linkages: dict[Choices, Linkage]) -> dict[str, Any]:
        if not self.pair.confidential:
            return {"ad": {}}
        held = pl.DataFrame({column.name: column.values for column in self.pair.confidential})
        return {"ad": attribute_disclosure(pl.DataFrame({"class": self.pair.classes}), held)}

    def _l(self, _linkages: dict[Choices, Linkage]) -> dict[str, Any]:
        found = self._closeness()
        return {"l": {name: {"distinct": c["distinct"], "entropy": c["entropy"]} for name, c in found.items()}}

    def _t(self, _linkages: dict[Choices, Linkage]) -> dict[str, Any]:
        return {"t": {name: c["t"] for name, c in self._closeness().items()}}

    def _risk(self, linkages: dict[Choices, Linkage]) -> dict[str, Any]:
        linked = self._linkage(replace(OF_2013, sample=self.choices.sample, seed=self.choices.seed), linkages)
        credit = np.full(self.pair.records, np.nan)
        credit[linked.queries] = linked.credits
        found = record_risk(self.pair.classes, credit)
        self.per_record.update(class_risk=found.by_class, linkage_risk=credit)
        return {"risk": found.as_dict() | {"searched": len(linked.queries)}}

    def _change(self, _linkages: dict[Choices, Linkage]) -> dict[str, Any]:
        names, X, Y = self.pair.numeric(blank=False)
        return {"change": changes(X, Y, names) if names else None}

    def _closeness(self) -> dict[str, dict[str, Any]]:
        return {
            column.name: closeness(self.pair.classes, column.values, ordered=column.kind != "nominal").as_dict()
            for column in self.pair.confidential
        }

    def _interval(self, choices: Choices) -> dict[str, Any] | None:
        by_scale = choices.interval == SCALE
        names, X, Y = self.pair.numeric(dates=by_scale)
        if not names:
            return None
        zeros = None
        if by_scale:
            dates = {attribute.name for attribute in self.pair.attributes if attribute.kind == "date"}
            zeros = [name not in dates and has_true_zero(x) for name, x in zip(names, X.T, strict=True)]
        return interval_disclosure(X, Y, names, choices.interval, choices.records, choices.width, zeros).as_dict()

    def _linkage(self, choices: Choices, linkages: dict[Choices, Linkage]) -> Linkage:
        # Intervals make no difference to a linkage.
        choices = replace(choices, interval=OF_2013.interval, width=None, records=None)
        if choices in linkages:
            return linkages[choices]
        size = choices.sample or SAMPLE_SIZE
        queries = None
        if self.pair.records > (size if choices.sample else MOST_SEARCHED_FULLY):
            queries = draw_sample(self.pair.records, size, choices.seed)
        known = list(choices.known) or self.pair.names
        asked: dict[str, Any] = {"nearest": choices.nearest, "queries": queries, "progress": self._heard("dld")}
        backwards = choices.direction == "released"
        if any(axis.nominal for axis in self.pair.embedding.axes):
            values, released = [attribute.values for attribute in self.pair.attributes], list(self.pair.released)
            searching, sought = (released, values) if backwards else (values, released)
            places = [self.pair.names.index(name) for name in known]
            subset = choices.choose or len(known)
            found = mixed_linkage(self.pair.embedding, searching, sought, places, subset, **asked)
        else:
            points, candidates = reversed(self.pair.points) if backwards else self.pair.points
            if choices.choose is None and not choices.known:
                found = distance_linkage(points, candidates, **asked)
            else:
                spans = dict(zip(self.pair.names, self.pair.embedding.spans(), strict=True))
                columns = [spans[name] for name in known]
                found = subset_linkage(points, candidates, columns, choices.choose or len(known), **asked)
        linkages[choices] = found
        return found

    def _heard(self, name: str) -> Callable[[float], None]:
        return lambda fraction: self.tell(f"measuring {name}", fraction)


def _mean(name: str, first: float | None, second: float | None) -> dict[str, Any]:
    return {name: None if first is None or second is None else (first + second) / 2}


def _error(name: str, linked: Linkage) -> dict[str, Any]:
    """The standard error of a figure of which an estimated linkage is one half."""
    error = linked.standard_error
    return {
        f"{name}_standard_error": None if error is None else error / 2,
        f"{name}_searched": len(linked.queries),
    }


def _halve(name: str, risk: dict[str, Any], of: str) -> dict[str, Any]:
    error = risk[f"{of}_standard_error"]
    return {f"{name}_standard_error": None if error is None else error / 2, f"{name}_searched": risk[f"{of}_searched"]}


def _codes(values: Any) -> Any:
    """Positions of categories as integers; missing is a code of its own."""
    return np.where(np.isnan(values), -1, values).astype(np.int64)


# A mapping within a mapping within a mapping.
MOST_NESTED = 3


def show(
    dataset: Dataset,
    attributes: Sequence[Attribute],
    released: Sequence[Values] | None = None,
    rows: NDArray[np.int64] | None = None,
) -> Any:
    """Data as a measure is given it: the kind of frame that came in; of a text file a polars frame with numbers.

    Parameters
    ----------
    dataset : Dataset
        The data.
    attributes : sequence of Attribute
        The quasi-identifiers of the original.
    released : sequence of arrays, optional
        Their values in the release, if `dataset` is one.
    rows : array of int, optional
        The rows in the order to be shown.
    """
    if not dataset.textual:
        native = nw.from_native(dataset.restore(dataset.frame, dataset.frame.columns, ()), eager_only=True)
        return (native if rows is None else nw.maybe_reset_index(native[rows.tolist()])).to_native()
    frame = dataset.frame if rows is None else dataset.frame[rows]
    # As they came in: not coarsened, not rounded.
    fine = [replace(attribute.fine or attribute, digits=None) for attribute in attributes]
    columns = (
        [attribute.column(attribute.values) for attribute in fine]
        if released is None
        else [attribute.column(values) for attribute, values in zip(attributes, released, strict=True)]
    )
    return assign_types(frame.with_columns(columns), dataset.decimal)


def take_own(measures: Sequence[Own], original: Any, released: Any) -> dict[str, Any]:
    """The values of some measures, and under `own` their names."""
    values = {one.name: _plain(one.name, one.function(original, released)) for one in measures}
    return values | {"own": list(values)}


def _plain(name: str, value: Any, depth: int = 0) -> Any:
    """A value as JSON has it: a number, or a mapping of names to numbers; NaN is no value."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Mapping) and depth < MOST_NESTED:
        return {str(key): _plain(name, each, depth + 1) for key, each in value.items()}
    raise InputError(
        f"the measure {name} must return a number or a mapping of names to numbers, not {type(value).__name__}"
    )
