"""What a mistyped word was probably meant to be."""

from collections.abc import Iterable


def guess(word: str, known: Iterable[str]) -> str:
    """The sentence ` Did you mean 'order.paid'?`, or nothing where no word is near."""
    from difflib import get_close_matches

    near = get_close_matches(word, list(known), 1)
    return f" Did you mean {near[0]!r}?" if near else ""
