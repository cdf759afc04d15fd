"""The verb `measure`: aligned by position, key or row map; the same figures in any order; odd pairs get an answer."""

import datetime as dt
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import discreet
from discreet.errors import InputError
from discreet.measures.choices import ALL, FAST
from random_frames import ORDER, ROLES, frames

SLOW = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
TYPES: dict[str, Any] = {"quasi": ROLES["quasi"], "ordinal": {"size": ORDER}}


def flat(value: Any, path: str = "") -> dict[str, float]:
    """All numbers of a nested result, by their path."""
    if isinstance(value, dict):
        return {key: number for name, part in value.items() for key, number in flat(part, f"{path}.{name}").items()}
    if isinstance(value, list):
        return {key: number for i, part in enumerate(value) for key, number in flat(part, f"{path}[{i}]").items()}
    return {path: float(value)} if isinstance(value, int | float) and not isinstance(value, bool) else {}


def same(first: Any, second: Any) -> None:
    one, other = flat(dict(first)), flat(dict(second))
    assert one.keys() == other.keys()
    for name, number in one.items():
        assert other[name] == pytest.approx(number, rel=1e-9, abs=1e-9), name


def mixed(n: int = 200, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "key": [f"r{i}" for i in range(n)],
            "age": rng.integers(18, 90, n),
            "income": np.round(rng.lognormal(10, 1, n), 2),
            "town": rng.choice(["a", "b", "c"], n),
            "ill": rng.choice(["no", "flu", "gout"], n),
            "visits": rng.integers(0, 9, n),
        }
    )


def protected(frame: pl.DataFrame, k: int = 4) -> pl.DataFrame:
    released = discreet.protect(frame.drop("key"), k=k, quasi=["age", "income", "town"], confidential="rest").data
    named: pl.DataFrame = released.with_columns(frame["key"])
    return named


QUASI = ["age", "income", "town"]


@SLOW
@given(frames(least=4), st.randoms())
def test_row_order_changes_nothing_given_a_key(frame: pl.DataFrame, random: Any) -> None:
    try:
        roles: dict[str, Any] = {**ROLES, "identifier": [], "confidential": ["id", "diagnosis", "visits"]}
        released = discreet.protect(frame, k=2, **roles, ordinal={"size": ORDER}, measures="none").data
    except InputError:
        return
    order = list(range(frame.height))
    random.shuffle(order)
    options = {**TYPES, "confidential": ["diagnosis"], "measures": "all"}
    by_place = discreet.measure(frame, released, **options)
    same(by_place, discreet.measure(frame, released[order], key="id", **options))
    same(by_place, discreet.measure(frame[order], released, key="id", **options))


def test_swapping_rows_within_a_group_changes_nothing() -> None:
    frame = mixed()
    release = discreet.protect(frame, k=4, quasi=QUASI, ignore="rest", measures="none")
    order = np.arange(frame.height)
    members = np.flatnonzero(release.labels == release.labels[0])
    order[members] = members[::-1]
    options: dict[str, Any] = {"quasi": QUASI, "measures": "all"}
    same(
        discreet.measure(frame, release.data, **options),
        discreet.measure(frame, release.data[order.tolist()], **options),
    )


def test_identical_data_lose_nothing_and_hide_nothing() -> None:
    frame = mixed().with_columns(income=pl.int_range(200) * 3.5)
    found = discreet.measure(frame, frame, quasi=QUASI, measures="all", confidential=["ill"])
    for name in ("il", "gil", "pil"):
        assert found[name] == 0
    assert found["dld"] == found["id"] == found["dr"] == 100
    assert (found["score"], found["k"]) == (50, 1)


def test_key_position_and_row_map_agree(tmp_path: Path) -> None:
    frame = mixed()
    release = discreet.protect(frame, k=4, quasi=QUASI, confidential=["ill", "visits"], ignore="key")
    source = tmp_path / "original.csv"
    frame.write_csv(source)
    release.write(tmp_path / "out.csv", row_map=tmp_path / "map.csv")
    release.write(tmp_path / "kept.parquet", order="kept")
    by_place = discreet.measure(source, tmp_path / "kept.parquet", quasi=QUASI)
    by_map = discreet.measure(source, tmp_path / "out.csv", quasi=QUASI, row_map=tmp_path / "map.csv")
    same(by_place, by_map)
    assert by_place["il"] == pytest.approx(release.measures["il"])
    assert by_place["dld"] == pytest.approx(release.measures["dld"])
    with pytest.raises(InputError, match="order of the records was destroyed"):
        discreet.measure(source, tmp_path / "out.csv", quasi=QUASI)


