"""The kinds of values, as the shells read them."""

import pytest

from support.running import build_script
from svc.completion.tree import Values


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (Values(), "t"),
        (Values(files=True), "f"),
        (Values(profiles=True), "p"),
        (Values(ids=("ord_", "pay_")), "i.ord_|pay_"),
        (Values("format", (("json", ""),), ids=("ord_",)), "w.format,i.ord_"),
    ],
)
def test_a_kind_says_in_a_few_letters_what_fits(values: Values, kind: str) -> None:
    """The shells split it at its commas."""
    assert build_script("completions").kind_of(values) == kind
