"""`svc completion SHELL --install`: the script goes where the shell finds it, once."""

import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from svc.cli.completion_writing import put, put_line, take_away, take_line
from svc.cli.session import Session
from svc.errors import LocalError

Place = Callable[[Mapping[str, str], Path], Path]


def install(session: Session, shell: str, text: str, *, force: bool) -> None:
    """Writes the script, if it is not there already, and says where and what is left to do.

    Raises:
        LocalError: it cannot be written, lies behind a link, or is somebody else's file.
    """
    path = place_of(shell, session.env)
    changed = put(path, text, force=force)
    told, line = _still_to_do(shell, session.env, path)
    if shell == "powershell":
        changed = put_line(profile_of(session.env), line) or changed
        line = ""
    if session.format != "human":
        what = {"shell": shell, "path": str(path), "changed": changed, "next": told}
        session.out.value({**what, "line": line or None})
        return
    session.out.line(f"{'Installed in' if changed else 'Already up to date:'} {path}")
    session.out.hint(told)
    if line:
        session.out.line(line)  # to be copied: never broken


def uninstall(session: Session, shell: str) -> None:
    """Takes the script away, and from PowerShell's profile its line; says what is left to do.

    Raises:
        LocalError: it cannot be removed, lies behind a link, or is somebody else's file.
    """
    path = place_of(shell, session.env)
    changed = take_away(path)
    line = _still_to_do(shell, session.env, path)[1]
    if shell == "powershell":
        changed = take_line(profile_of(session.env), line) or changed
        line = ""
    if session.format != "human":
        session.out.value({"shell": shell, "path": str(path), "changed": changed})
        return
    session.out.line(f"{'Removed' if changed else 'Not there:'} {path}")
    if shell == "zsh" and changed:
        session.out.hint(f"In ~/.zshrc, a line that begins fpath=('{path.parent}' may go too.")


def place_of(shell: str, env: Mapping[str, str]) -> Path:
    """The file that the shell reads by itself; for zsh in a folder that `fpath` must name.

    Raises:
        LocalError: there is no home folder.
    """
    return _PLACES[shell](env, _home(env))


def profile_of(env: Mapping[str, str]) -> Path:
    """PowerShell's own `$PROFILE`, in its usual place."""
    home = _home(env)
    folder = home / "Documents" / "PowerShell" if env.get("OS") == "Windows_NT" else None
    return (folder or _config(env, home) / "powershell") / "Microsoft.PowerShell_profile.ps1"


def _bash(env: Mapping[str, str], home: Path) -> Path:
    own = env.get("BASH_COMPLETION_USER_DIR", "").partition(":")[0]
    return Path(own or _data(env, home) / "bash-completion") / "completions" / "svc"


def _zsh(env: Mapping[str, str], home: Path) -> Path:
    return _data(env, home) / "zsh" / "site-functions" / "_svc"


def _fish(env: Mapping[str, str], home: Path) -> Path:
    return _config(env, home) / "fish" / "completions" / "svc.fish"


def _powershell(env: Mapping[str, str], home: Path) -> Path:  # noqa: ARG001  as the others
    return profile_of(env).with_name("svc.ps1")


_PLACES: Final[Mapping[str, Place]] = {
    "bash": _bash,
    "zsh": _zsh,
    "fish": _fish,
    "powershell": _powershell,
}


def _still_to_do(shell: str, env: Mapping[str, str], path: Path) -> tuple[str, str]:
    """What a person is told, and the line that a profile needs."""
    if shell == "bash":
        return "New shells complete svc, where the package bash-completion is installed.", ""
    if shell == "fish":
        return "Every fish completes svc from now on.", ""
    if shell == "powershell":
        line = f". '{str(path).replace(chr(39), chr(39) * 2)}'"
        return f"New sessions read it from {profile_of(env)} (not tested on this system).", line
    if _knows(env, path.parent):
        return "New shells complete svc.", ""
    return (
        "Put this line into ~/.zshrc, above compinit:",
        f"fpath=({shlex.quote(str(path.parent))} $fpath)",
    )


def _knows(env: Mapping[str, str], folder: Path) -> bool:
    """Whether zsh looks into a folder already, as far as it can be told from outside."""
    if str(folder) in env.get("FPATH", "").split(":"):
        return True
    try:
        text = (Path(env.get("ZDOTDIR") or _home(env)) / ".zshrc").read_text(errors="replace")
    except OSError:
        return False
    return str(folder) in text


def _home(env: Mapping[str, str]) -> Path:
    home = env.get("HOME") or env.get("USERPROFILE") or ""
    if not Path(home).is_absolute():
        raise LocalError("There is no home folder to install into.", hint="Set HOME")
    return Path(home)


def _data(env: Mapping[str, str], home: Path) -> Path:
    return _xdg(env, "XDG_DATA_HOME") or home / ".local" / "share"


def _config(env: Mapping[str, str], home: Path) -> Path:
    return _xdg(env, "XDG_CONFIG_HOME") or home / ".config"


def _xdg(env: Mapping[str, str], name: str) -> Path | None:
    value = env.get(name, "")
    return Path(value) if value.startswith("/") else None  # the XDG rules