def test_sorted_rows_are_noticed_without_a_shared_column() -> None:
    frame = mixed()
    released = protected(frame).select(QUASI)
    with pytest.raises(InputError, match="sorted by all columns"):
        discreet.measure(frame, released.sort(QUASI), quasi=QUASI)
    assert discreet.measure(frame, released, quasi=QUASI)["k"] >= 4


def test_a_release_of_another_kind_is_read_the_same_way(tmp_path: Path) -> None:
    frame = mixed().with_columns(code=pl.int_range(200) % 3)
    released = discreet.protect(frame, k=4, quasi=[*QUASI, "code"], nominal="code", ignore="rest").data
    released.with_columns(pl.col("code").cast(pl.Float64)).write_parquet(tmp_path / "released.parquet")
    frame.write_csv(tmp_path / "original.csv")
    options: dict[str, Any] = {"quasi": [*QUASI, "code"], "nominal": "code"}
    same(
        discreet.measure(frame, released, **options),
        discreet.measure(tmp_path / "original.csv", tmp_path / "released.parquet", **options),
    )


def test_a_category_that_only_the_release_has_is_one_of_its_own() -> None:
    frame = pl.DataFrame({"town": ["a", "b", "a", "b"], "x": [1, 2, 3, 4]})
    found = discreet.measure(frame, frame.with_columns(town=pl.lit("*")), quasi="all", measures=["il", "k"])
    assert found["il_per_attribute"]["town"] > 0
    assert found["k"] == 1


def test_numeric_measures_say_what_they_cover() -> None:
    frame = mixed()
    found = discreet.measure(frame, protected(frame), quasi=QUASI, key="key")
    assert found["covers"] == {"numeric": ["age", "income"], "all": QUASI, "blank": []}
    assert "cover the numeric attributes: age, income" in " ".join(found.summary().split())
    towns = discreet.measure(frame, protected(frame), quasi="town", key="key", measures="all", confidential="ill")
    assert towns["gil"] is towns["id"] is towns["dr"] is towns["si"] is None
    assert towns["dld"] > 0


def test_the_choices_of_a_measure_are_named_and_change_it() -> None:
    frame = mixed()
    released = protected(frame)
    base: dict[str, Any] = {"quasi": QUASI, "key": "key", "measures": ["dld", "id"]}
    plain = discreet.measure(frame, released, **base)
    second = discreet.measure(frame, released, **base, direction="released", nearest=2)
    assert second["dld"] != plain["dld"]
    assert (second.choices.direction, second.as_dict()["choices"]["nearest"]) == ("released", 2)
    pairs = [discreet.measure(frame, released, **(base | {"quasi": list(q)}), direction="original")["dld"]
             for q in (("age", "income"), ("age", "town"), ("income", "town"))]  # fmt: skip
    assert discreet.measure(frame, released, **base, choose=2)["dld"] == pytest.approx(np.mean(pairs))
    assert discreet.measure(frame, released, **base, interval="sd")["id"] != plain["id"]
    assert discreet.measure(frame, released, **base, known=["age"])["dld"] < plain["dld"]


def test_a_sample_is_marked_as_such() -> None:
    frame = mixed(2000)
    released = protected(frame)
    full = discreet.measure(frame, released, quasi=QUASI, key="key", measures=["dld"])
    some = discreet.measure(frame, released, quasi=QUASI, key="key", measures=["dld"], sample=500, seed=1)
    assert full["dld_standard_error"] is None
    assert abs(some["dld"] - full["dld"]) <= 3 * some["dld_standard_error"]
    assert "estimated from 500 records" in " ".join(some.summary().split())


