"""What people see: a block of every kind, and its list at 40, 80 and 200 columns."""

from typing import Any

import pytest

BLOCKS = {
    "order": """
Order  ord_3kPq0aVb7cXd9eYf1gZh2iWj  requires_payment  test mode

  Amount         129.00 EUR
  Landed cost     28.08 EUR
  Total          157.08 EUR
  Captured         0.00 EUR
  Refunded         0.00 EUR
  Settles in     USD
  Capture        automatic
  Methods        card, sepa_debit, klarna, paypal
  Ship to        10115, DE
  Created        2026-10-01 11:00:00 +02:00  2 hours ago
  Client secret  ord_3kPq0aVb7cXd9eYf1gZh2iWj_secret_8Lm2

  Items
    NAME          QTY        UNIT  HS CODE
    Linen jacket    1  129.00 EUR  6203.39

  Landed cost
    Duty         3.00 EUR
    VAT         25.08 EUR
    Fees         0.00 EUR
    Guaranteed  no
    Quote       lcq_1aBc2dEf3gHi4jKl5mNo6pQr

  Metadata
    ref  A-1001
""",
    "payment": """
Payment  pay_9zYx8wVu7tSr6qPo5nMl4kJi  captured  live mode

  Amount       157.08 EUR
  Captured     157.08 EUR
  Released       0.00 EUR
  Refunded      25.00 EUR
  Settlement   172.79 USD
  FX rate      1.1
  Order        ord_3kPq0aVb7cXd9eYf1gZh2iWj
  Method       card
  Card         visa 4242
  Smart retry  yes
  Acquirer     sandbox_eu_2
  Disputed     no
  Created      2026-10-01 11:01:08 +02:00  2 hours ago
  Captured at  2026-10-01 11:01:10 +02:00  2 hours ago

  Saved payment method  pm_7sTu8vWx9yZa0bCd1eFg2hIj

    Type           card
    Brand          visa
    Card ends      4242
    Expiry month   4
    Expiry year    2030
    Network token  active
""",
    "refund": """
Refund  rf_1qWe2rTy3uIo4pAs5dFg6hJk  pending  test mode

  Amount   25.00 EUR
  Payment  pay_9zYx8wVu7tSr6qPo5nMl4kJi
  Order    ord_3kPq0aVb7cXd9eYf1gZh2iWj
  Reason   requested_by_customer
  Created  2026-10-01 12:59:40 +02:00  just now
""",
    "payout": """
Payout  po_5gHj6kLz7xCv8bNm9qWe0rTy  failed  test mode

  Amount         15000 JPY
  Debited       104.00 USD
  Network fees    2.00 USD
  FX rate       147.05882
  Reference     INV-7
  Failure       account_closed
  Message       The bank account has been closed.
  Created       2026-10-01 11:00:00 +02:00  2 hours ago
  Sent          2026-10-01 12:00:00 +02:00  1 hour ago
  Arrives       2026-10-02 11:00:00 +02:00  in 22 hours
  Failed        2026-10-01 12:30:00 +02:00  30 minutes ago

  Destination
    Holder        株式会社サンプル
    Account ends  3000
    Country       JP
""",
    "quote": """
Landed-cost quote  lcq_1aBc2dEf3gHi4jKl5mNo6pQr  not guaranteed  test mode

  Duty       30.96 EUR
  VAT        65.17 EUR
  Fees        0.00 EUR
  Total      96.13 EUR
  Freight     9.00 EUR
  Ship from  US
  Ship to    10115, DE
  Created    2026-10-01 11:00:00 +02:00  2 hours ago
  Expires    2026-10-02 11:00:00 +02:00  in 22 hours

  Warnings
    CODE                    ITEM          MESSAGE
    hs_code_incomplete      Linen jacket  The tariff code has fewer than six
                                          digits.
    origin_country_unknown  Belt          The country of origin is not known.

  Items
    NAME          QTY        UNIT  HS CODE  FROM       DUTY        VAT  RATE
    Linen jacket    2  129.00 EUR  6203     CN    30.96 EUR  56.62 EUR   12%
    Belt            1   45.00 EUR                  0.00 EUR   8.55 EUR    0%
""",
    "dispute": """
Dispute  dp_4rEw3qAs2dFg1hJk0lZx9cVb  needs_response  test mode

  Amount    132.08 EUR
  Reason    product_not_received
  Payment   pay_9zYx8wVu7tSr6qPo5nMl4kJi
  Order     ord_3kPq0aVb7cXd9eYf1gZh2iWj
  Evidence  draft
  Due by    2026-10-05 01:59:59 +02:00  in 4 days
  Created   2026-09-20 14:00:00 +02:00  11 days ago

  Evidence
    tracking_number     1Z999AA10123456784
    uncategorized_text  The parcel was handed to a neighbour on 2 October. We
                        have asked the carrier for the signed proof of delivery.
""",
    "event": """
Event  evt_8uYt7rEw6qLk5jHg4fDs3aPo  refund.created  test mode

  Created      2026-10-01 12:59:40 +02:00  just now
  API version  2026-09-01

  Refund  rf_1qWe2rTy3uIo4pAs5dFg6hJk  pending  test mode

    Amount   25.00 EUR
    Payment  pay_9zYx8wVu7tSr6qPo5nMl4kJi
    Order    ord_3kPq0aVb7cXd9eYf1gZh2iWj
    Reason   requested_by_customer
    Created  2026-10-01 12:59:40 +02:00  just now
""",
    "endpoint": """
Webhook endpoint  we_2wSx3eDc4rFv5tGb6yHn7uJm  enabled  test mode

  URL             https://shop.example.com/webhooks/orders
  Events          order.paid, order.cancelled, refund.succeeded
  API version     2026-09-01
  Created         2026-10-01 11:00:00 +02:00  2 hours ago
  Signing secret  whsec_0123456789abcdef0123456789abcdef
""",
    "method": """
Saved payment method  pm_7sTu8vWx9yZa0bCd1eFg2hIj

  Type           card
  Brand          visa
  Card ends      4242
  Expiry month   4
  Expiry year    2030
  Network token  active
""",
}
NARROW = {
    "order": """
Order  ord_3kPq0aVb7cXd9eYf1gZh2iWj
requires_payment  test mode

  Amount         129.00 EUR
  Landed cost     28.08 EUR
  Total          157.08 EUR
  Captured         0.00 EUR
  Refunded         0.00 EUR
  Settles in     USD
  Capture        automatic
  Methods
    card, sepa_debit, klarna, paypal
  Ship to        10115, DE
  Created        2026-10-01 11:00
  Client secret
    ord_3kPq0aVb7cXd9eYf1gZh2iWj_secret_8Lm2

  Items
    Linen jacket
      Qty      1
      Unit     129.00 EUR
      HS code  6203.39

  Landed cost
    Duty         3.00 EUR
    VAT         25.08 EUR
    Fees         0.00 EUR
    Guaranteed  no
    Quote
      lcq_1aBc2dEf3gHi4jKl5mNo6pQr

  Metadata
    ref  A-1001
""",
    "payment": """
Payment  pay_9zYx8wVu7tSr6qPo5nMl4kJi
captured  live mode

  Amount       157.08 EUR
  Captured     157.08 EUR
  Released       0.00 EUR
  Refunded      25.00 EUR
  Settlement   172.79 USD
  FX rate      1.1
  Order
    ord_3kPq0aVb7cXd9eYf1gZh2iWj
  Method       card
  Card         visa 4242
  Smart retry  yes
  Acquirer     sandbox_eu_2
  Disputed     no
  Created      2026-10-01 11:01
  Captured at  2026-10-01 11:01

  Saved payment method
  pm_7sTu8vWx9yZa0bCd1eFg2hIj

    Type           card
    Brand          visa
    Card ends      4242
    Expiry month   4
    Expiry year    2030
    Network token  active
""",
    "dispute": """
Dispute  dp_4rEw3qAs2dFg1hJk0lZx9cVb
needs_response  test mode

  Amount    132.08 EUR
  Reason    product_not_received
  Payment   pay_9zYx8wVu7tSr6qPo5nMl4kJi
  Order     ord_3kPq0aVb7cXd9eYf1gZh2iWj
  Evidence  draft
  Due by    2026-10-05 01:59:59 +02:00
  Created   2026-09-20 14:00:00 +02:00

  Evidence
    tracking_number
      1Z999AA10123456784
    uncategorized_text
      The parcel was handed to a
      neighbour on 2 October. We have
      asked the carrier for the signed
      proof of delivery.
""",
}
LISTS = {
    ("order", 40): """
ord_3kPq0aVb7cXd9eYf1gZh2iWj
  requires_payment  157.08 EUR  DE
  2026-10-01 11:00

ord_3kPq0aVb7cXd9eYf1gZh2iWZ
  paid  12345.00 EUR  JP
  2026-01-01 00:30
""",
    ("order", 80): """
ID                            STATUS                   TOTAL  TO  CREATED
ord_3kPq0aVb7cXd9eYf1gZh2iWj  requires_payment    157.08 EUR  DE  01 Oct 11:00
ord_3kPq0aVb7cXd9eYf1gZh2iWZ  paid              12345.00 EUR  JP  01 Jan 00:30
""",
    ("order", 200): """
ID                            STATUS                   TOTAL  TO  CREATED           LATEST PAYMENT                CAPTURED  REFUNDED  SETTLES IN  CAPTURE
ord_3kPq0aVb7cXd9eYf1gZh2iWj  requires_payment    157.08 EUR  DE  2026-10-01 11:00                                0.00 EUR  0.00 EUR  USD         automatic
ord_3kPq0aVb7cXd9eYf1gZh2iWZ  paid              12345.00 EUR  JP  2026-01-01 00:30  pay_9zYx8wVu7tSr6qPo5nMl4kJi  0.00 EUR  0.00 EUR  USD         automatic
""",
    ("payment", 40): """
pay_9zYx8wVu7tSr6qPo5nMl4kJi
  captured  157.08 EUR  card
  2026-10-01 11:01

pay_9zYx8wVu7tSr6qPo5nMl4kJZ
  captured  157.08 EUR  card
  2026-01-01 00:30
""",
    ("payment", 80): """
ID                            STATUS        AMOUNT  METHOD  CREATED
pay_9zYx8wVu7tSr6qPo5nMl4kJi  captured  157.08 EUR  card    2026-10-01 11:01
pay_9zYx8wVu7tSr6qPo5nMl4kJZ  captured  157.08 EUR  card    2026-01-01 00:30
""",
    ("payment", 200): """
ID                            STATUS        AMOUNT  METHOD  CREATED           ORDER                           CAPTURED   REFUNDED
pay_9zYx8wVu7tSr6qPo5nMl4kJi  captured  157.08 EUR  card    2026-10-01 11:01  ord_3kPq0aVb7cXd9eYf1gZh2iWj  157.08 EUR  25.00 EUR
pay_9zYx8wVu7tSr6qPo5nMl4kJZ  captured  157.08 EUR  card    2026-01-01 00:30  ord_3kPq0aVb7cXd9eYf1gZh2iWj  157.08 EUR  25.00 EUR
""",
    ("refund", 40): """
rf_1qWe2rTy3uIo4pAs5dFg6hJk
  pending  25.00 EUR  2026-10-01 12:59
  pay_9zYx8wVu7tSr6qPo5nMl4kJi

rf_1qWe2rTy3uIo4pAs5dFg6hJZ
  pending  25.00 EUR  2026-01-01 00:30
  pay_9zYx8wVu7tSr6qPo5nMl4kJi
""",
    ("refund", 80): """
ID                           STATUS      AMOUNT  CREATED
rf_1qWe2rTy3uIo4pAs5dFg6hJk  pending  25.00 EUR  2026-10-01 12:59
rf_1qWe2rTy3uIo4pAs5dFg6hJZ  pending  25.00 EUR  2026-01-01 00:30
""",
    ("refund", 200): """
ID                           STATUS      AMOUNT  CREATED           PAYMENT                       REASON                 ORDER
rf_1qWe2rTy3uIo4pAs5dFg6hJk  pending  25.00 EUR  2026-10-01 12:59  pay_9zYx8wVu7tSr6qPo5nMl4kJi  requested_by_customer  ord_3kPq0aVb7cXd9eYf1gZh2iWj
rf_1qWe2rTy3uIo4pAs5dFg6hJZ  pending  25.00 EUR  2026-01-01 00:30  pay_9zYx8wVu7tSr6qPo5nMl4kJi  requested_by_customer  ord_3kPq0aVb7cXd9eYf1gZh2iWj
""",
    ("payout", 40): """
po_5gHj6kLz7xCv8bNm9qWe0rTy
  failed  15000 JPY  2026-10-01 11:00
  104.00 USD

po_5gHj6kLz7xCv8bNm9qWe0rTZ
  paid  99.00 EUR  2026-01-01 00:30
  104.00 USD
""",
    ("payout", 80): """
ID                           STATUS     AMOUNT  CREATED              DEBITED
po_5gHj6kLz7xCv8bNm9qWe0rTy  failed  15000 JPY  2026-10-01 11:00  104.00 USD
po_5gHj6kLz7xCv8bNm9qWe0rTZ  paid    99.00 EUR  2026-01-01 00:30  104.00 USD
""",
    ("payout", 200): """
ID                           STATUS     AMOUNT  CREATED              DEBITED  TO                REFERENCE  ARRIVES
po_5gHj6kLz7xCv8bNm9qWe0rTy  failed  15000 JPY  2026-10-01 11:00  104.00 USD  株式会社サンプル  INV-7      2026-10-02 11:00
po_5gHj6kLz7xCv8bNm9qWe0rTZ  paid    99.00 EUR  2026-01-01 00:30  104.00 USD  株式会社サンプル  INV-7      2026-10-02 11:00
""",
    ("quote", 40): """
lcq_1aBc2dEf3gHi4jKl5mNo6pQr
  not guaranteed  96.13 EUR  DE
  2026-10-02 11:00

lcq_1aBc2dEf3gHi4jKl5mNo6pQZ
  not guaranteed  96.13 EUR  DE
  2026-10-02 11:00
""",
    ("quote", 80): """
ID                            GUARANTEED          TOTAL  TO  EXPIRES
lcq_1aBc2dEf3gHi4jKl5mNo6pQr  not guaranteed  96.13 EUR  DE  2026-10-02 11:00
lcq_1aBc2dEf3gHi4jKl5mNo6pQZ  not guaranteed  96.13 EUR  DE  2026-10-02 11:00
""",
    ("quote", 200): """
ID                            GUARANTEED          TOTAL  TO  EXPIRES                DUTY        VAT
lcq_1aBc2dEf3gHi4jKl5mNo6pQr  not guaranteed  96.13 EUR  DE  2026-10-02 11:00  30.96 EUR  65.17 EUR
lcq_1aBc2dEf3gHi4jKl5mNo6pQZ  not guaranteed  96.13 EUR  DE  2026-10-02 11:00  30.96 EUR  65.17 EUR
""",
    ("dispute", 40): """
dp_4rEw3qAs2dFg1hJk0lZx9cVb
  needs_response  132.08 EUR
  2026-10-05 01:59  product_not_received

dp_4rEw3qAs2dFg1hJk0lZx9cVZ
  needs_response  132.08 EUR
  2026-10-05 01:59  product_not_received
""",
    ("dispute", 80): """
ID                           STATUS              AMOUNT  DUE BY
dp_4rEw3qAs2dFg1hJk0lZx9cVb  needs_response  132.08 EUR  2026-10-05 01:59
dp_4rEw3qAs2dFg1hJk0lZx9cVZ  needs_response  132.08 EUR  2026-10-05 01:59
""",
    ("dispute", 200): """
ID                           STATUS              AMOUNT  DUE BY            REASON                EVIDENCE  PAYMENT
dp_4rEw3qAs2dFg1hJk0lZx9cVb  needs_response  132.08 EUR  2026-10-05 01:59  product_not_received  draft     pay_9zYx8wVu7tSr6qPo5nMl4kJi
dp_4rEw3qAs2dFg1hJk0lZx9cVZ  needs_response  132.08 EUR  2026-10-05 01:59  product_not_received  draft     pay_9zYx8wVu7tSr6qPo5nMl4kJi
""",
    ("event", 40): """
evt_8uYt7rEw6qLk5jHg4fDs3aPo
  refund.created  2026-10-01 12:59
  rf_1qWe2rTy3uIo4pAs5dFg6hJk

evt_8uYt7rEw6qLk5jHg4fDs3aPZ
  refund.created  2026-01-01 00:30
  rf_1qWe2rTy3uIo4pAs5dFg6hJk
""",
    ("event", 80): """
ID                            TYPE            CREATED
evt_8uYt7rEw6qLk5jHg4fDs3aPo  refund.created  2026-10-01 12:59
evt_8uYt7rEw6qLk5jHg4fDs3aPZ  refund.created  2026-01-01 00:30
""",
    ("event", 200): """
ID                            TYPE            CREATED           OBJECT                          AMOUNT
evt_8uYt7rEw6qLk5jHg4fDs3aPo  refund.created  2026-10-01 12:59  rf_1qWe2rTy3uIo4pAs5dFg6hJk  25.00 EUR
evt_8uYt7rEw6qLk5jHg4fDs3aPZ  refund.created  2026-01-01 00:30  rf_1qWe2rTy3uIo4pAs5dFg6hJk  25.00 EUR
""",
    ("endpoint", 40): """
we_2wSx3eDc4rFv5tGb6yHn7uJm
  enabled
  https://shop.example.com/webhooks/orders
  order.paid, order.cancelled, refund...
  2026-10-01 11:00

we_2wSx3eDc4rFv5tGb6yHn7uJZ
  enabled
  https://shop.example.com/webhooks/orders
  order.paid, order.cancelled, refund...
  2026-01-01 00:30
""",
    ("endpoint", 80): """
ID                           STATUS   URL
we_2wSx3eDc4rFv5tGb6yHn7uJm  enabled  https://shop.example.com/webhooks/orders
we_2wSx3eDc4rFv5tGb6yHn7uJZ  enabled  https://shop.example.com/webhooks/orders
""",
    ("endpoint", 200): """
ID                           STATUS   URL                                       EVENTS                                         CREATED
we_2wSx3eDc4rFv5tGb6yHn7uJm  enabled  https://shop.example.com/webhooks/orders  order.paid, order.cancelled, refund.succeeded  2026-10-01 11:00
we_2wSx3eDc4rFv5tGb6yHn7uJZ  enabled  https://shop.example.com/webhooks/orders  order.paid, order.cancelled, refund.succeeded  2026-01-01 00:30
""",
    ("method", 40): """
ID                           BRAND  ENDS
pm_7sTu8vWx9yZa0bCd1eFg2hIj  visa   4242
pm_7sTu8vWx9yZa0bCd1eFg2hIZ  visa   4242
""",
    ("method", 80): """
ID                           BRAND  ENDS  TOKEN
pm_7sTu8vWx9yZa0bCd1eFg2hIj  visa   4242  active
pm_7sTu8vWx9yZa0bCd1eFg2hIZ  visa   4242  active
""",
    ("method", 200): """
ID                           BRAND  ENDS  TOKEN
pm_7sTu8vWx9yZa0bCd1eFg2hIj  visa   4242  active
pm_7sTu8vWx9yZa0bCd1eFg2hIZ  visa   4242  active
""",
}


