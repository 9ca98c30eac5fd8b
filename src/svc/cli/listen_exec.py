"""The command of `--exec`: run by the shell beside a listener, and ended with it."""

import asyncio
import signal
from collections.abc import Callable, Mapping
from typing import Final

from svc.errors import LocalError
from svc.keys.kinds import SIGNING_VARIABLE
from svc.keys.resolve import VARIABLE as KEY_VARIABLE
from svc.system.processes import Group, group_of_its_own

_SECONDS_TO_END: Final = 0.8  # promise R78: we stop in under a second
_LOOK_SECONDS: Final = 0.01
_STDERR: Final = 2  # stdout holds our records


class Companion:
    """One command line for the shell, in a session of its own.

    So a Ctrl-C reaches only the listener, which then ends everything that the command has started
    and not moved into a session of its own. The signing secret is in its environment and nowhere
    else; an API key is not (promise R43).
    """

    def __init__(self, command: str, env: Mapping[str, str], secret: str) -> None:
        self._command = command
        self._env = {name: value for name, value in env.items() if name != KEY_VARIABLE}
        self._env[SIGNING_VARIABLE] = secret
        self._group: Group | None = None
        self._watching: asyncio.Task[None] | None = None
        self._asked_at: float | None = None
        self._broken: OSError | None = None
        self.code: int | None = None

    def start(self, ended: Callable[[], None]) -> None:
        """Starts it inside the running loop; calls `ended` when it has ended by itself."""
        self._watching = asyncio.get_running_loop().create_task(self._watch(ended))

    def terminate(self, number: int = signal.SIGTERM) -> None:
        """Asks it and all that it has left running to end, with the signal that ended us."""
        if self._group is not None and self._asked_at is None:
            self._asked_at = asyncio.get_running_loop().time()
            self._group.ask(number)

    async def close(self) -> None:
        """Ends it and what it has left running, by force after 0.8 s.

        Raises:
            LocalError: there was no shell to run it.
        """
        if self._watching is None:
            return
        while self._group is None and not self._watching.done():  # noqa: ASYNC110  it is starting
            await asyncio.sleep(_LOOK_SECONDS)
        self.terminate()
        loop = asyncio.get_running_loop()
        end = (self._asked_at or loop.time()) + _SECONDS_TO_END
        if self._group is not None:
            while self._group.lives() and loop.time() < end:  # noqa: ASYNC110  nobody tells of it
                await asyncio.sleep(_LOOK_SECONDS)
            self._group.kill()
        await self._watching
        if self._broken is not None:
            why = (self._broken.strerror or str(self._broken)).lower()
            raise LocalError(f"--exec: the shell cannot be run: {why}.")

    async def _watch(self, ended: Callable[[], None]) -> None:
        try:
            process = await asyncio.create_subprocess_shell(
                self._command,
                env=self._env,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=_STDERR,
                **group_of_its_own(),
            )
        except OSError as error:
            self._broken = error
            ended()
            return
        self._group = Group(process.pid, lambda: process.returncode is not None)
        code = await process.wait()
        if self._asked_at is None:  # else it is our doing how it ended
            self.code = code if code >= 0 else 128 - code
        ended()