def test_what_is_measured_is_what_was_asked_for() -> None:
    frame = mixed()
    released = protected(frame)
    fast = discreet.measure(frame, released, quasi=QUASI, key="key")
    everything = discreet.measure(
        frame, released, quasi=QUASI, key="key", measures="all", confidential=["ill", "visits"]
    )
    assert set(FAST) <= set(fast)
    assert set(ALL) <= set(everything)
    assert everything["dr"] == pytest.approx((everything["dld"] + everything["id"]) / 2)
    assert everything["score"] == pytest.approx((everything["il"] + everything["dr"]) / 2)
    assert everything["si"] == pytest.approx((everything["gil"] + everything["gdr"]) / 2)
    assert set(everything["l"]) == {"ill", "visits"}
    assert everything["risk"]["classes"]["mean"] <= 25


def more(released: pl.DataFrame) -> pl.DataFrame:
    return pl.concat([released, released.head(1).with_columns(key=pl.lit("new"))])


ODD: dict[str, tuple[Any, dict[str, Any], str]] = {
    "fewer rows": (lambda r: r.head(150), {}, "the original has 200 records and the release has 150"),
    "key has more": (more, {"key": "key"}, "1 row of it has no"),
    "key not unique": (lambda r: r.with_columns(key=pl.lit("x")), {"key": "key"}, "not unique"),
    "key missing": (lambda r: r.with_columns(key=pl.lit(None, pl.String)), {"key": "key"}, "is missing in 200"),
    "no such key": (lambda r: r, {"key": "id"}, "no column 'id'"),
    "column gone": (lambda r: r.drop("age"), {"key": "key"}, "no column 'age'"),
    "type differs": (lambda r: r.with_columns(age=pl.lit("x")), {"key": "key"}, "'age' is declared numeric"),
    "no quasi": (lambda r: r, {"key": "key", "quasi": None}, "name the quasi-identifiers"),
    "unknown measure": (lambda r: r, {"key": "key", "measures": "most"}, "unknown measure"),
    "unknown choice": (lambda r: r, {"key": "key", "direction": "up"}, "direction must be one of"),
    "unknown attribute": (lambda r: r, {"key": "key", "known": ["visits"]}, "'visits' is not among"),
    "too many": (lambda r: r, {"key": "key", "choose": 4}, "choose must be at most"),
    "key is quasi": (lambda r: r, {"key": "age"}, "cannot be a quasi-identifier as well"),
    "both": (lambda r: r, {"key": "key", "row_map": "map.csv"}, "either a key or a row map"),
}  # fmt: skip


@pytest.mark.parametrize("case", ODD)
def test_what_cannot_be_compared_is_named(case: str) -> None:
    change, options, said = ODD[case]
    frame = mixed()
    with pytest.raises(InputError, match=said):
        discreet.measure(frame, change(protected(frame)), **{"quasi": QUASI, **options})


def test_a_row_map_of_another_release_is_refused(tmp_path: Path) -> None:
    frame = mixed()
    pl.DataFrame({"release_row": [1, 2], "input_record": [2, 1]}).write_csv(tmp_path / "map.csv")
    with pytest.raises(InputError, match=r"map\.csv: it does not link"):
        discreet.measure(frame, protected(frame), quasi=QUASI, row_map=tmp_path / "map.csv")


def test_constant_single_and_blank_data_get_a_right_answer() -> None:
    constant = pl.DataFrame({"a": [1, 1, 1, 1], "b": [1, 2, 3, 4]})
    found = discreet.measure(constant, constant.with_columns(b=pl.lit(2.5)), quasi="all", measures="all")
    assert (found["il"], found["il_per_attribute"]["a"], found["k"]) == (100, 0, 4)
    assert found["dld"] == 25
    one = pl.DataFrame({"a": [1.5], "b": ["x"]})
    found = discreet.measure(one, one, quasi="all", measures=["il", "dld", "k", "risk", "id"])
    assert (found["il"], found["dld"], found["k"]) == (0, 100, 1)
    blank = constant.with_columns(b=pl.lit(None, pl.Float64))
    found = discreet.measure(constant, blank, quasi="all", measures="all")
    assert found["il_per_attribute"]["b"] == 100
    assert found["covers"]["blank"] == ["b"]
    assert found["gil_parts"]["attributes"] == ["a"]
    assert found["id_per_attribute"]["b"] == 0
    assert "'b' has no value in the release" in found.summary()


