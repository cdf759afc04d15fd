"""Random numbers for kernels: a small state that the caller owns, so that a run can be saved, resumed and repeated.

xoshiro256+ for floats and choices, seeded by splitmix64: D. Blackman, S. Vigna, Scrambled linear pseudorandom number
generators, ACM Transactions on Mathematical Software 47 (2021) 36. Streams of one seed are independent of each other.
"""

import numpy as np

from discreet.kernels.arrays import Words
from discreet.kernels.jit import helper, kernel


@kernel
def seeded(seed: int, stream: int) -> Words:
    """The state of a stream of a seed."""
    state = np.empty(4, np.uint64)
    # Odd factors other than splitmix's own increment, by which the states of neighbouring seeds would overlap.
    x = np.uint64(seed) * np.uint64(0xD6E8FEB86659FD93) ^ np.uint64(stream) * np.uint64(0xD1342543DE82EF95)
    for i in range(4):
        x += np.uint64(0x9E3779B97F4A7C15)
        z = x
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        state[i] = z ^ (z >> np.uint64(31))
    return state


@helper
def word(state: Words) -> int:
    """64 random bits; the upper ones are the better ones."""
    result = state[0] + state[3]
    t = state[1] << np.uint64(17)
    state[2] ^= state[0]
    state[3] ^= state[1]
    state[1] ^= state[2]
    state[0] ^= state[3]
    state[2] ^= t
    state[3] = (state[3] << np.uint64(45)) | (state[3] >> np.uint64(19))
    return result  # type: ignore[no-any-return]


@kernel
def uniform(state: Words) -> float:
    """A number in [0, 1)."""
    return float(np.float64(word(state) >> np.uint64(11)) * 2.0**-53)


@kernel
def below(state: Words, bound: int) -> int:
    """A whole number from 0 to bound−1."""
    return int(np.int64(uniform(state) * bound))
