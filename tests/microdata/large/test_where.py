"""Wherever the work is done, in this process, in two, or on a cluster, the release is the same to the last byte."""

import io
import logging
import shutil
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dask
import polars as pl
import pytest
from distributed import LocalCluster, Security

import discreet
from canary import CANARY
from discreet import executors
from discreet.errors import DiscreetError, InputError
from discreet.executors import Pool, TaskFailed, guard, list_versions, open_pool
from microdata.large.registers import ROLES, read_bytes, register, write_parts

HOW: dict[str, Any] = {"k": 3, "method": "tour", "block_records": 200, **ROLES}


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, bytes]]:
    """A register in parts, and its release made in this process."""
    folder = tmp_path_factory.mktemp("where")
    data = write_parts(register(), folder / "in")
    discreet.protect_large(data, folder / "out", workers=1, **HOW)
    return data, read_bytes(folder / "out")


def test_two_processes_give_the_same_bytes(tmp_path: Path, here: tuple[Path, dict[str, bytes]]) -> None:
    release = discreet.protect_large(here[0], tmp_path / "out", workers=2, **HOW)
    assert read_bytes(tmp_path / "out") == here[1]
    assert release.evidence["parameters"]["workers"] == 2


@pytest.fixture
def _safe(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let workers of clusters be started as the manual says."""
    monkeypatch.setenv("PYTHONSAFEPATH", "1")


@contextmanager
def _cluster(**further: Any) -> Iterator[Any]:
    how: dict[str, Any] = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with LocalCluster(host="127.0.0.1", silence_logs=False, **how | further) as cluster:  # type: ignore[no-untyped-call]
        yield cluster


@pytest.mark.usefixtures("_safe")
def test_a_cluster_gives_the_same_bytes(
    tmp_path: Path, here: tuple[Path, dict[str, bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And where something is wrong, neither a message nor a log of the cluster quotes a value."""
    heard = io.StringIO()
    handler = logging.StreamHandler(heard)
    logging.getLogger().addHandler(handler)
    with _cluster() as cluster:
        address = cluster.scheduler_address
        release = discreet.protect_large(here[0], tmp_path / "out", cluster=address, **HOW)
        assert read_bytes(tmp_path / "out") == here[1]
        assert release.evidence["parameters"]["versions"]["discreet"] == discreet.__version__
        # The recount, too, is made there, and leaves nothing behind.
        assert discreet.verify(tmp_path / "out", cluster=address).checks == release.verification.checks
        assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "out.evidence.json"]
        bad = write_parts(
            register().with_columns(pl.col("income").cast(pl.String)), tmp_path / "bad", format_name="csv"
        )
        last = bad / "in-3.csv"
        last.write_text(last.read_text().replace(",small,", f",small {CANARY},", 1))
        with pytest.raises(DiscreetError, match="values that are not in its order") as refused:
            discreet.protect_large(bad, tmp_path / "worse", cluster=address, **HOW)
        assert CANARY not in str(refused.value)
        monkeypatch.setattr(executors, "__version__", "0.0.0")
        with pytest.raises(InputError, match=r"a worker has other versions: discreet .* there, 0.0.0 here"):
            discreet.protect_large(here[0], tmp_path / "mixed", cluster=address, **HOW)
        logs = str(cluster.get_logs())
    logging.getLogger().removeHandler(handler)
    assert CANARY not in logs + heard.getvalue()
    assert not (tmp_path / "worse").exists()
    assert not (tmp_path / "mixed").exists()


def test_a_recount_in_two_processes_finds_what_one_does(tmp_path: Path, here: tuple[Path, dict[str, bytes]]) -> None:
    discreet.protect_large(here[0], tmp_path / "out", workers=1, **HOW)
    assert discreet.verify(tmp_path / "out", workers=2) == discreet.verify(tmp_path / "out")
    path = tmp_path / "out" / "part-00001.parquet"
    pl.read_parquet(path).with_columns(age=pl.int_range(pl.len()).cast(pl.Float64)).write_parquet(path)
    assert not discreet.verify(tmp_path / "out", workers=2)
    with pytest.raises(InputError, match="recount a folder"):
        discreet.verify(pl.DataFrame({"a": [1, 1]}), quasi=["a"], k=2, workers=2)


