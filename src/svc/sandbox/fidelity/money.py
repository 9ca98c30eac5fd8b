"""Payments, refunds, payouts and disputes: fields, states, rules."""

from typing import Final

TEXT: Final = """
== Payment | Resources, Payment
@ unit/sandbox/api/test_objects.py::test_payment_has_its_fields_in_order
payment.id | says | Prefix pay_.
payment.object | says | payment
payment.amount_captured | says | Collected so far.
payment.retried | says | true when a smart retry was used.
payment.acquirer | says | The acquirer of that retry.
payment.order | chose | The order that it pays.
payment.status | chose | Words taken from the events.
payment.amount | chose | What was attempted: the order's amount_total.
payment.amount_released | chose | What went back to the shopper.
payment.amount_refunded | chose | Pending and succeeded refunds.
payment.currency | chose | The order's.
payment.method | chose | card, sepa_debit, ...
payment.card | chose | brand and last4.
payment.payment_method | chose | The card that the shopper saved with it.
payment.failure_code | chose | Why it failed.
payment.failure_message | chose | The same for people.
payment.decline_type | chose | soft or hard.
payment.disputed | chose | true once it was disputed.
payment.settlement_currency | chose | Filled at the capture.
payment.settlement_amount | chose | What the balance got.
payment.fx_rate | chose | Settlement units for one payment unit.
payment.authorization_expires_at | chose | When the hold ends.
payment.captured_at | chose | When it was captured.
payment.created | chose | When the attempt was made.
payment.livemode | chose | false in test mode.
@ unit/sandbox/api/test_states.py::test_manual_capture_in_full
payment authorized | chose | Funds are held.
payment captured | chose | Collected, in full or in part.
@ unit/sandbox/api/test_states.py::test_delayed_debit
payment processing | chose | The bank has not answered yet.
payment failed | chose | Declined or rejected for good.
@ unit/sandbox/api/test_states.py::test_cancelling_an_authorised_order_releases_it
payment cancelled | chose | The hold was released.

== Saved payment method | Resources, Saved payment method
@ unit/sandbox/api/test_cards.py::test_approved_card
payment_method.id | says | Prefix pm_.
payment_method.type | says | card
payment_method.card | says | brand, last4, network_token.
active | says | The network token is active.
suspended, unavailable | chose | Other values of network_token.
card: expiry | chose | exp_month and exp_year as well.
payment_method.object | says | Its type.
payment_method.created | chose | When it was saved.
payment_method.livemode | chose | false in test mode.

== Card behaviour | What the service does, 10
@ unit/sandbox/api/test_cards.py::test_smart_retries_are_off_by_default
smart retries | says | Off by default; a setting turns them on.
@ unit/sandbox/api/test_cards.py::test_declined_card
soft declines | says | Retried once when the setting is on.
hard declines | says | Never retried.
@ unit/sandbox/api/test_cards.py::test_retry_goes_through_the_shoppers_region
retry acquirer | says | Another acquirer in the shopper's region.
@ unit/sandbox/reference/test_cards.py::test_card_is_declined_with_its_code
test cards | chose | Which number does what.
@ unit/sandbox/reference/test_cards.py::test_decline_code_is_soft_or_hard
decline codes | chose | Which are soft and which are hard.
@ unit/sandbox/reference/test_methods.py::test_method_is_offered_exactly_where_the_table_says
methods by country | chose | Which method is offered for which currency and country.
@ unit/sandbox/reference/test_methods.py::test_checkout_speaks_the_language_of_the_country
language of the checkout | chose | By shipping country, else English.

== Refund | Resources, Refund
@ unit/sandbox/api/test_objects.py::test_refund_has_its_fields_in_order
refund.id | says | Prefix rf_.
refund.object | says | Its type.
refund.payment | chose | The payment that is refunded.
refund.order | chose | That payment's order.
refund.amount | chose | All that is left if none was given.
refund.currency | chose | The payment's.
refund.reason | chose | duplicate, fraudulent or requested_by_customer.
refund.status | chose | pending, succeeded or failed.
refund.failure_reason | chose | Why the network refused it.
refund.metadata | chose | Own keys and texts.
refund.created | chose | When it was asked for.
refund.livemode | chose | false in test mode.
@ unit/sandbox/api/test_states.py::test_refund_is_pending_then_succeeds
refund pending | chose | The status of a new refund.
refund succeeded | says | The network confirmed it; refund.succeeded is sent.
@ unit/sandbox/api/test_states.py::test_failed_refund_gives_its_amount_back
refund failed | chose | Its amount can be refunded again.
@ unit/sandbox/api/test_states.py::test_only_captured_payments_are_refunded
what can be refunded | chose | Captured payments, up to what is left of them.
@ unit/sandbox/api/test_states.py::test_dispute_action_in_each_state
refunds and disputes | chose | No refund while a dispute is open or after it was lost.

== Payout | Resources, Payout
@ unit/sandbox/api/test_objects.py::test_payout_answers_the_worked_example
payout.id | says | Prefix po_.
payout.object | says | Its type.
payout.fx_rate | says | It carries its FX rate; the name is ours.
payout.source_amount | says | And what it took from the balance, fees included; the name is ours.
payout.network_fees | says | And the network fees; the name is ours.
payout.failure_reason | says | And, on failure, a reason; name and words are ours.
payout.status | chose | created, sent, paid, failed.
payout.amount | chose | What the bank receives.
payout.currency | chose | What it receives it in.
payout.source_currency | chose | The balance that pays.
payout.destination | chose | country, account_holder_name, bank_name, last4.
payout.reference | chose | Shown to the beneficiary.
payout.failure_message | chose | The reason for people.
payout.estimated_arrival | chose | 24 hours later.
payout.sent_at | chose | When it was handed to the network.
payout.paid_at | chose | When the bank accepted it.
payout.failed_at | chose | When it was rejected.
payout.metadata | chose | Own keys and texts.
payout.created | chose | When it was asked for.
payout.livemode | chose | false in test mode.
@ unit/sandbox/api/test_objects.py::test_payout_arithmetic
payout arithmetic | chose | Converted at the rate, half up, plus a fee of 0.50 or 2.00 USD.
@ unit/sandbox/api/test_states.py::test_payout_is_sent_and_paid
payout created | says | A stage; the balance is debited.
payout sent | says | A stage: handed to the local network, here after 1 hour.
payout paid | says | A stage: accepted by the receiving bank, here after 24 hours.
@ unit/sandbox/api/test_states.py::test_payout_fails_at_the_bank
payout failed | says | A possible end; the balance gets everything back.
@ unit/sandbox/api/test_states.py::test_payout_needs_balance
short balance | chose | 400 balance_insufficient.
@ unit/sandbox/reference/test_banks.py::test_payout_ends_as_its_destination_says
test destinations | chose | Which account does what.

== Dispute | Resources, Dispute
@ unit/sandbox/api/test_objects.py::test_dispute_has_its_fields_in_order
dispute.id | says | Prefix dp_.
dispute.object | says | Its type.
dispute.evidence_due_by | says | The deadline.
dispute.evidence | says | A draft until it is submitted.
dispute.payment | chose | The payment that is disputed.
dispute.order | chose | Its order.
dispute.amount | chose | What was captured and not refunded.
dispute.currency | chose | The payment's.
dispute.reason | chose | One of eight.
dispute.status | chose | needs_response, under_review, won, lost.
dispute.evidence_status | chose | none, draft, submitted.
dispute.evidence_submitted_at | chose | When it was submitted.
dispute.closed_at | chose | When it was decided.
dispute.created | chose | When it was opened.
dispute.livemode | chose | false in test mode.
14 days | chose | The time to answer, to the end of the day.
@ unit/sandbox/api/test_states.py::test_every_evidence_key_is_taken
tracking_number, shipping_carrier | says | Evidence keys that are seen.
19 further evidence keys | chose | Taken from a service of the same family.
@ unit/sandbox/api/test_states.py::test_evidence_has_limits_and_known_keys
size of evidence | chose | 20000 characters a key, 150000 in all.
@ unit/sandbox/api/test_states.py::test_evidence_is_a_draft_until_it_is_submitted
dispute needs_response | chose | The status of a new dispute.
draft | says | Evidence can be edited until submit is true.
@ unit/sandbox/api/test_states.py::test_submitting_needs_evidence
submitting | says | Needs evidence; then it is submitted.
@ unit/sandbox/api/test_states.py::test_magic_evidence_decides_after_five_seconds
dispute under_review | chose | Evidence was submitted and is frozen.
dispute won | says | Decided for the merchant; dispute.won is sent.
dispute lost | says | Decided against; dispute.lost is sent.
@ unit/sandbox/api/test_states.py::test_a_missed_deadline_loses
missed deadline | chose | The dispute is lost.
@ unit/sandbox/api/test_states.py::test_dispute_debits_the_balance_and_marks_the_payment
balance | chose | Debited when a dispute opens, credited when it is won.
"""
