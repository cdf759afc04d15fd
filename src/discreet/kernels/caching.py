"""Where compiled kernels are kept: numba's cache is made of pickles, so only where nobody else can have put them.

That is the folder that NUMBA_CACHE_DIR in the environment names; else the one beside the sources, where a release was
compiled ahead or this user may write; else the user's own cache (`$XDG_CACHE_HOME/discreet/kernels`, or
`~/.cache/discreet/kernels`), which is open to nobody else. Owner and mode of each are looked at before anything is
read. Where none will do, kernels are compiled in each process anew.

Numba looks for settings in `.numba_config.yaml` of the current folder, which may be a folder of data. It is imported
here, and only here, such that it does not.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import stat
import sys
import tempfile
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from discreet.kernels.compiling import announce_compiling


def _import_numba() -> None:
    """Import numba without the settings of the current folder; who has imported it before has had them read already."""
    if "numba" in sys.modules:
        return
    missing = object()
    yaml: Any = sys.modules.get("yaml", missing)
    sys.modules["yaml"] = None  # type: ignore[assignment]  # without it the file cannot be read
    try:
        with warnings.catch_warnings(action="ignore"):  # that there is a file which cannot be
            from numba.core import config
    finally:
        del sys.modules["yaml"]
        if yaml is not missing:
            sys.modules["yaml"] = yaml
    # It looks again whenever it compiles.
    config._config_fname = ""


_import_numba()

from numba.core.caching import (  # noqa: E402
    CompileResultCacheImpl,
    FunctionCache,
    IndexDataCacheFile,
    InTreeCacheLocator,
    NullCache,
)

PACKAGE = Path(__file__).parent
# Other users may not change what is read, and may not even see into a folder of ours.
CHANGEABLE, OPEN = 0o022, 0o077
# What of numba is built on; where it is gone, nothing is cached.
KNOWN = ("_load_index", "_load_data", "load", "save")


class Unsafe(Exception):  # noqa: N818 - a reason, not a fault
    """Why a folder cannot be a cache."""


def cache_for(function: Callable[..., object], stamp: str) -> Any:
    """The cache of a kernel, which is to be made anew when the stamp is another; one that keeps nothing if need be."""
    file = Path(inspect.getfile(function))
    if not all(hasattr(IndexDataCacheFile, name) for name in KNOWN):
        return _NoCache("this numba keeps its cache in another way")
    if not file.is_file():
        return _NoCache("the kernel is in no file")
    try:
        folder, ahead = _find_places(file.parent, is_ours=PACKAGE in file.parents)
        return _Cache(function, file, folder, ahead, stamp)
    except Unsafe as error:
        return _NoCache(str(error))
    except OSError as error:
        return _NoCache(os.strerror(error.errno or 0))
    except RuntimeError:
        return _NoCache("this user has no home")


@cache
def _find_places(sources: Path, *, is_ours: bool) -> tuple[Path, Path | None]:
    """Where kernels of a folder of sources are kept, and where else they may have been compiled ahead."""
    # In the folder of a cache, one for each folder of sources.
    own = f"{sources.name}_{hashlib.sha256(os.fsencode(sources)).hexdigest()[:32]}"
    named = os.environ.get("NUMBA_CACHE_DIR")
    if named:
        if not os.path.isabs(named):  # noqa: PTH117 - of a text, not a path
            raise Unsafe("NUMBA_CACHE_DIR is no absolute path")
        return _make(Path(named), own, CHANGEABLE), None
    beside = sources / "__pycache__"
    ahead = beside if is_ours and _is_closed(sources, CHANGEABLE, sources) else None
    if ahead is not None:
        try:
            ahead.mkdir(exist_ok=True)
            tempfile.TemporaryFile(dir=ahead).close()  # to root every folder seems to be one that can be written to
            if _is_closed(ahead, CHANGEABLE, sources):
                return ahead, None
        except OSError:
            pass
        if not _is_closed(ahead, CHANGEABLE, sources):
            ahead = None
    said = os.environ.get("XDG_CACHE_HOME", "")
    # As the standard has it, a path from the current folder is none.
    home = Path(said) if os.path.isabs(said) else Path.home() / ".cache"  # noqa: PTH117
    try:
        return _make(home / "discreet" / "kernels", own, OPEN), ahead
    except (OSError, Unsafe):
        if ahead is None:
            raise
        return ahead, None


def _make(folder: Path, own: str, mode: int) -> Path:
    """A folder within a folder for a cache, both made if need be; refused if others can change them."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    for part in (folder, folder / own):
        part.mkdir(mode=0o700, exist_ok=True)
        if not _is_closed(part, mode):
            raise Unsafe(f"{part} belongs to another user, or others can write to it")
    return folder / own


