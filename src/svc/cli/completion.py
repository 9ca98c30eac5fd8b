"""`svc completion SHELL`: prints, installs or removes the completion script of a shell.

`svc.completion` has the scripts as text; this module writes one to the place where the shell looks
for it. `svc doctor` asks `place_of` where a script would be installed.
"""

import shlex
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from svc.cli.framework.app import make_app, works_with_invalid_config
from svc.cli.framework.options import argument, flag
from svc.cli.framework.session import Session
from svc.completion import SHELLS, Shell, read_script
from svc.errors import LocalError, UsageError, name_failure
from svc.paths import refuse_link
from svc.system.files import make_folder, replace_file

app = make_app()


@works_with_invalid_config(app)
def completion(
    session: Session,
    shell: Shell = argument("SHELL", f"One of {', '.join(SHELLS)}."),
    install: bool = flag("--install", "Put it where the shell finds it, and say where."),
    uninstall: bool = flag("--uninstall", "Take away what --install has put there."),
    force: bool = flag("--force", "With --install: replace a file that svc did not write."),
) -> None:
    """Print the completion script of a shell, or install it.

    Commands, options and values complete without starting svc; ids are those seen lately.

    $ svc completion bash --install
    $ svc completion fish --install
    """
    if install and uninstall:
        raise UsageError("--install and --uninstall exclude each other.", param="--uninstall")
    text = "" if uninstall else read_script(shell)
    if not install and not uninstall:
        session.stdout.write(text)
        return
    path, profile = place_of(shell, session.env)
    changed = _put_script(path, text, force=force) if install else _take_away(path)
    if profile is not None:
        line = f". '{str(path).replace(chr(39), chr(39) * 2)}'"
        changed = _edit_profile(profile, line, wanted=install) or changed
    result = {"object": "completion", "shell": shell, "path": str(path), "changed": changed}
    if install:
        _tell_installed(session, result, profile)
    else:
        session.out.result(result, f"{'Removed' if changed else 'Not there:'} {path}")
        if shell == "zsh" and changed and session.format == "human":
            session.out.hint(f"In ~/.zshrc, the line that names {path} may go too.")


def _tell_installed(session: Session, result: dict[str, Any], profile: Path | None) -> None:
    told, line = _explain_rest(result["shell"], session.env, Path(result["path"]))
    if profile is not None:
        told = f"New sessions read it from {profile} (not tested on this system)."
    if session.format != "human":
        session.out.value({**result, "next": told, "line": line or None})
        return
    where = "Installed in" if result["changed"] else "Already up to date:"
    session.out.line(f"{where} {result['path']}")
    session.out.hint(told)
    if line:
        session.out.line(line)  # to be copied: never broken


def place_of(shell: str, env: Mapping[str, str]) -> tuple[Path, Path | None]:
    """Returns the path of a shell's script, and for PowerShell the profile that must name it.

    Raises:
        LocalError: there is no home folder, or no PowerShell that says where its profile is.
    """
    if shell == "powershell":
        profile = _ask_powershell(env)
        return profile.with_name("svc.ps1"), profile
    home = _home(env)
    data = _xdg(env, "XDG_DATA_HOME") or home / ".local" / "share"
    if shell == "bash":
        own = env.get("BASH_COMPLETION_USER_DIR", "").partition(":")[0]
        return Path(own or data / "bash-completion") / "completions" / "svc", None
    if shell == "zsh":
        return data / "zsh" / "site-functions" / "_svc", None
    config = _xdg(env, "XDG_CONFIG_HOME") or home / ".config"
    return config / "fish" / "completions" / "svc.fish", None


_POWERSHELL_SECONDS: Final = 20.0
_PROFILE: Final = "[Console]::OutputEncoding = [Text.UTF8Encoding]::new(); $PROFILE"


