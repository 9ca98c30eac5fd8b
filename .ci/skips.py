"""Fails when a test was skipped for a reason that nobody has written down.

python3 .ci/skips.py REPORT.xml REASONS...
"""

import re
import sys
from pathlib import Path
from xml.etree import ElementTree as ET


def main(report: str, *reasons: str) -> int:
    """Prints what was skipped; 1 where one is not allowed, or where nothing was run at all."""
    lines = [line for each in reasons for line in Path(each).read_text("utf-8").splitlines()]
    allowed = [line for line in lines if line and not line.startswith("#")]
    cases = list(ET.parse(report).iter("testcase"))  # noqa: S314  pytest's own file
    skipped = [(case, skip) for case in cases for skip in case.iter("skipped")]
    wrong = 0
    for case, skip in skipped:
        reason = f"{skip.get('message', '')} {skip.text or ''}"
        fine = any(re.search(pattern, reason) for pattern in allowed)
        wrong += not fine
        print(f"{'skipped' if fine else 'NOT ALLOWED'}: {case.get('name')}: {reason.strip()}")
    print(f"{len(cases)} tests, {len(skipped)} skipped")
    return 1 if wrong or not cases else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