def _is_closed(path: Path, mode: int, like: Path | None = None) -> bool:
    """Whether no other user than root, and the owner of the sources, can have changed a folder or a file.

    Parameters
    ----------
    path : Path
        The folder or the file; a link is none.
    mode : int
        What others must not be allowed to do.
    like : Path, optional
        The folder of the sources.
    """
    try:
        found = path.lstat()
        if stat.S_ISLNK(found.st_mode):
            return False
        if not hasattr(os, "geteuid"):  # Windows, where it would say nothing
            return True
        return found.st_uid in {0, os.geteuid(), (like or path.parents[-1]).stat().st_uid} and not found.st_mode & mode
    except OSError:
        return False


class _Place(InTreeCacheLocator):
    """Where the cache of a kernel is."""

    def __init__(self, function: Any, file: Path, folder: Path) -> None:
        usual: Any = super()
        usual.__init__(function, str(file))
        self._cache_path = str(folder)

    def ensure_cache_path(self) -> None:
        """Nothing: it was made when it was looked for."""


class _CacheFile(IndexDataCacheFile):
    """What is cached of a kernel; what the folder has not is looked for where it was compiled ahead.

    An image is made by one user, by whom its kernels are compiled, and run by others, who cannot write there.
    """

    def __init__(self, folder: Path, name: str, stamp: str, sources: Path, ahead: Path | None) -> None:
        usual: Any = super()
        usual.__init__(str(folder), name, stamp)
        # What is stale must not even be unpickled: it may name classes that are gone. The version is looked at before.
        self._version = f"{self._version} {stamp}"
        self._sources = sources
        self.ahead = None if ahead is None else _CacheFile(ahead, name, stamp, sources, None)

    def load(self, key: Any) -> Any:
        """What was compiled for a signature, if anything was."""
        usual: Any = super()
        found = usual.load(key)
        return self.ahead.load(key) if found is None and self.ahead is not None else found

    def save(self, key: Any, data: Any) -> None:
        """Keep what was compiled, where that is possible."""
        usual: Any = super()
        with suppress(OSError):
            usual.save(key, data)

    def holds_any(self) -> bool:
        """Whether anything was compiled."""
        return bool(self._load_index() or (self.ahead is not None and self.ahead._load_index()))

    def _load_index(self) -> Any:
        usual: Any = super()
        try:
            return usual._load_index() if self._is_safe(self._index_path) else {}
        except OSError:  # no folder, or one that may not be read
            return {}

    def _load_data(self, name: str) -> Any:
        usual: Any = super()
        if not self._is_safe(usual._data_path(name)):
            raise FileNotFoundError
        return usual._load_data(name)

    def _is_safe(self, path: str) -> bool:
        """Whether a file can be from nobody else; where only its owner can look in, its own mode says nothing."""
        file = Path(path)
        mode = 0 if _is_closed(file.parent, OPEN) else CHANGEABLE
        return _is_closed(file.parent, CHANGEABLE, self._sources) and _is_closed(file, mode, self._sources)


class _Cached(CompileResultCacheImpl):
    """What numba does with a kernel to cache it, in a place that we choose."""

    def __init__(self, function: Any, file: Path, folder: Path) -> None:
        self._lineno = function.__code__.co_firstlineno
        self._locator = _Place(function, file, folder)
        usual: Any = super()
        abi = getattr(sys, "abiflags", "")
        self._filename_base = usual.get_filename_base(f"{file.stem}.{function.__qualname__}", abi)


class _Cache(FunctionCache):
    """The cache of a kernel; who waits hears of it when there is nothing in it."""

    def __init__(self, function: Any, file: Path, folder: Path, ahead: Path | None, stamp: str) -> None:
        self._name, self._py_func, self._cache_path = repr(function), function, str(folder)
        self._impl = _Cached(function, file, folder)
        self._cache_file = _CacheFile(folder, self._impl.filename_base, stamp, file.parent, ahead)
        self._enabled = True

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """What was compiled for a signature, if anything was."""
        usual: Any = super()
        found = usual.load_overload(sig, target_context)
        if found is None:
            announce_compiling("")
        return found


class _NoCache(NullCache):
    """Where a kernel is compiled in each process anew, and why."""

    def __init__(self, why: str) -> None:
        self._why = why

    def load_overload(self, _sig: Any, _target_context: Any) -> None:
        """Nothing."""
        announce_compiling(self._why)
