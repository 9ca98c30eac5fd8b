"""Events, webhook endpoints, delivery and signature."""

from typing import Final

TEXT: Final = """
== Events | Events
@ unit/sandbox/api/test_states.py::test_automatic_capture
order.paid | says | The order's payment is captured.
payment.captured | says | A capture happened; includes amount_captured.
@ unit/sandbox/api/test_states.py::test_cancelling_an_authorised_order_releases_it
order.cancelled | says | The order was cancelled.
payment.cancelled | chose | The authorisation was voided.
@ unit/sandbox/api/test_states.py::test_manual_capture_in_full
payment.authorized | says | Funds are held, manual capture.
@ unit/sandbox/api/test_cards.py::test_declined_card
payment.failed | says | A payment attempt failed; here: for good, after any smart retry.
@ unit/sandbox/api/test_states.py::test_delayed_debit
payment.processing | chose | A delayed method was accepted, its result is open.
@ unit/sandbox/api/test_states.py::test_refund_is_pending_then_succeeds
refund.created | chose | A refund was accepted.
refund.succeeded | says | The network confirmed a refund.
@ unit/sandbox/api/test_states.py::test_failed_refund_gives_its_amount_back
refund.failed | chose | The network refused a refund.
@ unit/sandbox/api/test_states.py::test_dispute_debits_the_balance_and_marks_the_payment
dispute.opened | says | A shopper disputed a payment.
@ unit/sandbox/api/test_states.py::test_submitting_needs_evidence
dispute.evidence_submitted | chose | Evidence was submitted.
@ unit/sandbox/api/test_states.py::test_magic_evidence_decides_after_five_seconds
dispute.won | says | Decided in the merchant's favour.
@ unit/sandbox/api/test_states.py::test_accepting_loses_at_once
dispute.lost | says | A dispute was lost; here also: deadline missed, or accepted.
@ unit/sandbox/api/test_states.py::test_payout_is_sent_and_paid
payout.created | chose | A payout was accepted.
payout.sent | chose | It was handed to the local network.
payout.paid | says | It reached the bank.
@ unit/sandbox/api/test_states.py::test_payout_fails_at_the_bank
payout.failed | says | It was rejected.
@ unit/sandbox/api/test_violations.py::test_every_event_type_can_be_subscribed_to
18 types | says | There are 18 event types, 11 of them named.
@ unit/sandbox/api/test_objects.py::test_event_can_be_retrieved_for_30_days
event.id | says | Prefix evt_.
event.type | says | The event type.
event.created | says | A timestamp.
event.livemode | says | false in test mode.
event.data | says | data.object is the changed object.
event.object | says | event
event.api_version | chose | The account's version when it was created.
retention of events | chose | 30 days, then 404.
@ proof/sandbox/test_state_machine.py::test_stories_in_two_modes_go_as_foretold
data.object | chose | The whole object as a GET shows it right after the change.
snapshot | chose | It never changes afterwards.
@ unit/sandbox/api/test_states.py::test_automatic_capture
order of events | chose | Those of one change: payment before order.

== Webhook endpoint | Resources, Webhook endpoint
@ unit/sandbox/api/test_objects.py::test_webhook_endpoint_shows_its_secret_once
webhook_endpoint.url | says | The receiver's HTTPS address.
webhook_endpoint.events | says | The subscribed types; the name of the field is ours.
webhook_endpoint.secret | says | It begins with whsec_; the name of the field is ours.
webhook_endpoint.id | chose | Prefix we_.
webhook_endpoint.object | says | Its type.
webhook_endpoint.description | chose | An own note.
webhook_endpoint.api_version | chose | The version of its events.
webhook_endpoint.created | chose | When it was registered.
webhook_endpoint.livemode | chose | false in test mode.
secret afterwards | chose | Shown by the registration and its replay only.
@ unit/sandbox/webhooks/test_schedule.py::test_failing_endpoint_is_warned_of_then_disabled
webhook_endpoint.status | chose | enabled or disabled.
e-mail | says | An endpoint that keeps failing produces an e-mail.
disabled | says | And is eventually disabled.
five days | chose | After five days in which every attempt failed.
@ unit/sandbox/api/test_violations.py::test_at_most_16_endpoints_are_enabled_in_a_mode
16 endpoints | chose | At most 16 are enabled in a mode.

== Delivery | Events, Delivery and retries
@ unit/sandbox/webhooks/test_sender.py::test_only_2xx_is_success
2xx | says | Anything else is a failure.
@ unit/sandbox/webhooks/test_sender.py::test_redirect_is_not_followed_and_no_cookie_is_kept
redirects | chose | A redirect is a failure and is not followed.
@ unit/sandbox/webhooks/test_sender.py::test_silent_receiver_fails_at_the_deadline
10 seconds | says | The receiver's deadline.
@ unit/sandbox/webhooks/test_schedule.py::test_failing_receiver_sees_15_attempts_at_exact_times
1 min, 10 min, 1 h, every 6 h | says | The retries, until 3 days have passed.
15 attempts | chose | Counted from the start of each attempt; the last at 67:11 h.
Svc-Event-Id, Svc-Delivery-Id, Svc-Delivery-Attempt | chose | Headers beside the signature.
@ unit/sandbox/webhooks/test_schedule.py::test_event_goes_to_those_enabled_and_subscribed_when_it_was_created
subscription | says | Only the types listed at registration.
time of selection | chose | Who is enabled and subscribed when the event is created.
@ unit/sandbox/control/test_webhook_faults.py::test_duplicate_delivers_the_same_event_again
at least once | says | The same event can be delivered more than once.
@ unit/sandbox/control/test_webhook_faults.py::test_reorder_delivers_the_last_first
order of delivery | says | Events can arrive out of order.
@ unit/sandbox/webhooks/test_schedule.py::test_body_is_the_event_as_compact_json
body | chose | The event as compact JSON, the same bytes in every attempt.
@ unit/sandbox/webhooks/test_schedule.py::test_schedule_survives_a_restart_between_any_attempts
after a restart | chose | No attempt is lost and none is early.

== Signature | Events, Signature
@ unit/sandbox/webhooks/test_schedule.py::test_every_attempt_is_signed_anew_and_verifies
Svc-Signature | says | A timestamp and an HMAC-SHA256 of the raw body.
layout | chose | t=<unix seconds>,v1=<hex>, several v1 during a rotation.
signed bytes | chose | <t>.<body> with the whole secret, whsec_ included, as key.
fresh t | chose | Each attempt is signed anew.
@ unit/sandbox/webhooks/test_schedule.py::test_body_is_the_event_as_compact_json
raw bytes | says | What is signed are the bytes that are sent.
@ unit/sandbox/api/test_stripe_library.py::test_library_verifies_our_deliveries
five minutes | says | Older deliveries are rejected by the verification helper.
"""  # noqa: E501  the name of a test is as long as it is
