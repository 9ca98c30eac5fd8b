"""The second acquirer of a shopper's region, which a smart retry goes through.

There are four regions, and their countries are our choice. Europe includes its microstates and
islands; the Americas and Asia-Pacific follow the UN's geographical regions; all else is the rest.
"""

from typing import Final

EUROPE: Final = frozenset(
    (
        "AD AL AT AX BA BE BG BY CH CY CZ DE DK EE ES FI FO FR GB GG GI GR HR HU IE IM IS IT JE LI "
        "LT LU LV MC MD ME MK MT NL NO PL PT RO RS RU SE SI SJ SK SM UA VA"
    ).split()
)
AMERICAS: Final = frozenset(
    (
        "AG AI AR AW BB BL BM BO BQ BR BS BZ CA CL CO CR CU CW DM DO EC FK GD GF GL GP GT GY HN HT "
        "JM KN KY LC MF MQ MS MX NI PA PE PM PR PY SR SV SX TC TT US UY VC VE VG VI"
    ).split()
)
ASIA_PACIFIC: Final = frozenset(
    (
        "AF AS AU BD BN BT CC CK CN CX FJ FM GU HK ID IN JP KH KI KP KR LA LK MH MM MN MO MP MV MY "
        "NC NF NP NR NU NZ PF PG PH PK PN PW SB SG TH TK TL TO TV TW UM VN VU WF WS"
    ).split()
)


def acquirer(country: str) -> str:
    """Names the acquirer that retries a payment shipped to `country`."""
    if country in EUROPE:
        return "sandbox_eu_2"
    if country in AMERICAS:
        return "sandbox_am_2"
    if country in ASIA_PACIFIC:
        return "sandbox_ap_2"
    return "sandbox_row_2"
