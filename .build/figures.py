"""Writes README's figures anew: each is a constant, named in `svc.cli.framework.figures`.

To write them again, with the environment of the project:

    python .build/figures.py
"""

import re
from pathlib import Path
from typing import Final

from svc.cli.framework.figures import FIGURES, figure

README: Final = Path(__file__).parent.parent / "README.md"
# How README says each of them.
PHRASES: Final = (
    "Forwarding {event_types} event types",
    "any of the {event_types} events",
    "After {key_hours} hours it refuses",
    "forgotten after {request_days} days",
    "done {done_hours} hours ago or more",
    "within {service_hours} hours of its first",
    "**After {service_hours} hours** the service",
)


def filled(readme: str) -> str:
    """The text of README with the figures as they are.

    Raises:
        ValueError: README does not say one of them so.
    """
    for phrase in PHRASES:
        pattern, wanted = re.escape(phrase), phrase
        for name in FIGURES:
            pattern = pattern.replace(re.escape(f"{{{name}}}"), "[0-9]+")
            wanted = wanted.replace(f"{{{name}}}", figure(name) if name in phrase else "")
        readme, count = re.subn(pattern, wanted, readme)
        if not count:
            raise ValueError(f"README does not say: {phrase}")
    return readme


def main() -> None:
    """Writes README."""
    README.write_text(filled(README.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
