"""The languages' texts, and the markup they go into."""

from string import Formatter

import pytest

from svc.sandbox.checkout import catalogue
from svc.sandbox.checkout.languages import ENGLISH, LANGUAGES, Language, choose
from svc.sandbox.reference import cards, methods
from svc.service.orders import STATUSES as ORDER_STATUSES

TAGS = [language.tag for language in LANGUAGES]
ALL = pytest.mark.parametrize("language", LANGUAGES, ids=TAGS)


def names_in(text: str) -> set[str]:
    """The values that a text has places for."""
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def test_five_languages_are_spoken() -> None:
    assert TAGS == ["en", "de", "fr", "es", "ja"]


@ALL
def test_every_language_has_every_text(language: Language) -> None:
    """The same keys, each with a text that has the same places for values."""
    assert language.texts.keys() == ENGLISH.texts.keys()
    for key, text in language.texts.items():
        assert text.strip(), key
        assert names_in(text) == names_in(ENGLISH.texts[key]), key


@ALL
def test_no_sentence_was_left_in_english(language: Language) -> None:
    """A translation differs from the English text wherever that is a sentence."""
    if language is not ENGLISH:
        same = [k for k, text in language.texts.items() if text == ENGLISH.texts[k] and " " in text]
        assert same == []


@ALL
def test_every_method_has_a_name_for_people(language: Language) -> None:
    """No shopper reads `sepa_debit`."""
    for name in ("card", *(method.name for method in methods.METHODS)):
        assert language.method(name) != name or name == "eps", name


def test_method_of_tomorrow_keeps_its_name() -> None:
    """A method that is added later is offered all the same."""
    assert ENGLISH.method("new_method") == "new_method"


@ALL
def test_every_final_state_has_its_words(language: Language) -> None:
    """Each state that ends the checkout has a heading and a sentence."""
    for status in ORDER_STATUSES:
        if status != "requires_payment":
            assert {status, f"{status}_lead"} <= language.texts.keys()


@pytest.mark.parametrize(
    ("asked", "locale", "tag"),
    [
        (None, "de-AT", "de"),
        (None, "ja-JP", "ja"),
        (None, "nl-NL", "en"),
        ("fr", "de-AT", "fr"),
        ("xx", "es-MX", "es"),
    ],
)
def test_language_is_the_shoppers_choice_or_the_countrys(
    asked: str | None, locale: str, tag: str
) -> None:
    """What was asked for, else by country, else English."""
    assert choose(asked, locale).tag == tag


def test_every_special_test_card_is_on_the_page() -> None:
    """A test card that does something special is one click away; so is its challenge."""
    offered = {card.number for group in catalogue.CARDS.values() for card in group}
    assert set(cards.BEHAVIOURS) <= offered