def test_a_sorted_release_of_ours_is_noticed_whatever_the_format(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    # Numbers that sort differently as text, no column that passes through.
    frame = pl.DataFrame({"a": rng.integers(5, 12000, 300), "b": rng.integers(5, 12000, 300)})
    frame.write_csv(tmp_path / "original.csv")
    release = discreet.protect(tmp_path / "original.csv", k=3, quasi="all", measures="none")
    for suffix in ("csv", "parquet", "xlsx"):
        out = tmp_path / f"out.{suffix}"
        release.write(out)
        for _ in range(2):
            with pytest.raises(InputError, match="order of the records was destroyed"):
                discreet.measure(tmp_path / "original.csv", out, quasi="all")
            # Without its record, the rows themselves tell.
            out.with_name(out.name + ".release.json").unlink(missing_ok=True)


def test_a_release_sorted_within_sorted_strata_is_noticed(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    frame = pl.DataFrame(
        {"region": np.sort(rng.integers(0, 4, 200)), "age": rng.integers(1, 99, 200), "pay": rng.normal(size=200)}
    )
    release = discreet.protect(frame, k=4, quasi=["age", "pay"], by="region", measures="none")
    release.write(tmp_path / "out.parquet")
    (tmp_path / "out.parquet.release.json").unlink()
    with pytest.raises(InputError, match="order of the records was destroyed"):
        discreet.measure(frame, tmp_path / "out.parquet", quasi=["age", "pay"])


def test_the_same_category_in_another_spelling_is_the_same(tmp_path: Path) -> None:
    frame = pl.DataFrame({"code": [4, 5, 4, 6], "flag": [True, False, True, True], "x": [3.5, 1.0, 2.0, 9.0]})
    frame.write_csv(tmp_path / "a.csv")
    spelled = frame.with_columns(
        code=pl.Series(["4.0", "5.0", "4.0", "6.0"]), flag=pl.Series(["True", "False"] + ["True"] * 2)
    )
    spelled.write_csv(tmp_path / "b.csv")
    frame.write_parquet(tmp_path / "c.parquet")
    for other in ("b.csv", "c.parquet"):
        found = discreet.measure(tmp_path / "a.csv", tmp_path / other, quasi="all", nominal="code", measures=["il"])
        assert found["il"] == 0
    strange = frame.with_columns(code=pl.lit(99))
    noted = discreet.measure(frame, strange, quasi="all", nominal="code", measures=["il"])
    assert any("1 category in the release that the original has not" in note for note in noted.notes)


@pytest.mark.parametrize(
    "keys", [list(range(6)), [123456789012345678 + i for i in range(6)], [f"k{i}" for i in range(6)]]
)
def test_keys_of_two_types_name_the_same_records(keys: list[object], tmp_path: Path) -> None:
    frame = pl.DataFrame({"key": keys, "x": [3.0, 1.0, 2.0, 9.0, 4.0, 0.5]})
    frame.write_csv(tmp_path / "a.csv")
    found = discreet.measure(tmp_path / "a.csv", frame.reverse(), quasi="x", key="key", measures=["il"])
    assert (found["il"], found.alignment) == (0, "key")


def test_keys_that_are_numbers_here_and_texts_there_are_not_the_same() -> None:
    frame = pl.DataFrame({"key": [1, 2, 3], "x": [3.0, 1.0, 2.0]})
    with pytest.raises(InputError, match="none of its rows has a record in the original by the key 'key'"):
        discreet.measure(frame, frame.with_columns(key=pl.Series(["a", "b", "c"])), quasi="x", key="key")


def test_what_is_made_of_an_estimate_is_one() -> None:
    frame = mixed(400)
    released = protected(frame)
    found = discreet.measure(frame, released, quasi=QUASI, key="key", measures="all", sample=100, confidential="ill")
    assert found["dr_standard_error"] == pytest.approx(found["dld_standard_error"] / 2)
    assert found["score_standard_error"] == pytest.approx(found["dld_standard_error"] / 4)
    assert found["gdr_standard_error"] > found["si_standard_error"] > 0
    assert found["risk"]["searched"] == 100
    assert found.summary().count("estimated from 100 records") >= 4


def test_a_sample_that_finds_nobody_is_not_sure_of_it() -> None:
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(rng.normal(size=(3000, 2)), schema=["a", "b"])
    hidden = pl.DataFrame(rng.normal(size=(3000, 2)), schema=["a", "b"])
    full = discreet.measure(frame, hidden, quasi="all", measures=["dld"])
    for seed in range(20):
        some = discreet.measure(frame, hidden, quasi="all", measures=["dld"], sample=200, seed=seed)
        assert abs(some["dld"] - full["dld"]) <= 3 * some["dld_standard_error"]


@pytest.mark.parametrize(
    "options",
    [
        {"width": "a"},
        {"width": [1, 2]},
        {"measures": 5},
        {"records": "yes"},
        {"choose": True},
        {"known": ["age", "age"]},
    ],
)
def test_arguments_of_a_wrong_type_are_named(options: dict[str, Any]) -> None:
    frame = mixed(20)
    with pytest.raises(InputError, match=next(iter(options))):
        discreet.measure(frame, protected(frame), **{"quasi": QUASI, "key": "key", **options})


def test_files_without_a_common_column_are_refused() -> None:
    with pytest.raises(InputError, match="no column in common"):
        discreet.measure(pl.DataFrame({"a": [1]}), pl.DataFrame({"b": [1]}), quasi="all")


def test_columns_of_odd_types_are_in_nobodys_way() -> None:
    frame = pl.DataFrame(
        {
            "x": [(i * 7) % 12 for i in range(12)],
            "c": pl.Series(["b", "a", "c"] * 4, dtype=pl.Categorical),
            "flag": [True, False] * 6,
            "list": [[i] for i in range(12)],
            "span": [timedelta(i) for i in range(12)],
            "bytes": [b"x"] * 12,
        }
    )
    quasi = ["x", "c", "flag"]
    release = discreet.protect(frame, k=3, quasi=quasi, confidential="rest", measures="all")
    assert release.measures["l"] == {}
    assert discreet.measure(frame, release.data, quasi=quasi)["il"] == pytest.approx(release.measures["il"])
    for odd in ("list", "span", "bytes"):
        with pytest.raises(InputError, match=f"'{odd}' is of type"):
            discreet.protect(frame, k=3, quasi=odd, nominal=odd, ignore="rest")


def test_years_and_dates_are_measured_in_standard_deviations_and_said_to_be() -> None:
    rng = np.random.default_rng(3)
    frame = pl.DataFrame(
        {
            "year": rng.integers(1970, 2000, 90),
            "born": [dt.date(1950, 1, 1) + dt.timedelta(days=int(day)) for day in rng.integers(0, 9_000, 90)],
            "income": rng.lognormal(8, 1, 90),
        }
    )
    release = discreet.protect(frame, k=3, quasi="all", method="mdav")
    measures = release.measures
    assert measures["id_by_sd"] == ["year", "born"]
    assert list(measures["id_per_attribute"]) == ["year", "born", "income"]
    assert measures["choices"]["interval"] == "scale"
    told = "of the numeric values lie within 10 % of the truth (year, born, without a true zero: within 0.1 standard"
    assert told in " ".join(release.summary().split())
    how: dict[str, Any] = {"quasi": "all", "measures": ["id", "dr", "score"]}
    by_scale = discreet.measure(frame, release.data, **how)
    relative = discreet.measure(frame, release.data, interval="relative", **how)
    assert by_scale["id"] == measures["id"] < relative["id"]
    assert told in " ".join(by_scale.summary().split())
    # The figures of the papers are what they were.
    assert by_scale["dr"] == relative["dr"] == measures["dr"]
    assert by_scale["score"] == relative["score"]
    assert relative["id_per_attribute"] == {"year": 100.0, "income": measures["id_per_attribute"]["income"]}
    assert "id_by_sd" not in relative
    with pytest.raises(discreet.InputError, match="relative, rank or sd"):
        discreet.group(frame, k=3, quasi="all", interval="scale")
