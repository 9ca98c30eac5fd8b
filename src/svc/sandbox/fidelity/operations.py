"""The operations of the API."""

from typing import Final

TEXT: Final = """
== Operations | Endpoints
@ unit/sandbox/api/test_objects.py::test_order_create_answers_the_worked_example
POST /v1/orders | says | Creates an order and answers it with its client secret.
@ unit/sandbox/api/test_objects.py::test_no_later_answer_shows_the_client_secret
GET /v1/orders/:id | says | Retrieves an order.
@ unit/sandbox/api/test_objects.py::test_update_changes_what_follows_from_it
POST /v1/orders/:id | says | Updates an unpaid order.
@ unit/sandbox/api/test_states.py::test_cancelling_an_unpaid_order
POST /v1/orders/:id/cancel | says | Cancels an order.
@ unit/sandbox/api/test_lists.py::test_lists_are_newest_first_and_page_without_gaps
GET /v1/orders | says | Lists orders.
@ unit/sandbox/api/test_states.py::test_manual_capture_in_full
POST /v1/orders/:id/capture | says | Captures an authorised payment, in full without amount.
@ unit/sandbox/api/test_objects.py::test_payment_has_its_fields_in_order
GET /v1/payments/:id | says | Retrieves a payment.
@ unit/sandbox/api/test_lists.py::test_filter_by_parent
GET /v1/payments | says | Lists payments.
@ unit/sandbox/api/test_states.py::test_refunds_together_are_bounded_by_the_capture
POST /v1/refunds | says | Refunds all or part of a payment.
@ unit/sandbox/api/test_objects.py::test_refund_has_its_fields_in_order
GET /v1/refunds/:id | says | Retrieves a refund.
@ unit/sandbox/api/test_lists.py::test_lists_are_newest_first_and_page_without_gaps
GET /v1/refunds | chose | Lists refunds: the list is mentioned, its path is in no table.
@ unit/sandbox/api/test_states.py::test_payout_is_sent_and_paid
POST /v1/payouts | says | Sends a payout.
@ unit/sandbox/api/test_objects.py::test_payout_answers_the_worked_example
GET /v1/payouts/:id | says | Retrieves a payout.
@ unit/sandbox/api/test_lists.py::test_status_filter
GET /v1/payouts | says | Lists payouts.
@ unit/sandbox/api/test_objects.py::test_quote_has_its_fields_in_order
POST /v1/landed-cost/quotes | says | Quotes duties, taxes and fees.
@ unit/sandbox/api/test_objects.py::test_the_quote_of_an_order_can_be_retrieved
GET /v1/landed-cost/quotes/:id | says | Retrieves a quote.
@ unit/sandbox/api/test_objects.py::test_webhook_endpoint_shows_its_secret_once
POST /v1/webhook_endpoints | says | Registers an endpoint and answers its signing secret.
@ unit/sandbox/api/test_objects.py::test_event_can_be_retrieved_for_30_days
GET /v1/events/:id | says | Retrieves an event.
@ unit/sandbox/api/test_states.py::test_evidence_is_a_draft_until_it_is_submitted
POST /v1/disputes/:id | says | Attaches evidence and submits it.
@ unit/sandbox/api/test_objects.py::test_dispute_has_its_fields_in_order
GET /v1/disputes/:id | chose | Retrieves a dispute: other operations exist, it is not shown which.
@ unit/sandbox/api/test_lists.py::test_filter_by_parent
GET /v1/disputes | chose | Lists disputes.
@ unit/sandbox/api/test_states.py::test_accepting_loses_at_once
POST /v1/disputes/:id/accept | chose | Gives a dispute up: it is lost at once.
@ unit/sandbox/api/test_auth.py::test_unknown_path_is_404
other paths | chose | Answer 404 endpoint_unknown.

== Requests and answers | Endpoints
@ unit/sandbox/api/test_encodings.py::test_form_and_json_make_the_same_order
encodings | says | JSON bodies for orders, forms for captures, endpoints and disputes.
both encodings | chose | Every POST takes both; nested names are written in brackets in a form.
@ unit/sandbox/api/test_violations.py::test_violation_is_named
order: required | chose | amount, currency, shipping with country, items with name, quantity, price.
order: accepted | says | currency, amount, settlement_currency, shipping, items.
@ unit/sandbox/api/test_objects.py::test_update_changes_what_follows_from_it
order: update | chose | Any of the same fields; shipping and items are replaced as a whole.
@ unit/sandbox/api/test_states.py::test_cancelling_for_an_unknown_reason_is_refused
order: cancel | chose | An optional cancellation_reason out of four.
@ unit/sandbox/api/test_states.py::test_capture_amount_is_bounded
capture: amount | says | Optional; the full authorised amount without it.
capture: bounds | chose | From 1 to the authorised amount.
@ unit/sandbox/api/test_objects.py::test_capture_answers_the_payment
capture: answer | chose | The payment, not the order.
@ unit/sandbox/api/test_violations.py::test_refund_violations
refund: request | chose | payment, and optionally amount, reason and metadata.
@ unit/sandbox/api/test_objects.py::test_payout_to_an_account_number
payout: request | chose | amount, currency, destination; optionally source_currency, reference.
@ unit/sandbox/api/test_objects.py::test_worked_check_e_warns_twice_and_computes_the_same
quote: request | chose | currency, shipping, items; optionally ship_from_country, shipping_amount.
quote: guarantee | says | After warnings the caller mends the cause and asks for a new quote.
@ unit/sandbox/api/test_objects.py::test_webhook_endpoint_shows_its_secret_once
endpoint: request | says | url, an HTTPS address, and repeated events[].
endpoint: description | chose | Optional, up to 200 characters.
@ unit/sandbox/api/test_violations.py::test_loopback_http_webhooks_depend_on_the_setting
endpoint: plain HTTP | chose | Taken for this machine only, and only while a setting allows it.
@ unit/sandbox/api/test_states.py::test_every_evidence_key_is_taken
dispute: request | says | evidence[tracking_number], evidence[shipping_carrier], submit.
@ unit/sandbox/api/test_encodings.py::test_answers_are_utf8_json
answers | says | JSON with a standard HTTP status.
status of success | chose | Always 200.
@ unit/sandbox/api/test_encodings.py::test_body_over_one_mebibyte_is_413
body limit | chose | 1 MiB.
@ unit/sandbox/api/test_auth.py::test_request_id_is_new_for_each_exchange
Request-Id | chose | A new req_ id with every answer, replays included.
"""
