"""A row as it was read from the file, and the error of a row that cannot be sent.

`reading` makes a `Read` of each row that no template builds; `reading`, `columns` and `validate`
raise `BadRow`, which becomes an invalid row of the results.
"""

from typing import Any, NamedTuple, Self, TypeAlias

from svc.errors import UsageError
from svc.json_text import NotJson, parse_given

RowFields: TypeAlias = dict[str, Any]


class BadRow(Exception):  # noqa: N818  it describes a row
    """A row that cannot be sent; `param` names its field as the service does (`items[0][name]`)."""

    def __init__(
        self,
        message: str,
        *,
        param: str | None = None,
        code: str = "row_invalid",
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message if hint is None else f"{message}; {hint}"
        self.param = param
        self.code = code

    @classmethod
    def of(cls, error: UsageError) -> Self:
        """Converts an error of the client about a request to one about a row."""
        hint = error.hint and error.hint[0].lower() + error.hint[1:]
        message, code = error.message.removesuffix("."), error.code or "row_invalid"
        return cls(message, param=error.param, code=code, hint=hint)


def build_blank_amount(name: str) -> BadRow:
    """Builds the refusal of a blank amount, which would otherwise mean the whole amount."""
    return BadRow(
        f"{name} is blank",
        param=name,
        code="amount_blank",
        hint="write a number; --blank-means-all sends the row without one: a refund or a capture "
        "is then of all that is left",
    )


class Read(NamedTuple):
    """A row as it was read from the file.

    Attributes:
        number: from 1; the header of a CSV and empty lines are not counted.
        line: the line of the file, from 1, on which the row begins.
        given: its fields, with names in alphabetical order, or why it could not be read.
    """

    number: int
    line: int
    given: RowFields | BadRow


def parse(text: str, name: str | None = None) -> Any:
    """Parses one JSON value; numbers keep their spelling.

    Raises:
        BadRow: the text is invalid JSON, has NaN, or has a key twice; `name` is its column.
    """
    try:
        return parse_given(text, in_order=True)
    except NotJson as error:
        where = f" at column {error.place[1]}" if error.place else ""
        what = "it" if name is None else name
        raise BadRow(f"{what} is not valid JSON{where}: {error}", param=name) from None