@pytest.mark.parametrize("kind", BLOCKS)
def test_block_at_80_columns(printed: Any, samples: Any, kind: str) -> None:
    """One object is a titled block of labelled fields (cli section 2)."""
    assert "\n" + printed("human", 80).one(samples[kind]) == BLOCKS[kind]


@pytest.mark.parametrize("kind", BLOCKS)
def test_block_at_200_columns_only_unwraps(printed: Any, samples: Any, kind: str) -> None:
    """A wide terminal does not scatter a block: it only needs fewer lines for long texts."""
    wide = printed("human", 200).one(samples[kind]).splitlines()
    narrow = BLOCKS[kind].splitlines()[1:]
    assert wide[:6] == narrow[:6]
    assert len(wide) <= len(narrow)
    assert max(map(len, wide)) <= 160


@pytest.mark.parametrize("kind", NARROW)
def test_block_at_40_columns(printed: Any, samples: Any, kind: str) -> None:
    """What does not fit beside its label stands under it, whole (R63)."""
    assert "\n" + printed("human", 40).one(samples[kind]) == NARROW[kind]


@pytest.mark.parametrize(("kind", "width"), LISTS)
def test_list(printed: Any, samples: Any, kind: str, width: int) -> None:
    """A list is a table that fits, or small blocks where none does (cli section 2, R63)."""
    first = samples[kind]
    second = first | {"id": first["id"][:-1] + "Z", "created": "2025-12-31T22:30:00Z"}
    if kind == "order":
        second |= {"status": "paid", "amount_total": 1234500, "shipping": {"country": "JP"}}
        second |= {"latest_payment": samples["payment"]["id"]}
    if kind == "payout":
        second |= {"status": "paid", "amount": 9900, "currency": "EUR"}
    assert "\n" + printed("human", width).page(first, second) == LISTS[kind, width]
