"""Runs the command of `svc events examine --check`, which prints what a handler has done.

`examiner` runs it before and after the deliveries of a rule and compares the outputs by `effects`.
"""

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Final

from svc.api_keys import without_secrets
from svc.errors import UsageError, system_words
from svc.listen.running.process import CommandRun
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
