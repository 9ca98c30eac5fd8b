"""How every benchmark is started: with a Python that has svc, and with options that `--help` names."""

import argparse
import sys
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[2]

if find_spec("svc") is None:
    sys.exit(f"This Python has no svc: run {ROOT}/.venv/bin/python {' '.join(sys.argv)}")


def parser(text: str | None) -> argparse.ArgumentParser:
    """Gives a parser that shows a benchmark's own text as it stands."""
    return argparse.ArgumentParser(
        description=text, formatter_class=argparse.RawDescriptionHelpFormatter
    )
