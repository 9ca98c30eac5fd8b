"""`python -m svc.sandbox OPTIONS`: the sandbox's own process, without the command line around it.

`process.launch.start` starts it with `LaunchOptions` as JSON. The process prints one JSON line,
`ready` or `failed`, and from then on writes to its log only.
"""

import json
import os
import sys

from svc.errors import ExitCode, LocalError, system_words
from svc.sandbox.app import SandboxApp
from svc.sandbox.options import LaunchOptions
from svc.sandbox.process.records import RunRecord
from svc.sandbox.process.serve import serve


def main(argument: str) -> int:
    """Runs one sandbox with the options given as JSON and returns the exit code."""
    try:
        serve(SandboxApp(LaunchOptions.from_json(argument)), _tell)
    except LocalError as error:
        _print({"failed": {"message": error.message, "code": error.code, "hint": error.hint}})
        return error.exit_code
    except OSError as error:  # as of a full disk
        import traceback

        traceback.print_exc()
        what = error.filename or "A file of the sandbox"
        told = f"{what} cannot be used: {system_words(error)}."
        _print({"failed": {"message": told, "code": None, "hint": None}})
        return ExitCode.LOCAL
    return ExitCode.OK


def _tell(record: RunRecord) -> None:
    _print({"ready": record._asdict()})
    log = os.open(record.log or os.devnull, os.O_WRONLY | os.O_APPEND)
    for stream in (1, 2):
        os.dup2(log, stream)
    os.close(log)


def _print(said: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(said) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
