"""Numbers of the service's answers, kept as it spelled them."""

from typing import Self


class Spelled(float):
    """A number with a fraction or an exponent, and the text that it came as.

    It compares and sorts like any float; money and rates are shown from `text` alone, which no
    binary rounding has touched.
    """

    __slots__ = ("text",)

    def __new__(cls, text: str) -> Self:
        number = super().__new__(cls, text)
        number.text = text
        return number

    text: str

    def __str__(self) -> str:
        return self.text

    def __reduce__(self) -> tuple[type["Spelled"], tuple[str]]:
        return Spelled, (self.text,)
