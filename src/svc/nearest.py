"""Finds the known words that a mistyped word was probably meant to be: a spelling suggestion.

One rule for the whole program: `cli` uses it for commands and help topics, `config` for names of
settings, `client` for paths and fields, `batch` for columns, `errors` for words of a closed set. A
word with one wrong letter (two from eight letters on) is a slip; nothing else is guessed, since a
far-fetched guess would be worse than none.
"""

from collections.abc import Iterable
from typing import Final

_TWO_SLIPS: Final = 8  # letters; in a shorter word one is as much as is still the same word
_BEGINNING: Final = 3


def find_near_words(word: str, known: Iterable[str]) -> list[str]:
    """The known words that a word misspells by a slip or two, or that it begins; best first."""
    typed = word.lstrip("-").casefold()
    if len(typed) < _BEGINNING or typed.isdigit():  # a number is meant as it is
        return []
    found = []
    for each in known:
        right = each.lstrip("-").casefold()
        most = 2 if max(len(typed), len(right)) >= _TWO_SLIPS else 1
        far = 0 if right.startswith(typed) else slips(typed, right, most)
        if far <= most:
            found.append((far, each))
    return [each for _, each in sorted(found, key=lambda pair: pair[0])]


def explain_meant(words: Iterable[str]) -> str:
    """The question that ends a refusal, such as ` Did you mean 'orders'?`; empty without words."""
    named = [repr(word) for word in words]
    if not named:
        return ""
    listed = named[0] if len(named) == 1 else f"{', '.join(named[:-1])} or {named[-1]}"
    return f" Did you mean {listed}?"


def slips(left: str, right: str, most: int) -> int:
    """Counts wrong, extra, missing and swapped letters; above `most` it may stop counting."""
    if abs(len(left) - len(right)) > most:
        return most + 1
    before: list[int] = []
    last = list(range(len(right) + 1))
    for row, letter in enumerate(left, 1):
        new = [row]
        for column, other in enumerate(right, 1):
            best = min(last[column] + 1, new[-1] + 1, last[column - 1] + (letter != other))
            if row > 1 and column > 1 and left[row - 2 : row] == other + right[column - 2]:
                best = min(best, before[column - 2] + 1)
            new.append(best)
        before, last = last, new
    return last[-1]
