"""What digits have said so far, place by place.

Comparing numbers needs their size, which stands in no token: it is how many digits there are, and
what the first ones are. A head that is thrown away asks for just that at every digit: whether
there are two or more so far, three or more, and so on; whether the first one is 1 or more, 2 or
more, and so on. So each lies on a line of its own, and the larger of two is a matter of subtraction.
"""

from __future__ import annotations

import numpy as np

from tokens.vocabulary import ZERO

_MOST_DIGITS = 6
_SHOWN = 3

#: Questions at each digit.
STEPS = _MOST_DIGITS - 1 + 9 * _SHOWN


def digit_steps(tokens: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """
    :param tokens: A flat list, in which something else than a digit ends every row.
    :returns: The places of digits, and for each a row of noughts and ones.
    """
    is_digit = (tokens >= ZERO) & (tokens <= ZERO + 9)
    places = np.flatnonzero(is_digit)
    if len(places) == 0:
        return places, np.zeros((0, STEPS), np.float32)
    begins = np.ones(len(places), bool)
    begins[1:] = np.diff(places) > 1
    first = np.maximum.accumulate(np.where(begins, np.arange(len(places)), 0))
    index = np.arange(len(places)) - first
    digits = tokens[places] - ZERO
    length = index[:, None] >= np.arange(1, _MOST_DIGITS)
    shown = [
        np.where(index >= i, digits[np.minimum(first + i, len(places) - 1)], 0)
        for i in range(_SHOWN)
    ]
    steps = [digit[:, None] >= np.arange(1, 10) for digit in shown]
    return places, np.concatenate([length, *steps], 1).astype(np.float32)
