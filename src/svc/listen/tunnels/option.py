"""What `--tunnel` asks for."""

from dataclasses import dataclass
from typing import Final, Literal, cast

from svc.errors import wrong_choice
from svc.listen.tunnels.ssh import SshDestination

Kind = Literal["auto", "none", "cloudflared", "ngrok", "ssh"]

_KINDS: Final = ("auto", "none", "cloudflared", "ngrok", "ssh:[USER@]HOST[:REMOTE_PORT]")
_SSH: Final = "ssh:"


@dataclass(frozen=True, slots=True)
class TunnelOption:
    """The option, read; `destination` is there for ssh alone."""

    kind: Kind
    destination: SshDestination | None = None

    @classmethod
    def parse(cls, text: str) -> "TunnelOption":
        """Reads `auto`, `none`, `cloudflared`, `ngrok` or `ssh:[USER@]HOST[:REMOTE_PORT]`.

        Raises:
            UsageError: it is none of them.
        """
        if text.startswith(_SSH):
            return cls("ssh", SshDestination.parse(text.removeprefix(_SSH)))
        if text not in _KINDS[:-1]:
            raise wrong_choice("--tunnel", text, _KINDS)
        return cls(cast("Kind", text))
