"""What a handler has done: runs the `--check` command that prints it, and compares two outputs.

`svc events examine --check` makes the command; `examiner` runs it before and after the deliveries
of a rule, and counts whether a repeated event had its effect once.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Mapping
from decimal import Decimal
from functools import partial
from typing import Final

from svc.api_keys import without_secrets
from svc.errors import UsageError, system_words
from svc.listen.examine.events import MADE_UP_ID
from svc.listen.running import CommandRun
from svc.system.processes import build_group_options

_SECONDS: Final = 10.0
_SECONDS_TO_END: Final = 0.1
_BYTES_MAX: Final = 1024 * 1024


class CheckCommand:
    """One shell command line, run several times, without svc's keys and secrets (R43)."""

    def __init__(self, command: str, env: Mapping[str, str]) -> None:
        self._command = command
        self._env = without_secrets(env)

    async def __call__(self) -> str:
        """Returns what it prints; its errors go where ours go.

        Raises:
            UsageError: it fails, prints 1 MiB or more, or takes more than 10 s.
        """
        loop = asyncio.get_running_loop()
        begin = partial(CommandRun, _BYTES_MAX)
        apart = build_group_options()
        try:
            _, run = await loop.subprocess_shell(
                begin, self._command, env=self._env, stderr=None, **apart
            )
        except OSError as error:
            raise refuse_check(f"the shell cannot be run: {system_words(error)}") from None
        try:
            code = await run.finish(b"", _SECONDS)
        finally:
            await run.end(_SECONDS_TO_END)
        if code is None:
            raise refuse_check(f"it takes more than {_SECONDS:g} s")
        if code:
            raise refuse_check(f"it ended with exit code {code}")
        if len(run.output) == _BYTES_MAX:
            raise refuse_check("it prints over 1 MiB")
        return run.output.decode("utf-8", "replace")


def refuse_check(why: str, hint: str = "Run it by itself to see what it prints") -> UsageError:
    """Builds the error of a command whose output cannot be used."""
    return UsageError(
        f"--check cannot tell what the handler has done: {why}.",
        code="check_command_failed",
        param="--check",
        hint=hint,
    )


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
