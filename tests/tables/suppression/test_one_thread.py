"""Linear algebra on one thread, and as before afterwards."""

import numpy as np
import scipy.linalg
from threadpoolctl import threadpool_info, threadpool_limits

from discreet.tables.suppression.lattice import one_thread


def threads() -> list[int]:
    return [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]


def test_all_libraries_have_one_thread_and_get_theirs_back() -> None:
    with threadpool_limits(limits=2, user_api="blas"):
        before = threads()
        with one_thread():
            assert threads()
            assert set(threads()) == {1}
            np.testing.assert_array_equal(scipy.linalg.cholesky(np.eye(300)), np.eye(300))
        assert threads() == before
