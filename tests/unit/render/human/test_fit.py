"""Ids and amounts are never cut or wrapped, at any width (promise R63)."""

from typing import Any

import pytest

from svc.render.text import cells, pad, shorten

KINDS = "order payment refund payout quote dispute event endpoint method".split()
WIDTHS = [20, 21, 28, 31, 40, 59, 79, 80, 81, 100, 132, 200]
ESSENTIAL = ("id", "payment", "order", "client_secret", "secret", "url")


def atoms(data: dict[str, Any]) -> list[str]:
    """The ids and secrets of an object that its block shows."""
    return [data[key] for key in ESSENTIAL if isinstance(data.get(key), str)]


@pytest.mark.parametrize("kind", KINDS)
def test_block_keeps_ids_and_amounts_whole(printed: Any, samples: Any, kind: str) -> None:
    """A block may grow longer on a narrow terminal, but nothing in it is cut."""
    for width in WIDTHS:
        data = samples[kind]
        if "amount" in data:
            data["amount"] = 123456789012
        lines = printed("human", width).one(data).splitlines()
        for atom in atoms(data):
            assert any(atom in line for line in lines), atom
        if "amount" in data:
            digits = "123,456,789,012 JPY" if data["currency"] == "JPY" else "1,234,567,890.12 EUR"
            assert any(digits in line for line in lines)


@pytest.mark.parametrize("kind", KINDS)
def test_list_keeps_ids_and_amounts_whole(printed: Any, samples: Any, kind: str) -> None:
    """Columns go before an id or an amount is cut; then rows become blocks."""
    for width in WIDTHS:
        first, second = samples[kind], samples[kind] | {"id": samples[kind]["id"][:-1] + "Z"}
        for name in ("amount", "amount_total"):
            if name in second:
                second[name] = 999999999999
        out = printed("human", width).page(first, second)
        lines = out.splitlines()
        assert any(first["id"] in line for line in lines)
        assert any(second["id"] in line for line in lines)
        if "amount" in first:
            most = "999,999,999,999 JPY" if first["currency"] == "JPY" else "9,999,999,999.99 EUR"
            assert any(most in line for line in lines)


def test_an_amount_that_is_too_long_takes_no_time_with_it(printed: Any, samples: Any) -> None:
    """Of requests at 80 columns; there is room for both where the amount is a usual one."""
    huge, usual = ({**samples["sent"], "amount": amount} for amount in (999_999_999_999, 2500))
    heads = [printed("human", 80).page(one).splitlines()[0].split() for one in (huge, usual)]
    assert heads[0] == ["ID", "STATUS", "OPERATION", "WHEN"]
    assert heads[1] == ["ID", "STATUS", "OPERATION", "AMOUNT", "WHEN"]


@pytest.mark.parametrize("kind", KINDS)
def test_lines_are_no_wider_than_the_terminal_but_for_what_stays_whole(
    printed: Any, samples: Any, kind: str
) -> None:
    """Only a line that holds nothing but one id, address or secret may stand out."""
    for width in WIDTHS:
        data = samples[kind]
        for out in (printed("human", width).one(data), printed("human", width).page(data, data)):
            for line in out.splitlines():
                assert cells(line) <= width or len(line.split()) == 1, line


@pytest.mark.parametrize("width", WIDTHS)
def test_no_line_ends_in_blanks(printed: Any, samples: Any, width: int) -> None:
    """Copied text is clean."""
    for data in samples.values():
        for out in (printed("human", width).one(data), printed("human", width).page(data)):
            assert all(line == line.rstrip() for line in out.splitlines())


@pytest.mark.parametrize("kind", KINDS)
def test_block_shows_every_text_at_every_width(printed: Any, samples: Any, kind: str) -> None:
    """A narrow block is longer, but no word of the object is missing; times lose their seconds."""
    for width in WIDTHS:
        out = "".join(printed("human", width).one(samples[kind]).split())
        for text in texts(samples[kind]):
            assert "".join(text.split()) in out, text


def texts(value: object) -> list[str]:
    """Every text inside a value but times, which are written anew, and the kinds in the titles."""
    if isinstance(value, dict):
        inner = [item for key, item in value.items() if key != "object" or isinstance(item, dict)]
        return [text for item in inner for text in texts(item)]
    if isinstance(value, list):
        return [text for item in value for text in texts(item)]
    return [value] if isinstance(value, str) and not ("T" in value and value[-1] == "Z") else []


def test_later_rows_widen_columns_instead_of_being_cut(printed: Any, samples: Any) -> None:
    """The first page settles the layout; a longer amount on page three is still whole."""
    order = samples["order"]
    rows = [order] * 250 + [order | {"amount_total": 999999999999, "id": "ord_" + "x" * 60}]
    out = printed("human", 80).stream(rows)
    assert out.splitlines()[0].startswith("ID  ")
    assert out.count("STATUS") == 1
    assert len(out.splitlines()) == 252
    assert "ord_" + "x" * 60 in out
    assert "9,999,999,999.99 EUR" in out


def test_stream_prints_before_everything_has_arrived(printed: Any, samples: Any) -> None:
    """A person sees the first page while the next is fetched."""
    output = printed("human", 80)
    seen: list[int] = []

    def objects() -> Any:
        for _ in range(250):
            seen.append(output.out.count("\n"))
            yield samples["order"]

    output.stream(objects())
    assert seen[150] == 101
    assert output.out.count("\n") == 251


def test_wide_characters_take_two_columns(printed: Any, samples: Any) -> None:
    """Columns after a Japanese name line up."""
    assert cells("株式会社") == 8
    assert pad("株", 4) == "株  "
    assert shorten("株式会社サンプル", 7, "…") == "株式会…"
    payout = samples["payout"]
    plain = payout | {"destination": payout["destination"] | {"account_holder_name": "Ltd"}}
    head, first, second = printed("human", 200).page(payout, plain).splitlines()
    at = head.index("REFERENCE")
    assert second.index("INV-7") == at
    assert cells(first[: first.index("INV-7")]) == at
