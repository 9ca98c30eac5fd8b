"""A listener's endpoint in a sandbox, which forgets its endpoints when it is reset."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

from svc.cli.listen_endpoint import Endpoint
from svc.errors import SvcError
from svc.listen.listener import Listener
from svc.listen.records import Record

_LOOK_SECONDS: Final = 1.0
_TELL_SECONDS: Final = 4.0  # the pause behind the second look in vain
_MOST_SECONDS: Final = 8.0  # between looks at a sandbox that does not answer
_END_SECONDS: Final = 0.5  # promise R78: stopped in under a second, whatever the sandbox does
_SECRETS_MAX: Final = 2  # that of the endpoint before may have signed what is still on its way
_HERE: Final = "127.0.0.1"


class Watch:
    """Registers the endpoint again when the sandbox has forgotten it.

    `renew` asks the sandbox and gives the endpoint that it had to register, or None. `absent` is
    called once, when it has not answered for some seconds, with what was the matter.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        renew: Callable[[], Endpoint | None],
        absent: Callable[[SvcError], None],
    ) -> None:
        self.endpoint = endpoint
        self._renew = renew
        self._absent = absent
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None

    def attach(
        self,
        relay: Listener,
        tell: Callable[[Record], None],  # noqa: ARG002  as a tunnel's link is attached
        fail: Callable[[BaseException], None],  # noqa: ARG002
    ) -> None:
        """From now on tells the relay that runs in this loop."""
        loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._look, args=(loop, relay), daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Looks no more."""
        self._closing.set()
        if self._thread is not None:
            self._thread.join(_END_SECONDS)

    def _look(self, loop: asyncio.AbstractEventLoop, relay: Listener) -> None:
        pause = _LOOK_SECONDS
        while not self._closing.wait(pause):
            try:
                renewed = self._renew()
            except SvcError as error:  # it is away, and may have forgotten when it comes back
                pause = min(2 * pause, _MOST_SECONDS)
                if pause == _TELL_SECONDS and not self._closing.is_set():
                    self._absent(error)
                continue
            pause = _LOOK_SECONDS
            if renewed is not None and not self._closing.is_set():
                with suppress(RuntimeError):  # the loop has ended
                    loop.call_soon_threadsafe(self._take, relay, renewed)

    def _take(self, relay: Listener, renewed: Endpoint) -> None:
        secrets = dict.fromkeys((*renewed.secrets, *self.endpoint.secrets))
        relay.move(_HERE, tuple(secrets)[:_SECRETS_MAX])
        self.endpoint = renewed


@contextmanager
def watching(
    endpoint: Endpoint,
    renew: Callable[[], Endpoint | None],
    absent: Callable[[SvcError], None],
) -> Iterator[Watch]:
    """Gives a watch that ends with the block."""
    watch = Watch(endpoint, renew, absent)
    try:
        yield watch
    finally:
        watch.close()
