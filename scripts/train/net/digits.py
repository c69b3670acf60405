"""What digits have said so far, place by place.

Comparing numbers needs their size, which stands in no token: it is how many digits there are, and
what the first ones are. A head that is thrown away asks for just that at every digit.
"""

from __future__ import annotations

import numpy as np

from tokens.vocabulary import ZERO

_MOST_DIGITS = 6

#: How long the number is so far, and its first two digits.
CLASSES = _MOST_DIGITS * 100


def digit_classes(tokens: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """
    :param tokens: A flat list, in which something else than a digit ends every row.
    :returns: The places of digits, and the class of each.
    """
    is_digit = (tokens >= ZERO) & (tokens <= ZERO + 9)
    places = np.flatnonzero(is_digit)
    if len(places) == 0:
        return places, places
    begins = np.ones(len(places), bool)
    begins[1:] = np.diff(places) > 1
    first = np.maximum.accumulate(np.where(begins, np.arange(len(places)), 0))
    index = np.arange(len(places)) - first
    digits = tokens[places] - ZERO
    second = np.where(index > 0, digits[np.minimum(first + 1, len(places) - 1)], 0)
    length = np.minimum(index, _MOST_DIGITS - 1)
    return places, length * 100 + digits[first] * 10 + second
