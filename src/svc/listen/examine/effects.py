"""Compares two outputs of the `--check` command to find what a handler has done in between.

`examiner` counts with it whether a repeated event had its effect once.
"""

import re
from collections import Counter
from decimal import Decimal
from typing import Final

from svc.listen.examine.events import MADE_UP_ID

# How much there is of each part of an output: the count of a word, and the sum of its numbers.
Effects = dict[tuple[str, int], Decimal]

_WORD: Final = re.compile(r"[^\s,\[\]{}]+")
_NUMBER: Final = re.compile(r"(?<![\w.])-?[0-9]+(?:\.[0-9]+)?(?![\w.])")
_EVENTS_MAX: Final = 100
_WORDS_SHOWN: Final = 4


def read_effects(output: str) -> Effects:
    """Counts the words of an output; a made-up id counts by the kind of its object alone.

    A number counts by its value: `3` or `{"fulfilled":3}` shows three effects, as do three lines.
    """
    effects: Effects = {}
    for word in _WORD.findall(MADE_UP_ID.sub(r"\1", output)):
        numbers = _NUMBER.findall(word)
        shape = _NUMBER.sub("#", word)
        counted = [Decimal(0 if numbers else 1), *map(Decimal, numbers)]
        for place, amount in enumerate(counted):
            effects[shape, place] = effects.get((shape, place), Decimal(0)) + amount
    return effects


def compare_outputs(before: str, after: str) -> Effects:
    """Returns what changed between two outputs; nothing where they show the same effects."""
    return subtract_effects(read_effects(after), read_effects(before))


def subtract_effects(more: Effects, less: Effects) -> Effects:
    """Returns by how much the first has more of each part, below zero where it has less."""
    parts = {key: more.get(key, Decimal(0)) - less.get(key, Decimal(0)) for key in {**more, **less}}
    return {key: amount for key, amount in parts.items() if amount}


def count_events(change: Effects, single: Effects) -> int | None:
    """Returns of how many events a change is the effect, given that of a single one; else None."""
    if not change:
        return 0
    first = next(iter(single))
    count = change.get(first, Decimal(0)) / single[first]
    is_whole = count == int(count) and 0 < count <= _EVENTS_MAX
    fits = is_whole and change == {key: amount * count for key, amount in single.items()}
    return int(count) if fits else None


def describe_difference(found: Effects, wanted: Effects) -> str:
    """Returns which words an output has too many and too few of, such as `2 more of 'paid'`."""
    amounts = Counter(
        {shape: int(amount) for (shape, _), amount in subtract_effects(found, wanted).items()}
    )
    parts = [
        f"{abs(amount):,} {'more' if amount > 0 else 'fewer'} of {shape!r}"
        for shape, amount in amounts.most_common()
        if amount
    ]
    return ", ".join(parts[:_WORDS_SHOWN])
