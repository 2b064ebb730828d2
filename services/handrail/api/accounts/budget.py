"""How many wrong pairing codes may be tried, and what that makes the chance of guessing one.

A wrong try against `n` live codes of a space of `s` codes is right with chance n / s. Every try is charged exactly that
chance, in units of 1e-9, to the budget of the last 25 hours *before* it is looked up, and a right code gets it back. So the
chance that guessing succeeds within any day is at most the sum of the two budgets, 0.0009 < 1 in 1,000, no matter how many
peers guess, how many replicas there are and how many codes are live. The decision note 041 has the calculation.

- digit codes (1,000,000 of them): 0.0008 a day = 800 wrong tries while one code is live, 400 while two are
- hardened codes (32^6): 0.0001 a day = 100,000 wrong tries while one code is live

When the first is spent, codes of digits are neither shown nor accepted any more, and `handrail paircode` gives hardened ones:
a guesser can stop the comfort of the continuous display, but not pairing. Each hardened code gives every peer a few tries
whatever that peer did before, so that a slowed-down address can still pair with the code its user just asked for.
"""

from __future__ import annotations

from handrail.api.accounts.codes import SPACE

NANO = 1_000_000_000
DIGIT_BUDGET = 800_000  # nano-chance a day
HARDENED_BUDGET = 100_000
HOURS = 25  # buckets of an hour: any 24 hours lie within 25 of them
FREE_TRIES = 5  # of one peer before it is slowed down
FIRST_DELAY_S = 2
MAX_DELAY_S = 900
FORGET_S = 3600  # a peer without a wrong try for this long starts afresh
TRIES_PER_CODE = 3  # of one peer against one hardened code, past the delay


def charge(*, digit_codes: int, hardened_codes: int) -> tuple[int, int]:
    """Nano-chance of one try against so many live codes, rounded up: (of digits, hardened)."""
    return -(-digit_codes * NANO // SPACE[False]), -(-hardened_codes * NANO // SPACE[True])


def delay_s(failures: int) -> int:
    """How long a peer waits after its `failures`-th wrong try in a row: 0 for the first five, then 2, 4, 8 ... 900 s."""
    if failures < FREE_TRIES:
        return 0
    return min(MAX_DELAY_S, FIRST_DELAY_S << min(failures - FREE_TRIES, 20))