def test_workers_that_import_what_lies_beside_the_data_are_refused(
    tmp_path: Path, here: tuple[Path, dict[str, bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    with _cluster(n_workers=1) as cluster:
        with pytest.raises(DiscreetError, match="PYTHONSAFEPATH=1") as refused:
            discreet.protect_large(here[0], tmp_path / "out", cluster=cluster.scheduler_address, **HOW)
        assert refused.value.exit_status == 2
    # One that comes later is not asked before it has a task.
    assert executors.guard_on_cluster(sorted, [[2, 1]])["code"] == "input"
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("_safe")
def test_an_encrypted_cluster(tmp_path: Path, here: tuple[Path, dict[str, bytes]]) -> None:
    """With certificates in Dask's own settings; without them nobody gets in."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl to make certificates with")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1",
         "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate],
        check=True, capture_output=True,
    )  # fmt: skip
    tls: dict[str, Any] = {"distributed.comm.tls.ca-file": str(certificate)}
    for who in ("scheduler", "worker", "client"):
        tls |= {f"distributed.comm.tls.{who}.cert": str(certificate), f"distributed.comm.tls.{who}.key": str(key)}
    with dask.config.set(tls), _cluster(protocol="tls://", security=Security()) as cluster:  # type: ignore[no-untyped-call]
        address = cluster.scheduler_address
        assert address.startswith("tls://")
        discreet.protect_large(here[0], tmp_path / "out", cluster=address, **HOW)
        assert read_bytes(tmp_path / "out") == here[1]
        nobody = dask.config.set(dict.fromkeys(tls))
        with nobody, pytest.raises(InputError, match="no Dask scheduler that can be reached"):
            discreet.verify(tmp_path / "out", cluster=address)


class Elsewhere(Executor):
    """Workers that are given other arguments, or do everything twice at once."""

    def __init__(self, change: Callable[[Any], Any] = lambda given: given, *, twice: bool = False) -> None:
        self._threads, self._change, self._twice = ThreadPoolExecutor(2), change, twice

    def submit(self, function: Any, /, *given: Any, **_more: Any) -> Future[Any]:
        task, arguments = given
        other = self._threads.submit(function, task, arguments) if self._twice else None
        found = self._threads.submit(function, task, self._change(arguments))
        if other is not None:
            other.result()
        return found


def test_a_task_done_twice_at_once_does_no_harm(tmp_path: Path, here: tuple[Path, dict[str, bytes]]) -> None:
    discreet.protect_large(here[0], tmp_path / "out", executor=Elsewhere(twice=True), **HOW)
    assert read_bytes(tmp_path / "out") == here[1]


def test_workers_that_see_another_folder_are_refused(tmp_path: Path, here: tuple[Path, dict[str, bytes]]) -> None:
    elsewhere = Elsewhere(lambda given: (given[0].replace("out.work", "elsewhere"), *given[1:]))
    with pytest.raises(InputError, match="does not see the work folder"):
        discreet.protect_large(here[0], tmp_path / "out", executor=elsewhere, **HOW)
    assert not (tmp_path / "out").exists()


def _fail(kind: str) -> str:
    if kind == "ours":
        raise InputError("column 'x' is wrong")
    if kind == "memory":
        raise MemoryError
    if kind == "disk":
        raise OSError(28, f"no space for {CANARY}")
    if kind == "theirs":
        raise RuntimeError(f"could not parse {CANARY}")
    return kind


@pytest.mark.parametrize(
    ("kind", "code", "words"),
    [
        ("ours", "input", "column 'x' is wrong"),
        ("memory", "memory", "not enough memory"),
        ("disk", "write", "No space left"),
        ("theirs", "fault", "RuntimeError in test_where.py"),
    ],
)
def test_exceptions_become_codes_that_quote_nothing(kind: str, code: str, words: str) -> None:
    found = guard(_fail, [kind])
    assert found["code"] == code
    assert words in found["message"]
    assert CANARY not in found["message"]
    with pytest.raises(TaskFailed) as failed:
        Pool(None, 1).run(_fail, [["fine"], [kind]])
    assert failed.value.code == code


def test_executors_that_die_are_made_anew_and_given_up_in_the_end() -> None:
    made: list[int] = []

    class Dying(Executor):
        def submit(self, function: Any, /, *given: Any, **_more: Any) -> Future[Any]:
            future: Future[Any] = Future()
            if len(made) < 3:
                future.set_exception(RuntimeError("killed"))
            else:
                future.set_result(function(*given))
            return future

    def make() -> Executor:
        made.append(1)
        return Dying()

    assert Pool(make, 2).run(_fail, [["a"], ["b"], ["c"]]) == ["a", "b", "c"]
    with pytest.raises(TaskFailed, match="again and again"):
        Pool(lambda: Elsewhere(lambda _given: 1 / 0), 2).run(_fail, [["a"]])


def test_only_loopback_or_encrypted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executors, "CONNECTING", 0.3)
    for address in ("tcp://10.1.2.3:8786", "tcp://scheduler:8786"):
        with pytest.raises(InputError, match="is not encrypted"), open_pool(cluster=address):
            pass
    with pytest.raises(InputError, match="no Dask scheduler that can be reached"):  # noqa: SIM117
        with open_pool(cluster="tcp://127.0.0.1:9"):
            pass
    assert set(list_versions()) >= {"discreet", "python", "polars", "pyarrow", "numpy", "numba"}
