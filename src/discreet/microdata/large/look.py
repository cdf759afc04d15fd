"""The first step: look at all records once, piece by piece: counts, sums, levels, classes, and a seeded sample.

What is found of all pieces together, the picture, fixes how values are read and compared, and which records are
protected apart: strata, and within them patterns of missing values.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.data.attributes import Attribute, Values, read_attribute
from discreet.data.dates import DateForm
from discreet.data.embedding import Axis, Embedding
from discreet.data.roles import AGGREGATES
from discreet.errors import InputError
from discreet.microdata.large.gather import read_records
from discreet.microdata.large.request import Request, load_request, read_values
from discreet.microdata.large.units import (
    CLASS,
    CLASSES,
    PATTERN,
    RECORDS,
    UNITS,
    draw_classes,
    key_patterns,
    read_units,
)
from discreet.microdata.large.work import Work, checksum
from discreet.verification.distributions import add_counts, count_values

PICTURE = "picture.json"
# Records that are drawn of a batch: a share of it, and of small ones so many.
SHARE, LEAST = 64, 2048
# A pattern of missing values is a set of bits.
MOST_QUASI = 63


@dataclass
class Moments:
    """Count, mean and sum of squares of numbers, which pieces are added up to in order; and their range."""

    count: int = 0
    mean: float = 0.0
    squares: float = 0.0
    low: float = math.inf
    high: float = -math.inf
    integral: bool = True

    def add(self, other: Moments) -> None:
        """Take in those of further numbers (Chan, Golub and LeVeque 1983)."""
        if not other.count:
            return
        total = self.count + other.count
        apart = other.mean - self.mean
        self.squares += other.squares + apart * apart * self.count * other.count / total
        self.mean += apart * other.count / total
        self.count, self.integral = total, self.integral and other.integral
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)

    @classmethod
    def of(cls, values: Values) -> Moments:
        """Those of the values that are there."""
        seen = values[~np.isnan(values)]
        if not len(seen):
            return cls()
        mean = float(seen.mean())
        with np.errstate(over="ignore"):
            squares = float(np.sum((seen - mean) ** 2))
        return cls(len(seen), mean, squares, float(seen.min()), float(seen.max()), bool((seen == np.round(seen)).all()))


def look(folder: str, number: int) -> None:
    """Look at one piece of the input."""
    work, request = Work(folder), load_request(folder)
    if work.has(f"look-{number:05}.json"):
        return
    templates = plain_templates(request)
    moments = {name: Moments() for name, template in templates.items() if template is not None}
    levels: dict[str, list[pl.DataFrame]] = {name: [] for name, template in templates.items() if template is None}
    assert request.promise is not None
    whole: dict[str, list[pl.DataFrame]] = {said.column: [] for said in request.promise.t}
    classes, sample, taken = [], [], []
    records = size = marks = cut = parts = units_seen = 0
    lacking = np.zeros(len(request.quasi), np.int64)
    rng = np.random.default_rng([request.settings["seed"], number])
    by = request.columns.names("by")
    for dataset in read_records(request, number):
        frame = dataset.frame
        missing = np.zeros(frame.height, np.int64)
        for place, name in enumerate(request.quasi):
            template = templates[name]
            if template is None:
                levels[name].append(frame[name].drop_nulls().value_counts(name=RECORDS))
                gone = frame[name].is_null().to_numpy()
            else:
                values = read_values(dataset, template)
                moments[name].add(Moments.of(values))
                gone = np.isnan(values)
            missing |= np.where(gone, 1 << place, 0)
            lacking[place] += np.count_nonzero(gone)
        units = read_units(request, dataset, number)
        keyed = pl.DataFrame([*(frame[name] for name in by), key_patterns(request, missing, units)])
        rows, heads = keyed, pl.len()
        if request.household is not None and units is not None:
            rows, heads = keyed.with_columns(pl.Series(UNITS, units.firsts)), pl.col(UNITS).sum()
        classes.append(rows.group_by(keyed.columns).agg(pl.len().alias(RECORDS), heads.alias(UNITS)))
        for said in request.promise.t:
            votes = None if units is None else units.votes
            whole[said.column].append(count_values(frame[said.column], said.scale, request.decimal, votes))
        drawn = rng.permutation(frame.height)[: max(LEAST, frame.height // SHARE)]
        sample.append(pl.concat([frame[drawn].select(request.quasi), keyed[drawn]], how="horizontal"))
        taken.append([frame.height, len(drawn)])
        records += frame.height
        if units is not None:
            cut, parts, units_seen = cut + units.cut, parts + units.parts, units_seen + int(units.firsts.sum())
        size += int(frame.select(request.kept).estimated_size())
        marks = (marks + checksum(frame.select(request.unchanged))) % 2**64
    for place, name in enumerate(levels):
        if levels[name]:
            found = pl.concat(levels[name]).group_by(name).agg(pl.col(RECORDS).sum()).sort(name)
            work.write_frame(f"look-{number:05}-level-{place}.arrow", found)
    if records:
        found = pl.concat(classes).group_by([*by, PATTERN]).agg(pl.col(RECORDS, UNITS).sum())
        work.write_frame(f"look-{number:05}-classes.arrow", found.sort(pl.all(), nulls_last=True))
        work.write_frame(f"look-{number:05}-sample.arrow", pl.concat(sample))
        for place, counts in enumerate(whole.values()):
            work.write_frame(f"look-{number:05}-whole-{place}.arrow", add_counts(counts))
    work.write(
        f"look-{number:05}.json",
        {
            "records": records,
            "bytes": size,
            "checksum": str(marks),
            "taken": taken,
            "lacking": lacking.tolist(),
            "units": [units_seen, cut, parts],
            "moments": {name: asdict(one) for name, one in moments.items() if one.count},
        },
    )


def plain_templates(request: Request) -> dict[str, Attribute | None]:
    """How numbers and dates are read; None for categories, which are not known before all were seen."""
    found: dict[str, Attribute | None] = {}
    for name in request.quasi:
        said = request.columns[name]
        kind = said.kind or "numeric"
        found[name] = None
        if kind in ("numeric", "date"):
            found[name] = Attribute(
                name,
                kind,
                np.zeros(0),
                request.schema[name],
                form=request.forms.get(name),
                weight=1.0 if said.weight is None else said.weight,
                aggregate=said.aggregate or AGGREGATES[kind][0],
                missing=said.missing or "separate",
                digits=said.default_digits if said.digits is None and kind == "numeric" else said.digits,
            )
    return found


@dataclass(frozen=True, eq=False)
class Picture:
    """What all records together are like.

    Parameters
    ----------
    records : int
        How many there are.
    templates : tuple of Attribute
        The quasi-identifiers without their values.
    embedding : Embedding
        How records are compared.
    fills : tuple of float
        What stands in place of a missing value that is imputed; NaN where none is.
    sizes : list of int
        Records of each class.
    blanks : list of lists of int
        The quasi-identifiers that are blank in each class.
    widths : list of int
        How many members the households of each class have; 1 of records.
    classes : polars.DataFrame
        The class of each stratum and pattern of missing values.
    whole : dict
        The values that all records have in the columns of t-closeness, and how often each.
    units : list of int
        How many persons or households there are; how many of the latter were cut, and into how many parts.
    notes : list of str
        What was assumed.
    """

    records: int
    templates: tuple[Attribute, ...]
    embedding: Embedding
    fills: tuple[float, ...]
    sizes: list[int]
    blanks: list[list[int]]
    widths: list[int]
    classes: pl.DataFrame
    whole: dict[str, pl.DataFrame]
    units: list[int]
    notes: list[str]

    def classify(self, keyed: pl.DataFrame) -> NDArray[np.int64]:
        """The class of each record, by its stratum and pattern of missing values."""
        if self.classes.height == 1:
            return np.zeros(keyed.height, np.int64)
        found = keyed.join(self.classes, on=keyed.columns, how="left", nulls_equal=True, maintain_order="left")
        if found[CLASS].null_count():
            raise InputError("the data changed while it was read; start again when nobody writes to it")
        return found[CLASS].to_numpy().astype(np.int64)

    def coordinates(self, values: Sequence[Values]) -> NDArray[np.float64]:
        """Records as they are scattered: numbers as they are compared, categories by their codes."""
        numbers, codes = self.embedding.split(values)
        return np.concatenate([numbers, codes], axis=1)

    def fill(self, values: Sequence[Values]) -> list[Values]:
        """Values with those imputed that are to be."""
        return [
            column if math.isnan(fill) else np.where(np.isnan(column), fill, column)
            for column, fill in zip(values, self.fills, strict=True)
        ]


def draw_picture(work: Work, request: Request) -> None:
    """Put together what was seen of all pieces."""
    if work.has(PICTURE):
        return
    seen = [work.read(f"look-{number:05}.json") for number in range(request.tasks)]
    there = [number for number, one in enumerate(seen) if one["records"]]
    records = sum(one["records"] for one in seen)
    if not records:
        raise InputError("there are no records")
    plain = plain_templates(request)
    coded = [name for name, template in plain.items() if template is None]
    templates, axes, fills, notes = [], [], [], []
    for place, name in enumerate(request.quasi):
        template = plain[name]
        if template is None:
            frames = [work.read_frame(f"look-{number:05}-level-{coded.index(name)}.arrow") for number in there]
            counts = pl.concat(frames).group_by(name).agg(pl.col(RECORDS).sum()).sort(name)
            template, axis, fill = _draw_categories(request, name, counts)
            categories = template.categories
            assert categories is not None
            work.write_frame(f"level-{place}.arrow", categories.to_frame("category"))
        else:
            moments = Moments()
            for one in seen:
                moments.add(Moments(**one["moments"].get(name, {})))
            template, axis, fill = _draw_numbers(request, template, moments)
        if not axis.width and template.weight > 0:
            notes.append(f"'{name}' is constant: it gets weight 0 and does not steer the grouping")
        templates.append(template)
        axes.append(axis)
        fills.append(fill if template.missing == "impute" else math.nan)
    frames = [work.read_frame(f"look-{number:05}-classes.arrow") for number in there]
    lacking = np.sum([one["lacking"] for one in seen], axis=0).tolist()
    sizes, blanks, widths = draw_classes(work, request, pl.concat(frames), lacking)
    assert request.promise is not None
    for place in range(len(request.promise.t)):
        seen_values = [work.read_frame(f"look-{number:05}-whole-{place}.arrow") for number in there]
        work.write_frame(f"whole-{place}.arrow", add_counts(seen_values))
    work.write(
        PICTURE,
        {
            "records": records,
            "bytes": sum(one["bytes"] for one in seen),
            "checksum": str(sum(int(one["checksum"]) for one in seen) % 2**64),
            "templates": [_write_template(template) for template in templates],
            "axes": [
                {
                    "name": axis.name,
                    "center": axis.center.tolist(),
                    "scale": axis.scale,
                    "positions": None if axis.positions is None else axis.positions.tolist(),
                }
                for axis in axes
            ],
            "fills": [None if math.isnan(fill) else fill for fill in fills],
            "sizes": sizes,
            "blanks": blanks,
            "widths": widths,
            "units": np.sum([one["units"] for one in seen], axis=0).tolist(),
            "notes": notes,
        },
    )


def _draw_numbers(request: Request, template: Attribute, moments: Moments) -> tuple[Attribute, Axis, float]:
    name = template.name
    if not moments.count:
        raise InputError(f"column '{name}' has no values at all; name it as ignore")
    integral = request.schema[name].is_integer() or (template.kind == "numeric" and moments.integral)
    template = replace(template, integral=integral)
    if template.missing == "impute" and template.aggregate != "mean":
        raise InputError(f"column '{name}': missing values of large data are imputed by means and modes only")
    # A column has one type in all parts: the one that holds what rounding makes of the extremes.
    ends = template.column(np.array([moments.low, moments.high]))
    if template.dtype.is_integer() and ends.dtype.is_float() and template.column(np.zeros(1)).dtype.is_integer():
        template = replace(template, dtype=pl.Int64())
    nothing = Axis(name, np.zeros(0), 0.0)
    if template.weight == 0 or moments.low == moments.high:
        return template, nothing, moments.mean
    spread = math.sqrt(moments.squares / moments.count)
    if not math.isfinite(spread) or spread == 0:
        raise InputError(f"column '{name}' has numbers too large or too close together to compute with; rescale it")
    return template, Axis(name, np.array([moments.mean]), math.sqrt(template.weight) / spread), moments.mean


def _draw_categories(request: Request, name: str, counts: pl.DataFrame) -> tuple[Attribute, Axis, float]:
    if not counts.height:
        raise InputError(f"column '{name}' has no values at all; name it as ignore")
    dataset = replace(request.dataset(counts.select(name), name), place=lambda _row: "a category")
    template = read_attribute(dataset, replace(request.columns[name], na=()))[0]
    assert template.categories is not None
    sizes = np.zeros(len(template.categories))
    sizes[template.values.astype(np.int64)] = counts[RECORDS].to_numpy()
    template = replace(template, values=np.zeros(0))
    strength = math.sqrt(template.weight)
    fill = float(np.argmax(sizes))
    if template.kind == "ordinal" and template.aggregate == "median":
        fill = float(np.searchsorted(np.cumsum(sizes), sizes.sum() / 2))
    if template.weight == 0 or np.count_nonzero(sizes) == 1:
        return template, Axis(name, np.zeros(0), 0.0), fill
    shares = sizes / sizes.sum()
    if template.kind == "nominal":
        return template, Axis(name, shares, strength / math.sqrt(1.0 - float(np.sum(shares**2)))), fill
    positions = np.cumsum(sizes) - (sizes - 1) / 2.0
    center = float(shares @ positions)
    spread = math.sqrt(float(shares @ (positions - center) ** 2))
    return template, Axis(name, np.array([center]), strength / spread, positions), fill


def _write_template(template: Attribute) -> dict[str, Any]:
    form = None if template.form is None else asdict(template.form)
    same = ("name", "kind", "integral", "weight", "aggregate", "missing", "digits")
    wide = template.dtype == pl.Int64 and template.categories is None
    return {name: getattr(template, name) for name in same} | {"form": form, "wide": wide}


@lru_cache(maxsize=2)
def load_picture(folder: str) -> Picture:
    """The picture of a work folder."""
    work, request = Work(folder), load_request(folder)
    said = work.read(PICTURE)
    assert request.promise is not None
    templates = []
    for place, one in enumerate(said["templates"]):
        form, wide = one.pop("form"), one.pop("wide")
        coded = one["kind"] in ("nominal", "ordinal")
        dtype = pl.Int64() if wide else request.schema[one["name"]]
        templates.append(
            Attribute(
                values=np.zeros(0),
                dtype=dtype,
                form=None if form is None else DateForm(**form),
                categories=work.read_frame(f"level-{place}.arrow")["category"].alias(one["name"]) if coded else None,
                **one,
            )
        )
    axes = tuple(
        Axis(
            axis["name"],
            np.array(axis["center"], np.float64),
            axis["scale"],
            None if axis["positions"] is None else np.array(axis["positions"]),
        )
        for axis in said["axes"]
    )
    return Picture(
        said["records"],
        tuple(templates),
        Embedding(axes),
        tuple(math.nan if fill is None else fill for fill in said["fills"]),
        said["sizes"],
        said["blanks"],
        said["widths"],
        work.read_frame(CLASSES),
        {one.column: work.read_frame(f"whole-{place}.arrow") for place, one in enumerate(request.promise.t)},
        said["units"],
        said["notes"],
    )


def read_sample(work: Work, request: Request, picture: Picture) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The drawn records of all pieces, all with the same chance: their coordinates and their classes."""
    facts = [work.read(f"look-{number:05}.json") for number in range(request.tasks)]
    batches = [batch for one in facts for batch in one["taken"]]
    share = min(taken / rows for rows, taken in batches)
    places, classes = [], []
    for number, one in enumerate(facts):
        if not one["records"]:
            continue
        frame, start = work.read_frame(f"look-{number:05}-sample.arrow"), 0
        kept = []
        for rows, taken in one["taken"]:
            kept.append(np.arange(start, start + min(taken, math.ceil(share * rows))))
            start += taken
        dataset = request.dataset(frame[np.concatenate(kept)], "the sample")
        values = [read_values(dataset, template) for template in picture.templates]
        places.append(picture.coordinates(picture.fill(values)))
        classes.append(picture.classify(dataset.frame.select(*request.columns.names("by"), PATTERN)))
    return np.concatenate(places), np.concatenate(classes)
