"""Orders and landed-cost quotes: fields, states, rules."""

from typing import Final

TEXT: Final = """
== Order | Resources, Order
@ unit/sandbox/api/test_objects.py::test_order_create_answers_the_worked_example
order.id | says | Prefix ord_.
order.object | says | order
order.status | says | requires_payment and paid are seen.
order.amount | says | What the merchant asks, minor unit.
order.currency | says | ISO 4217.
order.settlement_currency | says | ISO 4217.
default settlement currency | chose | A setting of the account, USD at first.
order.shipping | says | country and postal_code.
order.items | says | name, hs_code, quantity, unit_amount.
items: origin_country | chose | Optional; needed for a guarantee.
order.capture_method | says | manual authorises first.
automatic | chose | The other capture method, and the default.
manual | says | The capture method that authorises first.
order.client_secret | says | Returned on creation, for the browser checkout.
order.methods | says | The methods offered, card and sepa_debit among them.
order.landed_cost | says | duty, vat, currency.
landed_cost: more | chose | fees, total, guaranteed, and the id of the quote behind it.
order.amount_total | chose | amount plus landed cost: what the shopper pays.
order.amount_captured | chose | The sum over the order's payments.
order.amount_refunded | chose | The sum over the order's payments.
order.latest_payment | chose | The last attempt.
order.cancellation_reason | chose | Why it was cancelled, if it was.
order.cancelled_at | chose | When.
order.paid_at | chose | When it was paid.
order.metadata | chose | Own keys and texts.
order.created | chose | When it was created.
order.livemode | chose | false in test mode.
@ unit/sandbox/api/test_objects.py::test_address_parts_are_shown_only_if_given
shipping: more | chose | name, line1, line2, city, state, phone, shown only if given.
@ unit/sandbox/api/test_objects.py::test_no_later_answer_shows_the_client_secret
client_secret afterwards | chose | Only in the answer to the creation and its replay.
@ unit/sandbox/api/test_objects.py::test_landed_cost_is_not_collected_where_the_setting_says_so
total without collection | chose | A setting makes amount_total equal amount.

== Order states | States and transitions
@ unit/sandbox/api/test_states.py::test_order_action_in_each_state
requires_payment | says | The status of a new order.
only unpaid orders are updated | says | An update in any other state is refused.
refused actions | chose | 400 order_unexpected_state with current_status.
@ unit/sandbox/api/test_states.py::test_automatic_capture
paid | says | The order's payment is captured; order.paid is sent.
@ unit/sandbox/api/test_states.py::test_delayed_debit
processing | chose | A delayed method was accepted and its result is open.
@ unit/sandbox/api/test_states.py::test_manual_capture_in_full
authorized | chose | Funds are held, waiting for the capture.
@ unit/sandbox/api/test_states.py::test_cancelling_an_unpaid_order
cancelled | chose | Cancelled by a call or with an authorisation that expired.
cancelling sends order.cancelled | says | An event for every cancelled order.
duplicate, fraudulent, requested_by_customer, abandoned | chose | Reasons to cancel an order.
@ unit/sandbox/api/test_states.py::test_cancelling_an_authorised_order_releases_it
cancelling an authorised order | chose | Releases the whole amount, payment.cancelled first.
@ unit/sandbox/api/test_states.py::test_partial_capture_releases_the_rest
partial capture | says | Releases the rest to the shopper at once.
one capture | chose | There is no second capture of the same order.
@ unit/sandbox/api/test_states.py::test_authorisation_expires_after_seven_days
expiry | chose | After 7 days without a capture the order is cancelled.
@ unit/sandbox/api/test_states.py::test_a_declined_order_can_be_paid_again
after a decline | chose | The order waits for another attempt.
@ proof/sandbox/test_state_machine.py::test_stories_in_two_modes_go_as_foretold
final states | chose | paid and cancelled are final; refunds change no status.

== Landed-cost quote | Resources, Landed-cost quote
@ unit/sandbox/api/test_objects.py::test_quote_has_its_fields_in_order
landed_cost_quote.id | says | Prefix lcq_.
landed_cost_quote.guaranteed | says | true when the quote is guaranteed.
landed_cost_quote.warnings | says | code and item, when it cannot be guaranteed.
warnings: message | chose | A sentence for people.
landed_cost_quote.object | says | Its type.
landed_cost_quote.currency | chose | As in the request.
landed_cost_quote.shipping | chose | As in an order.
landed_cost_quote.items | chose | As in an order, each with duty, vat and duty_rate_bps.
landed_cost_quote.ship_from_country | chose | The account's country if none was given, US at first.
landed_cost_quote.shipping_amount | chose | Freight charged to the shopper.
landed_cost_quote.duty | chose | Minor unit of currency.
landed_cost_quote.vat | chose | Minor unit of currency.
landed_cost_quote.fees | chose | Minor unit of currency.
landed_cost_quote.total | chose | The sum of the three.
landed_cost_quote.expires_at | chose | 24 hours later; the quote can still be retrieved.
landed_cost_quote.created | chose | When it was made.
landed_cost_quote.livemode | chose | false in test mode.
@ unit/sandbox/reference/test_customs.py::test_check_e_short_code_and_no_origin
hs_code_incomplete | says | The warning about a short tariff code.
unknown origin | says | Another reason not to guarantee.
origin_country_unknown | chose | The name of that warning.
six digits | chose | A guarantee needs six digits, an origin and a listed destination.
@ unit/sandbox/reference/test_customs.py::test_warnings_follow_the_lines_and_then_the_causes
destination_not_supported | chose | The warning about a destination without a row.
@ unit/sandbox/reference/test_customs.py::test_equal_names_are_told_apart_by_their_index
warnings: item | chose | The name of the item, or items[0] where names are equal.
@ unit/sandbox/reference/test_customs.py::test_duty_rate_of_a_chapter
duty rates | chose | A fixture, not tariff data: never to be shown as real rates.
@ unit/sandbox/reference/test_customs.py::test_vat_of_a_country
VAT rates | chose | The same.
@ unit/sandbox/reference/test_customs.py::test_threshold_itself_is_still_low_value
thresholds | chose | Low-value rules by destination, as a fixture.
@ unit/sandbox/reference/test_customs.py::test_domestic_goods_pay_nothing
domestic goods | chose | Inside a country or the EU nothing is due.
@ unit/sandbox/reference/test_fx.py::test_table_holds_the_chosen_rates
exchange rates | chose | A fixed table of 33 currencies, 8 significant digits, half up.
"""
