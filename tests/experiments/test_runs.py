"""Every run is done, kept and counted once, whatever happens in between."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import DiscreetError, InputError
from discreet.experiments.runs import FILE, Store, key, run_all
from experiments.tasks import alive, dying, failing, marks, noted, product, threads

TABLE = [{"a": a, "b": b} for a in range(7) for b in (0.1, -2.5, 1e300)]
TWELVE = [{"a": a} for a in range(12)]


def test_the_result_does_not_depend_on_the_number_of_processes() -> None:
    one = run_all(product, TABLE)
    many = run_all(product, TABLE, threads=3)
    assert one.drop("process").equals(many.drop("process"))
    assert one["product"].to_list() == [row["a"] * row["b"] for row in TABLE]
    assert set(one["process"]) == {os.getpid()}
    assert os.getpid() not in set(many["process"])


def test_runs_are_done_on_any_executor() -> None:
    with ThreadPoolExecutor(2) as executor:
        found = run_all(product, TABLE, executor=executor)
    assert found["product"].to_list() == [row["a"] * row["b"] for row in TABLE]


def test_processes_compute_on_one_thread_and_this_one_is_left_as_it_was() -> None:
    before = os.environ.get("OMP_NUM_THREADS")
    assert set(run_all(threads, TWELVE, threads=2)["threads"]) == {"1"}
    assert os.environ.get("OMP_NUM_THREADS") == before


def test_runs_that_are_kept_are_not_done_again(tmp_path: Path) -> None:
    task = partial(noted, tmp_path, 0.0)
    first = run_all(task, TWELVE[:5], store=tmp_path / "store")
    again = run_all(task, TWELVE, store=tmp_path / "store")
    assert again[:5].equals(first)
    assert again["square"].to_list() == [a * a for a in range(12)]
    assert marks(tmp_path) == dict.fromkeys(range(12), 1)


@pytest.mark.parametrize("lost", [1, 7, 30])
def test_half_a_line_is_a_run_that_is_done_again(tmp_path: Path, lost: int) -> None:
    task = partial(noted, tmp_path, 0.0)
    run_all(task, TWELVE, store=tmp_path / "store")
    file = tmp_path / "store" / FILE
    file.write_bytes(file.read_bytes()[:-lost])
    again = run_all(task, TWELVE, store=tmp_path / "store")
    assert again["square"].to_list() == [a * a for a in range(12)]
    assert marks(tmp_path) == {**dict.fromkeys(range(11), 1), 11: 2}
    assert len(file.read_text().splitlines()) == 13


KILLED = """
import sys
from functools import partial
from pathlib import Path
from discreet.experiments.runs import run_all
from experiments.tasks import noted
if __name__ == "__main__":
    folder, runs = Path(sys.argv[1]), [{"a": a} for a in range(12)]
    run_all(partial(noted, folder, 0.15), runs, store=folder / "store", threads=int(sys.argv[2]))
"""


@pytest.mark.parametrize("processes", [1, 2])
def test_a_killed_study_goes_on(tmp_path: Path, processes: int) -> None:
    script = tmp_path / "killed.py"
    script.write_text(KILLED)
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}
    study = subprocess.Popen([sys.executable, str(script), str(tmp_path), str(processes)], env=environment)
    file = tmp_path / "store" / FILE
    end = time.monotonic() + 60
    while time.monotonic() < end and study.poll() is None:
        if file.exists() and file.read_bytes().count(b"\n") >= 4:
            break
        time.sleep(0.02)
    study.send_signal(signal.SIGKILL)
    study.wait()
    with Store(tmp_path / "store", {}) as store:
        kept = len(store.done)
    assert 3 <= kept <= 12
    while alive(tmp_path) and time.monotonic() < end:
        time.sleep(0.02)
    assert alive(tmp_path) == [], "processes stay behind"
    before = marks(tmp_path)
    frame = run_all(partial(noted, tmp_path, 0.0), TWELVE, store=tmp_path / "store")
    assert frame["square"].to_list() == [a * a for a in range(12)]
    # What is kept is not done again; what was under way when the study was killed may be.
    assert sum(marks(tmp_path).values()) - sum(before.values()) <= 12 - kept
    assert set(marks(tmp_path)) == set(range(12))


@pytest.mark.parametrize("processes", [1, 2])
def test_a_failing_run_does_not_lose_those_before_it(tmp_path: Path, processes: int) -> None:
    with pytest.raises(ZeroDivisionError):
        run_all(failing, TWELVE, store=tmp_path, threads=processes)
    good = [setting for setting in TWELVE if setting["a"] != 5]
    assert run_all(failing, good, store=tmp_path)["square"].to_list() == [s["a"] ** 2 for s in good]


def test_a_process_that_dies_is_told_in_words(tmp_path: Path) -> None:
    with pytest.raises(DiscreetError, match="ended from outside"):
        run_all(dying, TWELVE, store=tmp_path, threads=2)
    with Store(tmp_path, {}) as store:
        assert key(TWELVE[5]) not in store.done


def test_two_equal_runs_are_refused() -> None:
    with pytest.raises(InputError, match="same settings"):
        run_all(product, [{"a": 1, "b": 2}, {"b": 2, "a": 1}])


def test_runs_about_other_data_are_refused(tmp_path: Path) -> None:
    run_all(product, TABLE, store=tmp_path, about={"data": "abc", "k": 3})
    with pytest.raises(InputError, match=r"another k \(3, now 4\)"):
        run_all(product, TABLE, store=tmp_path, about={"data": "abc", "k": 4})


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    run_all(product, TABLE, store=tmp_path)
    file = tmp_path / FILE
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join([*lines[:3], "{broken\n", *lines[4:]]))
    with pytest.raises(InputError, match="line 4"):
        run_all(product, TABLE, store=tmp_path)


def test_something_else_under_the_name_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("notes of mine\n")
    with pytest.raises(InputError, match="no file of runs"):
        run_all(product, TABLE, store=tmp_path)
    assert (tmp_path / FILE).read_text() == "notes of mine\n"


def test_a_second_study_waits_its_turn(tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    with Store(tmp_path, {}), pytest.raises(InputError, match="another study"):
        Store(tmp_path, {})
    Store(tmp_path, {}).close()


def test_progress_grows_to_one_and_the_time_left_to_nothing() -> None:
    told: list[tuple[str, float]] = []
    run_all(product, TABLE, progress=lambda stage, share: told.append((stage, share)))
    assert [share for _, share in told] == sorted(share for _, share in told)
    assert told[-1] == ("running, 0.0 s left", 1.0)


@given(st.dictionaries(st.text(), st.one_of(st.integers(), st.floats(), st.text(), st.none(), st.booleans())))
def test_settings_have_one_key_whatever_their_order(settings: dict[str, int | float | str | None]) -> None:
    backwards = dict(reversed(settings.items()))
    assert key(settings) == key(backwards)