def _ask_powershell(env: Mapping[str, str]) -> Path:
    """Asks PowerShell for its `$PROFILE`: Windows may keep a person's documents anywhere."""
    import subprocess

    from svc.listen.tunnels.program import environment, find_installed

    found = (find_installed(name, env.get("PATH", "")) for name in ("pwsh", "powershell"))
    program = next(filter(None, found), None)
    said = b""
    if program is not None:
        argv = [program, "-NoLogo", "-NoProfile", "-NonInteractive", "-Command", _PROFILE]
        with suppress(OSError, subprocess.SubprocessError):
            said = subprocess.run(  # noqa: S603  the person's own shell
                argv,
                env=environment(env),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_POWERSHELL_SECONDS,
                check=True,
            ).stdout
    profile = Path(said.decode("utf-8", "replace").strip().removeprefix("\ufeff"))
    if not profile.is_absolute():
        why = "is not in PATH" if program is None else "does not say where its profile is"
        raise LocalError(
            f"PowerShell {why}.",
            hint="In PowerShell: svc completion powershell | Out-String | Invoke-Expression",
        )
    return profile


def _explain_rest(shell: str, env: Mapping[str, str], path: Path) -> tuple[str, str]:
    """What a person is told, and the line that a profile needs."""
    if shell == "bash":
        return "New shells complete svc, where the package bash-completion is installed.", ""
    if shell == "fish":
        return "Every fish completes svc from now on.", ""
    if shell == "powershell" or _knows(env, path.parent):
        return "New shells complete svc.", ""
    place = shlex.quote(str(path))
    folder = env.get("ZDOTDIR") or "~"
    # Once the file is taken away, the line does nothing.
    return f"Put this line into {folder}/.zshrc:", f"[[ ! -r {place} ]] || source {place}"


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


def _xdg(env: Mapping[str, str], name: str) -> Path | None:
    value = env.get(name, "")
    return Path(value) if value.startswith("/") else None  # the XDG rules


_OURS: Final = "svc completion for "
_HEAD: Final = 200
_FOLDER: Final = 0o755  # the user's shell may not be the only one that reads it (promise R104)
_UTF16: Final = (b"\xff\xfe", b"\xfe\xff")


def _put_script(path: Path, text: str, *, force: bool) -> bool:
    """Writes a script of svc; returns whether the file had to change."""
    old = _read(path)
    if old == text.encode():
        return False
    if old is not None and not force:
        _refuse_foreign(path, old, "Replace it: add --force")
    _write(path, text.encode())
    return True


def _take_away(path: Path) -> bool:
    """Removes a script of svc; returns whether there was one."""
    old = _read(path)
    if old is None:
        return False
    _refuse_foreign(path, old)
    with name_failure(f"{path} cannot be removed"):
        path.unlink()
    return True


def _refuse_foreign(path: Path, text: bytes, hint: str | None = None) -> None:
    if _OURS.encode() not in text[:_HEAD]:
        raise LocalError(f"{path} is not a file of ours; it is as it was.", hint=hint)


def _edit_profile(path: Path, line: str, *, wanted: bool) -> bool:
    """Adds a line to a PowerShell profile, or removes it; returns whether that was needed."""
    old = _read(path) or b""
    lines = old.splitlines(keepends=True)
    others = [each for each in lines if each.rstrip(b"\r\n") != line.encode()]
    if wanted == (len(others) < len(lines)):
        return False
    if not wanted:
        _write(path, b"".join(others))
    elif old.startswith(_UTF16):
        raise LocalError(f"{path} is in UTF-16; it is as it was.", hint=f"Add this line: {line}")
    else:
        gap = b"" if not old or old.endswith(b"\n") else b"\n"
        _write(path, old + gap + line.encode() + b"\n")
    return True


def _read(path: Path) -> bytes | None:
    """What is there; refuses what cannot be read, or is not a plain file in a plain folder."""
    hint = "Print it instead: svc completion SHELL > FILE"
    refuse_link(path.parent, hint, folder=True)
    refuse_link(path, hint)
    with name_failure(f"{path} cannot be read"), suppress(FileNotFoundError):
        return path.read_bytes()
    return None


def _write(path: Path, data: bytes) -> None:
    with name_failure(f"{path} cannot be written"):
        mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o644
        make_folder(path.parent, _FOLDER)
        replace_file(path, data, mode=mode)
