"""The score as the target: never worse than what was asked for in the first place."""

import itertools

import numpy as np
import polars as pl
import pytest

import discreet
from discreet.errors import InputError
from discreet.microdata.options import Settings
from discreet.microdata.preparation import choose_size


def test_the_least_score_of_growing_sizes_is_taken() -> None:
    seen: list[tuple[str, int]] = []

    def score(trial: Settings) -> float:
        seen.append((str(trial.method), trial.k))
        if trial.k > 14:
            raise InputError("too large")
        return abs(trial.k - 10) + (0.0 if trial.method == "mdav" else 0.5)

    chosen, notes = choose_size(Settings(k=3, method="memetic", steps=40), ["memetic", "mdav"], score)
    assert (chosen.method, chosen.k, chosen.steps) == ("mdav", 10, 40)
    assert "k = 3 was asked for" in notes[0]
    sizes = [size for method, size in seen if method == "memetic"]
    assert sizes[0] == 3
    assert all(one < other for one, other in itertools.pairwise(sizes))


def test_a_release_for_the_score_scores_no_worse_and_keeps_k() -> None:
    rng = np.random.default_rng(5)
    frame = pl.DataFrame(rng.normal(100, 10, (120, 3)), schema=["a", "b", "c"])
    for_loss = discreet.protect(frame, k=3, quasi="all", method="mdav")
    for_score = discreet.protect(frame, k=3, quasi="all", method="mdav", target="score")
    assert for_score.measures["score"] <= for_loss.measures["score"]
    assert for_score.measures["smallest_group"] >= 3
    assert for_score.promise.k == for_score.evidence["parameters"]["k"] >= 3
    assert any("had the least score" in note for note in for_score.evidence["notes"])
    again = discreet.protect(frame, k=3, quasi="all", target="score", steps=20)
    assert again.data.equals(discreet.protect(frame, k=3, quasi="all", target="score", steps=20, threads=2).data)


def test_categories_alone_have_no_score() -> None:
    with pytest.raises(InputError, match="needs a numeric quasi-identifier"):
        discreet.protect(pl.DataFrame({"a": list("aabb")}), k=2, quasi="all", target="score", method="mdav")
    with pytest.raises(InputError, match="target is 'risk'"):
        discreet.protect(pl.DataFrame({"a": [1, 2]}), k=2, quasi="all", target="risk")
