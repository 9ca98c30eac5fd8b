"""How many events a command shows, whatever form its output has."""

from typing import Final

import pytest

from svc.listen.examine.effects import compare_outputs, count_events, describe_difference

A: Final = "ord_Examine00000000000000001"
B: Final = "ord_Examine00000000000000002"
C: Final = "ord_Examine00000000000000003"


@pytest.mark.parametrize(
    ("before", "one", "three"),
    [
        ("0\n", "1\n", "3\n"),
        ('{"fulfilled":7}', '{"fulfilled":8}', '{"fulfilled":10}'),
        ("", f"{A}\n", f"{A}\n{B}\n{C}\n"),
        ("sum 10.50", "sum 139.50", "sum 397.50"),
        (
            "old line",
            f"old line, paid {A} 12900",
            f"paid {A} 12900, paid {B} 12900, paid {C} 12900, old line",
        ),
    ],
)
def test_an_effect_is_counted(before: str, one: str, three: str) -> None:
    single = compare_outputs(before, one)
    assert count_events(compare_outputs(before, three), single) == 3
    assert count_events(compare_outputs(before, before), single) == 0
    assert count_events(compare_outputs(three, before), single) is None


def test_an_effect_of_another_kind_is_no_number_of_events() -> None:
    single = compare_outputs("", f"paid {A}")
    found = compare_outputs("", f"paid {A} refunded {B}")
    assert count_events(found, single) is None
    assert describe_difference(found, single) == "1 more of 'ord', 1 more of 'refunded'"
