"""The fidelity table: every row (promise R80), as `svc help assumptions` shows them."""

from typing import Final

from svc.sandbox.fidelity import (
    access,
    controls,
    conventions,
    errors,
    events,
    goods,
    money,
    operations,
)
from svc.sandbox.fidelity.rows import Row, parse

_TEXTS: Final = (
    operations.TEXT,
    conventions.TEXT,
    access.TEXT,
    goods.TEXT,
    money.TEXT,
    events.TEXT,
    errors.TEXT,
    controls.TEXT,
)
ROWS: Final[tuple[Row, ...]] = tuple(row for text in _TEXTS for row in parse(text))
