# svc completion for PowerShell: no process is started by a Tab. Made by: svc completion powershell

$script:SvcLongNames = @{
    'quotes' = 'landed-cost-quotes'
}
$script:SvcWords = @{
    'version' = @(@('2026-03-01', ''), @('2026-09-01', ''))
    'output' = @(@('human', ''), @('json', ''), @('ndjson', ''), @('csv', ''), @('id', ''))
    'color' = @(@('auto', ''), @('always', ''), @('never', ''))
    'currency' = @(@('AED', ''), @('AFN', ''), @('ALL', ''), @('AMD', ''), @('AOA', ''), @('ARS', ''), @('AUD', ''), @('AWG', ''), @('AZN', ''), @('BAM', ''), @('BBD', ''), @('BDT', ''), @('BGN', ''), @('BHD', ''), @('BIF', ''), @('BMD', ''), @('BND', ''), @('BOB', ''), @('BOV', ''), @('BRL', ''), @('BSD', ''), @('BTN', ''), @('BWP', ''), @('BYN', ''), @('BZD', ''), @('CAD', ''), @('CDF', ''), @('CHE', ''), @('CHF', ''), @('CHW', ''), @('CLF', ''), @('CLP', ''), @('CNY', ''), @('COP', ''), @('COU', ''), @('CRC', ''), @('CUP', ''), @('CVE', ''), @('CZK', ''), @('DJF', ''), @('DKK', ''), @('DOP', ''), @('DZD', ''), @('EGP', ''), @('ERN', ''), @('ETB', ''), @('EUR', ''), @('FJD', ''), @('FKP', ''), @('GBP', ''), @('GEL', ''), @('GHS', ''), @('GIP', ''), @('GMD', ''), @('GNF', ''), @('GTQ', ''), @('GYD', ''), @('HKD', ''), @('HNL', ''), @('HTG', ''), @('HUF', ''), @('IDR', ''), @('ILS', ''), @('INR', ''), @('IQD', ''), @('IRR', ''), @('ISK', ''), @('JMD', ''), @('JOD', ''), @('JPY', ''), @('KES', ''), @('KGS', ''), @('KHR', ''), @('KMF', ''), @('KPW', ''), @('KRW', ''), @('KWD', ''), @('KYD', ''), @('KZT', ''), @('LAK', ''), @('LBP', ''), @('LKR', ''), @('LRD', ''), @('LSL', ''), @('LYD', ''), @('MAD', ''), @('MDL', ''), @('MGA', ''), @('MKD', ''), @('MMK', ''), @('MNT', ''), @('MOP', ''), @('MRU', ''), @('MUR', ''), @('MVR', ''), @('MWK', ''), @('MXN', ''), @('MXV', ''), @('MYR', ''), @('MZN', ''), @('NAD', ''), @('NGN', ''), @('NIO', ''), @('NOK', ''), @('NPR', ''), @('NZD', ''), @('OMR', ''), @('PAB', ''), @('PEN', ''), @('PGK', ''), @('PHP', ''), @('PKR', ''), @('PLN', ''), @('PYG', ''), @('QAR', ''), @('RON', ''), @('RSD', ''), @('RUB', ''), @('RWF', ''), @('SAR', ''), @('SBD', ''), @('SCR', ''), @('SDG', ''), @('SEK', ''), @('SGD', ''), @('SHP', ''), @('SLE', ''), @('SOS', ''), @('SRD', ''), @('SSP', ''), @('STN', ''), @('SVC', ''), @('SYP', ''), @('SZL', ''), @('THB', ''), @('TJS', ''), @('TMT', ''), @('TND', ''), @('TOP', ''), @('TRY', ''), @('TTD', ''), @('TWD', ''), @('TZS', ''), @('UAH', ''), @('UGX', ''), @('USD', ''), @('USN', ''), @('UYI', ''), @('UYU', ''), @('UYW', ''), @('UZS', ''), @('VED', ''), @('VES', ''), @('VND', ''), @('VUV', ''), @('WST', ''), @('XAF', ''), @('XCD', ''), @('XCG', ''), @('XOF', ''), @('XPF', ''), @('YER', ''), @('ZAR', ''), @('ZMW', ''), @('ZWG', ''))
    'country' = @(@('AD', ''), @('AE', ''), @('AF', ''), @('AG', ''), @('AI', ''), @('AL', ''), @('AM', ''), @('AO', ''), @('AQ', ''), @('AR', ''), @('AS', ''), @('AT', ''), @('AU', ''), @('AW', ''), @('AX', ''), @('AZ', ''), @('BA', ''), @('BB', ''), @('BD', ''), @('BE', ''), @('BF', ''), @('BG', ''), @('BH', ''), @('BI', ''), @('BJ', ''), @('BL', ''), @('BM', ''), @('BN', ''), @('BO', ''), @('BQ', ''), @('BR', ''), @('BS', ''), @('BT', ''), @('BV', ''), @('BW', ''), @('BY', ''), @('BZ', ''), @('CA', ''), @('CC', ''), @('CD', ''), @('CF', ''), @('CG', ''), @('CH', ''), @('CI', ''), @('CK', ''), @('CL', ''), @('CM', ''), @('CN', ''), @('CO', ''), @('CR', ''), @('CU', ''), @('CV', ''), @('CW', ''), @('CX', ''), @('CY', ''), @('CZ', ''), @('DE', ''), @('DJ', ''), @('DK', ''), @('DM', ''), @('DO', ''), @('DZ', ''), @('EC', ''), @('EE', ''), @('EG', ''), @('EH', ''), @('ER', ''), @('ES', ''), @('ET', ''), @('FI', ''), @('FJ', ''), @('FK', ''), @('FM', ''), @('FO', ''), @('FR', ''), @('GA', ''), @('GB', ''), @('GD', ''), @('GE', ''), @('GF', ''), @('GG', ''), @('GH', ''), @('GI', ''), @('GL', ''), @('GM', ''), @('GN', ''), @('GP', ''), @('GQ', ''), @('GR', ''), @('GS', ''), @('GT', ''), @('GU', ''), @('GW', ''), @('GY', ''), @('HK', ''), @('HM', ''), @('HN', ''), @('HR', ''), @('HT', ''), @('HU', ''), @('ID', ''), @('IE', ''), @('IL', ''), @('IM', ''), @('IN', ''), @('IO', ''), @('IQ', ''), @('IR', ''), @('IS', ''), @('IT', ''), @('JE', ''), @('JM', ''), @('JO', ''), @('JP', ''), @('KE', ''), @('KG', ''), @('KH', ''), @('KI', ''), @('KM', ''), @('KN', ''), @('KP', ''), @('KR', ''), @('KW', ''), @('KY', ''), @('KZ', ''), @('LA', ''), @('LB', ''), @('LC', ''), @('LI', ''), @('LK', ''), @('LR', ''), @('LS', ''), @('LT', ''), @('LU', ''), @('LV', ''), @('LY', ''), @('MA', ''), @('MC', ''), @('MD', ''), @('ME', ''), @('MF', ''), @('MG', ''), @('MH', ''), @('MK', ''), @('ML', ''), @('MM', ''), @('MN', ''), @('MO', ''), @('MP', ''), @('MQ', ''), @('MR', ''), @('MS', ''), @('MT', ''), @('MU', ''), @('MV', ''), @('MW', ''), @('MX', ''), @('MY', ''), @('MZ', ''), @('NA', ''), @('NC', ''), @('NE', ''), @('NF', ''), @('NG', ''), @('NI', ''), @('NL', ''), @('NO', ''), @('NP', ''), @('NR', ''), @('NU', ''), @('NZ', ''), @('OM', ''), @('PA', ''), @('PE', ''), @('PF', ''), @('PG', ''), @('PH', ''), @('PK', ''), @('PL', ''), @('PM', ''), @('PN', ''), @('PR', ''), @('PS', ''), @('PT', ''), @('PW', ''), @('PY', ''), @('QA', ''), @('RE', ''), @('RO', ''), @('RS', ''), @('RU', ''), @('RW', ''), @('SA', ''), @('SB', ''), @('SC', ''), @('SD', ''), @('SE', ''), @('SG', ''), @('SH', ''), @('SI', ''), @('SJ', ''), @('SK', ''), @('SL', ''), @('SM', ''), @('SN', ''), @('SO', ''), @('SR', ''), @('SS', ''), @('ST', ''), @('SV', ''), @('SX', ''), @('SY', ''), @('SZ', ''), @('TC', ''), @('TD', ''), @('TF', ''), @('TG', ''), @('TH', ''), @('TJ', ''), @('TK', ''), @('TL', ''), @('TM', ''), @('TN', ''), @('TO', ''), @('TR', ''), @('TT', ''), @('TV', ''), @('TW', ''), @('TZ', ''), @('UA', ''), @('UG', ''), @('UM', ''), @('US', ''), @('UY', ''), @('UZ', ''), @('VA', ''), @('VC', ''), @('VE', ''), @('VG', ''), @('VI', ''), @('VN', ''), @('VU', ''), @('WF', ''), @('WS', ''), @('YE', ''), @('YT', ''), @('ZA', ''), @('ZM', ''), @('ZW', ''))
    'order_capture_method' = @(@('automatic', ''), @('manual', ''))
    'order_cancellation_reason' = @(@('duplicate', ''), @('fraudulent', ''), @('requested_by_customer', ''), @('abandoned', ''))
    'order_status' = @(@('requires_payment', ''), @('processing', ''), @('authorized', ''), @('paid', ''), @('cancelled', ''))
    'payment_status' = @(@('processing', ''), @('authorized', ''), @('captured', ''), @('failed', ''), @('cancelled', ''))
    'refund_reason' = @(@('duplicate', ''), @('fraudulent', ''), @('requested_by_customer', ''))
    'refund_status' = @(@('pending', ''), @('succeeded', ''), @('failed', ''))
    'payout_status' = @(@('created', ''), @('sent', ''), @('paid', ''), @('failed', ''))
    'dispute_evidence' = @(@('tracking_number=', ''), @('shipping_carrier=', ''), @('shipping_date=', ''), @('shipping_address=', ''), @('shipping_documentation=', ''), @('customer_name=', ''), @('customer_email=', ''), @('customer_purchase_ip=', ''), @('customer_communication=', ''), @('billing_address=', ''), @('product_description=', ''), @('receipt=', ''), @('refund_policy=', ''), @('refund_refusal_explanation=', ''), @('cancellation_policy=', ''), @('cancellation_rebuttal=', ''), @('service_date=', ''), @('access_activity_log=', ''), @('duplicate_payment_id=', ''), @('duplicate_explanation=', ''), @('uncategorized_text=', ''))
    'dispute_status' = @(@('needs_response', ''), @('under_review', ''), @('won', ''), @('lost', ''))
    'event_type' = @(@('order.paid', ''), @('order.cancelled', ''), @('payment.authorized', ''), @('payment.captured', ''), @('payment.failed', ''), @('payment.processing', ''), @('payment.cancelled', ''), @('refund.created', ''), @('refund.succeeded', ''), @('refund.failed', ''), @('dispute.opened', ''), @('dispute.evidence_submitted', ''), @('dispute.won', ''), @('dispute.lost', ''), @('payout.created', ''), @('payout.sent', ''), @('payout.paid', ''), @('payout.failed', ''))
    'tunnel' = @(@('auto', ''), @('none', ''), @('cloudflared', ''), @('ngrok', ''), @('ssh:', ''))
    'events_listen_ack' = @(@('received', ''), @('forwarded', ''))
    'events_listen_retry' = @(@('fast', ''), @('real', ''), @('off', ''))
    'events_listen_print' = @(@('summary', ''), @('payload', ''), @('none', ''))
    'from_start' = @(@('now', ''), @('all', ''))
    'events_listen_signature' = @(@('own', ''), @('original', ''))
    'events_receive_print' = @(@('summary', ''), @('payload', ''), @('none', ''))
    'events_log_user_add_role' = @(@('admin', ''), @('receiver', ''), @('laptop', ''), @('job', ''))
    'events_tail_print' = @(@('summary', ''), @('payload', ''), @('none', ''))
    'posted' = @(@('orders.create', ''), @('orders.update', ''), @('orders.cancel', ''), @('orders.capture', ''), @('refunds.create', ''), @('payouts.create', ''), @('landed-cost-quotes.create', ''), @('webhook-endpoints.create', ''), @('disputes.update', ''), @('disputes.accept', ''))
    'keys_remind_format' = @(@('text', ''), @('json', ''), @('github', ''), @('ics', ''))
    'auth' = @(@('bearer', ''), @('basic', ''))
    'fixture' = @(,@('demo', ''))
    'sandbox_env_shell' = @(@('sh', ''), @('fish', ''), @('powershell', ''))
    'card' = @(@('4242424242424242', 'paid'), @('4000000000008013', 'declined: do_not_honor, approved when tried again'), @('4000000000009995', 'declined: insufficient_funds'), @('4000000000000002', 'declined: generic_decline'), @('4000000000000119', 'declined: processing_error'), @('4000000000009979', 'declined: stolen_card'), @('4000000000009987', 'declined: lost_card'), @('4000000000008021', 'declined: account_closed'), @('4000000000000069', 'declined: expired_card'), @('4000000000000127', 'declined: incorrect_cvc'), @('4100000000000019', 'declined: fraudulent'), @('4000000000003220', 'asks the shopper (3-D Secure)'), @('4000008400001629', 'declined: generic_decline, asks the shopper (3-D Secure)'), @('4000000000000259', 'disputed: fraudulent'), @('4000000000002685', 'disputed: product_not_received'), @('4000000000007726', 'refunds stay pending'), @('4000000000005126', 'refunds fail'), @('4000000000008039', 'network token suspended'))
    'method' = @(@('card', ''), @('sepa_debit', ''), @('bacs_debit', ''), @('us_bank_account', ''), @('becs_debit', ''), @('ideal', ''), @('bancontact', ''), @('eps', ''), @('multibanco', ''), @('mb_way', ''), @('bizum', ''), @('p24', ''), @('blik', ''), @('twint', ''), @('swish', ''), @('vipps', ''), @('mobilepay', ''), @('payto', ''), @('interac', ''), @('konbini', ''), @('paypay', ''), @('alipay', ''), @('wechat_pay', ''), @('kakao_pay', ''), @('paynow', ''), @('promptpay', ''), @('fpx', ''), @('upi', ''), @('pix', ''), @('oxxo', ''), @('knet', ''), @('benefit', ''), @('klarna', ''), @('paypal', ''))
    'three_ds' = @(@('succeed', ''), @('fail', ''), @('abandon', ''))
    'redirect_outcome' = @(@('success', ''), @('failure', ''), @('abandon', ''))
    'dispute_reason' = @(@('fraudulent', ''), @('product_not_received', ''), @('product_unacceptable', ''), @('duplicate', ''), @('credit_not_processed', ''), @('subscription_canceled', ''), @('unrecognized', ''), @('general', ''))
    'until' = @(@('next', ''), @('idle', ''))
    'delivery_status' = @(@('pending', ''), @('succeeded', ''), @('failed', ''), @('dropped', ''))
    'sandbox_keys_create_type' = @(@('secret', ''), @('publishable', ''), @('restricted', ''))
    'permission' = @(@('orders=none', ''), @('orders=read', ''), @('orders=write', ''), @('payments=none', ''), @('payments=read', ''), @('payments=write', ''), @('refunds=none', ''), @('refunds=read', ''), @('refunds=write', ''), @('payouts=none', ''), @('payouts=read', ''), @('payouts=write', ''), @('landed_cost=none', ''), @('landed_cost=read', ''), @('landed_cost=write', ''), @('webhook_endpoints=none', ''), @('webhook_endpoints=read', ''), @('webhook_endpoints=write', ''), @('events=none', ''), @('events=read', ''), @('events=write', ''), @('disputes=none', ''), @('disputes=read', ''), @('disputes=write', ''), @('all=none', ''), @('all=read', ''), @('all=write', ''))
    'http_method' = @(@('GET', ''), @('POST', ''))
    'fault_status' = @(@('429', ''), @('500', ''), @('502', ''), @('503', ''), @('504', ''))
    'sandbox_fault_add_connection' = @(@('close', ''), @('reset', ''), @('truncate', ''), @('garbage', ''), @('drip', ''))
    'sandbox_fault_add_webhook' = @(@('duplicate', ''), @('reorder', ''), @('drop', ''), @('bad_signature', ''), @('stale_timestamp', ''), @('delay', ''))
    'get_path' = @(@('/v1/orders', ''), @('/v1/payments', ''), @('/v1/refunds', ''), @('/v1/payouts', ''), @('/v1/disputes', ''))
    'post_path' = @(@('/v1/orders', ''), @('/v1/refunds', ''), @('/v1/payouts', ''), @('/v1/landed-cost/quotes', ''), @('/v1/webhook_endpoints', ''))
    'operation' = @(@('orders.create', ''), @('orders.update', ''), @('orders.cancel', ''), @('orders.capture', ''), @('refunds.create', ''), @('payouts.create', ''), @('landed-cost-quotes.create', ''), @('disputes.update', ''))
    'setting' = @(@('active_profile', ''), @('output', ''), @('color', ''), @('max_time', ''), @('cache', ''), @('keyring_backends', ''))
    'sandbox_decide_outcome' = @(@('won', ''), @('lost', ''))
    'balance' = @(@('AED=', ''), @('AFN=', ''), @('ALL=', ''), @('AMD=', ''), @('AOA=', ''), @('ARS=', ''), @('AUD=', ''), @('AWG=', ''), @('AZN=', ''), @('BAM=', ''), @('BBD=', ''), @('BDT=', ''), @('BGN=', ''), @('BHD=', ''), @('BIF=', ''), @('BMD=', ''), @('BND=', ''), @('BOB=', ''), @('BOV=', ''), @('BRL=', ''), @('BSD=', ''), @('BTN=', ''), @('BWP=', ''), @('BYN=', ''), @('BZD=', ''), @('CAD=', ''), @('CDF=', ''), @('CHE=', ''), @('CHF=', ''), @('CHW=', ''), @('CLF=', ''), @('CLP=', ''), @('CNY=', ''), @('COP=', ''), @('COU=', ''), @('CRC=', ''), @('CUP=', ''), @('CVE=', ''), @('CZK=', ''), @('DJF=', ''), @('DKK=', ''), @('DOP=', ''), @('DZD=', ''), @('EGP=', ''), @('ERN=', ''), @('ETB=', ''), @('EUR=', ''), @('FJD=', ''), @('FKP=', ''), @('GBP=', ''), @('GEL=', ''), @('GHS=', ''), @('GIP=', ''), @('GMD=', ''), @('GNF=', ''), @('GTQ=', ''), @('GYD=', ''), @('HKD=', ''), @('HNL=', ''), @('HTG=', ''), @('HUF=', ''), @('IDR=', ''), @('ILS=', ''), @('INR=', ''), @('IQD=', ''), @('IRR=', ''), @('ISK=', ''), @('JMD=', ''), @('JOD=', ''), @('JPY=', ''), @('KES=', ''), @('KGS=', ''), @('KHR=', ''), @('KMF=', ''), @('KPW=', ''), @('KRW=', ''), @('KWD=', ''), @('KYD=', ''), @('KZT=', ''), @('LAK=', ''), @('LBP=', ''), @('LKR=', ''), @('LRD=', ''), @('LSL=', ''), @('LYD=', ''), @('MAD=', ''), @('MDL=', ''), @('MGA=', ''), @('MKD=', ''), @('MMK=', ''), @('MNT=', ''), @('MOP=', ''), @('MRU=', ''), @('MUR=', ''), @('MVR=', ''), @('MWK=', ''), @('MXN=', ''), @('MXV=', ''), @('MYR=', ''), @('MZN=', ''), @('NAD=', ''), @('NGN=', ''), @('NIO=', ''), @('NOK=', ''), @('NPR=', ''), @('NZD=', ''), @('OMR=', ''), @('PAB=', ''), @('PEN=', ''), @('PGK=', ''), @('PHP=', ''), @('PKR=', ''), @('PLN=', ''), @('PYG=', ''), @('QAR=', ''), @('RON=', ''), @('RSD=', ''), @('RUB=', ''), @('RWF=', ''), @('SAR=', ''), @('SBD=', ''), @('SCR=', ''), @('SDG=', ''), @('SEK=', ''), @('SGD=', ''), @('SHP=', ''), @('SLE=', ''), @('SOS=', ''), @('SRD=', ''), @('SSP=', ''), @('STN=', ''), @('SVC=', ''), @('SYP=', ''), @('SZL=', ''), @('THB=', ''), @('TJS=', ''), @('TMT=', ''), @('TND=', ''), @('TOP=', ''), @('TRY=', ''), @('TTD=', ''), @('TWD=', ''), @('TZS=', ''), @('UAH=', ''), @('UGX=', ''), @('USD=', ''), @('USN=', ''), @('UYI=', ''), @('UYU=', ''), @('UYW=', ''), @('UZS=', ''), @('VED=', ''), @('VES=', ''), @('VND=', ''), @('VUV=', ''), @('WST=', ''), @('XAF=', ''), @('XCD=', ''), @('XCG=', ''), @('XOF=', ''), @('XPF=', ''), @('YER=', ''), @('ZAR=', ''), @('ZMW=', ''), @('ZWG=', ''))
    'sandbox_clock_mode' = @(@('realtime', ''), @('frozen', ''))
    'sandbox_setting' = @(@('smart_retries=', ''), @('settlement_currency=', ''), @('country=', ''), @('collect_landed_cost=', ''), @('pinned_version=', ''), @('unknown_parameters=', ''), @('error_envelope=', ''), @('insecure_http=', ''), @('allow_http_webhooks=', ''), @('allow_remote_webhooks=', ''), @('allow_self_signed_webhooks=', ''), @('rate_limit=', ''), @('signature_time=', ''), @('webhook_delivery=', ''), @('encodings=', ''), @('require_idempotency_key=', ''), @('chaos=', ''), @('voucher_days=', ''), @('payment_fee_bps=', ''), @('negative_balance=', ''))
    'completion_shell' = @(@('bash', ''), @('zsh', ''), @('fish', ''), @('powershell', ''))
    'help' = @(@('exit-codes', 'What the exit status of a command means.'), @('environment', 'Every variable that svc reads.'), @('output', 'Formats, queries, and where errors go.'), @('webhooks', 'Receiving events: verify, answer, skip, replay.'), @('team', 'One log for a team: a receiver, laptops, jobs that share a queue.'), @('team-operations', 'Running the servers of a team''s log.'), @('money', 'Amounts in minor units; paying once.'), @('sandbox', 'The service on this machine: keys, test cards, time.'), @('compare', 'Whether a service does what the sandbox assumes.'), @('faults', 'What can be made to go wrong in a sandbox, on purpose.'), @('ci', 'Running svc without a person at the terminal.'), @('agents', 'Commands as tools for an agent: what it may do, and who is asked.'), @('timeline', 'One story for any id, and what is missing in it.'), @('limits', 'How much a machine may refund, pay out or capture in an hour or a day.'), @('audit', 'Which events never came, told from the objects of the service.'), @('examine', 'Testing a webhook handler with good and bad deliveries.'), @('reminders', 'When keys are to be replaced, and who says so.'), @('moving', 'Taking profiles, keys and the journal to another machine.'), @('comparison', 'svc beside the Stripe CLI.'), @('changes', 'What is new, and what changed for scripts.'), @('assumptions', 'What the specification says, and what we chose.'), @('orders', 'Create, retrieve, update, capture, cancel and list orders.'), @('payments', 'Retrieve and list payments.'), @('refunds', 'Return all or part of a payment.'), @('payouts', 'Send money to receiving banks.'), @('landed-cost-quotes', 'Quote duties, taxes and fees.'), @('disputes', 'Answer disputes with evidence.'), @('get', 'Send any GET: an id or a /v1/ path.'), @('post', 'Send any POST to a /v1/ path.'), @('batch', 'Run an operation for every row of a file.'), @('events', 'Retrieve events; receive, verify and forward webhooks.'), @('webhook-endpoints', 'Register webhook endpoints.'), @('requests', 'List sent requests; settle those of unknown outcome.'), @('state', 'See what uses disk space on this machine; free it.'), @('keys', 'Keep API keys in the OS keyring.'), @('profiles', 'Name accounts and switch between them.'), @('config', 'Read and change settings.'), @('whoami', 'Show profile, address, mode and key in use.'), @('doctor', 'Check this machine and the account, with remedies.'), @('quickstart', 'See an order paid and its webhook arrive, in 15 seconds.'), @('mcp', 'Serve commands to an agent as tools (MCP).'), @('commands', 'List every command, for people or as data.'), @('completion', 'Complete commands, options and ids in your shell.'), @('help', 'Read about exit codes, webhooks, assumptions and more.'))
}
$script:SvcShared = @{
    'request' = @(@('--data', '+t', 'Any field: PATH=TEXT, PATH:=JSON, PATH=@FILE.'), @('-d', '+t', 'Any field: PATH=TEXT, PATH:=JSON, PATH=@FILE.'), @('--body', 'f', 'A JSON object; options and -d win over it.'), @('--idempotency-key', 't', 'A key of your own, in place of a new one.'), @('--new-request', '-', 'Send it, although the same request is unresolved.'), @('--form', '-', 'Send the body form-encoded.'), @('--json-body', '-', 'Send the body as JSON.'))
    'list' = @(@('--limit', 't', 'How many objects a page has.'), @('--starting-after', 't', 'Begin with what follows this object.'), @('--all', '-', 'List every object, page after page.'), @('--max', 't', 'List N objects, over several pages if needed.'), @('--created-gte', 't', 'Created at or after this: 2026-11-21, 2026-11-21T09:00, 7d (ago) or yesterday.'), @('--created-gt', 't', 'Created after this; of a day, after it is over.'), @('--created-lte', 't', 'Created at or before this; of a day, until its end.'), @('--created-lt', 't', 'Created before this.'), @('--param', '+t', 'Any other query parameter.'), @('--raw-csv', '-', 'Leave cells as they are, also those that a spreadsheet would run.'), @('--decimals', '-', 'Write amounts of csv with their currency''s decimals: 129.00; batch --decimals reads them.'))
    'preview' = @(@('--dry-run', '-', 'Print the request as JSON and send nothing.'), @('--curl', '-', 'Print the same call for curl and send nothing.'))
    'global' = @(@('--profile', 'p', 'The profile: whose address and key are used.'), @('--live', '-', 'The mode.'), @('--test', '-', 'The mode.'), @('--base-url', 't', 'The address of the API, without /v1.'), @('--api-version', 'w.version', 'The version of the API, sent as Svc-Version.'), @('--output', 'w.output', 'How results are printed: human, json, ndjson, csv, id.'), @('-o', 'w.output', 'How results are printed: human, json, ndjson, csv, id.'), @('--query', 't', 'Select parts of the whole result, in JMESPath.'), @('--raw', '-', 'Print texts that --query finds without quotes.'), @('--fields', 't', 'The columns of human lists and of csv.'), @('--max-time', 't', 'The longest that the command may take.'), @('--proxy', 't', 'A proxy, for https addresses.'), @('--ca-bundle', 'f', 'Further certificate authorities to trust (PEM).'), @('--yes', '-', 'Answer every question with yes.'), @('-y', '-', 'Answer every question with yes.'), @('--no-input', '-', 'Ask nothing; what needs an answer is refused.'), @('--quiet', '-', 'Print results and errors, no notes.'), @('-q', '-', 'Print results and errors, no notes.'), @('--verbose', '-', 'Print a line for each HTTP attempt, on stderr.'), @('-v', '-', 'Print a line for each HTTP attempt, on stderr.'), @('--color', 'w.color', 'When to use colours: auto, always, never.'), @('--utc', '-', 'Show and read times in UTC, not in local time.'), @('--help', '-', 'Show this message and exit.'), @('-h', '-', 'Show this message and exit.'))
}
$script:SvcCommands = @{
    '' = @{
        Commands = @(@('orders', 'Create, retrieve, update, capture, cancel and list orders.'), @('payments', 'Retrieve and list payments.'), @('refunds', 'Return all or part of a payment.'), @('payouts', 'Send money to receiving banks.'), @('landed-cost-quotes', 'Quote duties, taxes and fees.'), @('disputes', 'Answer disputes with evidence.'), @('get', 'Send any GET: an id or a /v1/ path.'), @('post', 'Send any POST to a /v1/ path.'), @('batch', 'Run an operation for every row of a file.'), @('events', 'Retrieve events; receive, verify and forward webhooks.'), @('webhook-endpoints', 'Register webhook endpoints.'), @('timeline', 'Show everything known about an id, in order of time.'), @('requests', 'List sent requests; settle those of unknown outcome.'), @('state', 'See what uses disk space on this machine; free it.'), @('keys', 'Keep API keys in the OS keyring.'), @('profiles', 'Name accounts and switch between them.'), @('config', 'Read and change settings.'), @('whoami', 'Show profile, address, mode and key in use.'), @('doctor', 'Check this machine and the account, with remedies.'), @('sandbox', 'Run the whole service on this machine.'), @('quickstart', 'See an order paid and its webhook arrive, in 15 seconds.'), @('mcp', 'Serve commands to an agent as tools (MCP).'), @('commands', 'List every command, for people or as data.'), @('completion', 'Complete commands, options and ids in your shell.'), @('help', 'Read about exit codes, webhooks, assumptions and more.'), @('quotes', 'Short for landed-cost-quotes.'))
        Options = @(@('--version', '-', 'Print the version.'), @('-V', '-', 'Print the version.'))
        Arguments = @()
        Shared = @(,'global')
    }
    'orders' = @{
        Commands = @(@('create', 'Create an order.'), @('retrieve', 'Retrieve an order.'), @('update', 'Update an unpaid order. The destination and the items are replaced as a whole.'), @('cancel', 'Cancel an order that is not paid.'), @('capture', 'Capture an authorised payment, in full or in part.'), @('list', 'List orders, newest first.'))
        Options = @()
        Arguments = @()
        Shared = @(,'global')
    }
    'orders create' = @{
        Commands = @()
        Options = @(@('--amount', 't', 'The amount in minor units: 12900 is 129.00 EUR.'), @('--currency', 'w.currency', 'The currency, an ISO 4217 code such as EUR.'), @('--settlement-currency', 'w.currency', 'The currency that you are settled in.'), @('--country', 'w.country', 'The destination, a country code such as DE.'), @('--postal-code', 't', 'The destination''s postal code.'), @('--item', '+t', 'An item, repeatable: its name, quantity, unit_amount, hs_code, origin_country.'), @('--capture-method', 'w.order_capture_method', 'automatic, or manual to authorise first and capture later.'), @('--metadata', '+t', 'A note of your own, repeatable.'))
        Arguments = @()
        Shared = @('request', 'preview', 'global')
    }
    'orders retrieve' = @{
        Commands = @()
        Options = @(@('--wait', '-', 'Wait until it is settled, at most --max-time seconds.'), @('--until', 't', 'Wait for this, or for one of several as a,b: requires_payment, processing, authorized, paid or cancelled.'))
        Arguments = @(,'i.ord_')
        Shared = @('preview', 'global')
    }
    'orders update' = @{
        Commands = @()
        Options = @(@('--amount', 't', 'The amount in minor units: 12900 is 129.00 EUR.'), @('--currency', 'w.currency', 'The currency, an ISO 4217 code such as EUR.'), @('--settlement-currency', 'w.currency', 'The currency that you are settled in.'), @('--country', 'w.country', 'The destination, a country code such as DE.'), @('--postal-code', 't', 'The destination''s postal code.'), @('--item', '+t', 'An item, repeatable: its name, quantity, unit_amount, hs_code, origin_country.'), @('--capture-method', 'w.order_capture_method', 'automatic, or manual to authorise first and capture later.'), @('--metadata', '+t', 'A note of your own, repeatable.'))
        Arguments = @(,'i.ord_')
        Shared = @('request', 'preview', 'global')
    }
    'orders cancel' = @{
        Commands = @()
        Options = @(,@('--reason', 'w.order_cancellation_reason', 'One of duplicate, fraudulent, requested_by_customer, abandoned.'))
        Arguments = @(,'i.ord_')
        Shared = @('request', 'preview', 'global')
    }
    'orders capture' = @{
        Commands = @()
        Options = @(@('--amount', 't', 'The amount in minor units: 12900 is 129.00 EUR.'), @('--over-limit', '-', 'Send more than a limit allows; a person must say yes to it.'))
        Arguments = @(,'i.ord_')
        Shared = @('request', 'preview', 'global')
    }
    'orders list' = @{
        Commands = @()
        Options = @(@('--status', 'w.order_status', 'Only those that are requires_payment, processing, authorized, paid or cancelled.'), @('--starting-after', 'i.ord_', 'Begin with what follows this object.'))
        Arguments = @()
        Shared = @('list', 'preview', 'global')
    }
    'payments' = @{
        Commands = @(@('retrieve', 'Retrieve a payment.'), @('list', 'List payments, newest first.'))
        Options = @()
        Arguments = @()
        Shared = @(,'global')
    }
    'payments retrieve' = @{
        Commands = @()
        Options = @(@('--wait', '-', 'Wait until it is settled, at most --max-time seconds.'), @('--until', 't', 'Wait for this, or for one of several as a,b: processing, authorized, captured, failed or cancelled.'))
        Arguments = @(,'i.pay_')
        Shared = @('preview', 'global')
    }
    'payments list' = @{
        Commands = @()
        Options = @(@('--order', 'i.ord_', 'Only of this order.'), @('--status', 'w.payment_status', 'Only those that are processing, authorized, captured, failed or cancelled.'), @('--starting-after', 'i.pay_', 'Begin with what follows this object.'))
        Arguments = @()
        Shared = @('list', 'preview', 'global')
    }
    'refunds' = @{
        Commands = @(@('create', 'Refund a payment; without --amount all that is left.'), @('retrieve', 'Retrieve a refund.'), @('list', 'List refunds, newest first.'))
        Options = @()
        Arguments = @()
        Shared = @(,'global')
    }
    'refunds create' = @{
        Commands = @()
        Options = @(@('--payment', 'i.pay_', 'The payment, pay_...'), @('--amount', 't', 'The amount in minor units: 12900 is 129.00 EUR.'), @('--reason', 'w.refund_reason', 'One of duplicate, fraudulent, requested_by_customer.'), @('--metadata', '+t', 'A note of your own, repeatable.'), @('--wait', '-', 'Wait until it is settled, at most --max-time seconds.'), @('--over-limit', '-', 'Send more than a limit allows; a person must say yes to it.'))
        Arguments = @()
        Shared = @('request', 'preview', 'global')
    }
    'refunds retrieve' = @{
        Commands = @()
        Options = @(@('--wait', '-', 'Wait until it is settled, at most --max-time seconds.'), @('--until', 't', 'Wait for this, or for one of several as a,b: pending, succeeded or failed.'))
        Arguments = @(,'i.rf_')
        Shared = @('preview', 'global')
    }
    'refunds list' = @{
        Commands = @()
        Options = @(@('--payment', 'i.pay_', 'Only of this payment.'), @('--status', 'w.refund_status', 'Only those that are pending, succeeded or failed.'), @('--starting-after', 'i.rf_', 'Begin with what follows this object.'))
        Arguments = @()
        Shared = @('list', 'preview', 'global')
    }
    'payouts' = @{
        Commands = @(@('create', 'Send a payout.'), @('retrieve', 'Retrieve a payout.'), @('list', 'List payouts, newest first.'))
        Options = @()
        Arguments = @()
        Shared = @(,'global')
    }
    'payouts create' = @{
        Commands = @()
        Options = @(@('--amount', 't', 'The amount in minor units: 12900 is 129.00 EUR.'), @('--currency', 'w.currency', 'The currency, an ISO 4217 code such as EUR.'), @('--source-currency', 'w.currency', 'The balance to debit, by its currency.'), @('--country', 'w.country', 'The country of the receiving bank, such as DE.'), @('--account-holder-name', 't', 'The name of the person or company that is paid.'), @('--iban', 't', 'The account''s IBAN; where there is none, --account-number.'), @('--account-number', 't', 'The account''s number; --bank-code goes with it.'), @('--bank-code', 't', 'The bank''s routing or sort code.'), @('--bic', 't', 'The bank''s BIC.'), @('--bank-name', 't', 'The bank''s name.'), @('--reference', 't', 'A text that the receiver is shown.'), @('--metadata', '+t', 'A note of your own, repeatable.'), @('--wait', '-', 'Wait until it is settled, at most --max-time seconds.'), @('--over-limit', '-', 'Send more than a limit allows; a person must say yes to it.'))
        Arguments = @()
        Shared = @('request', 'preview', 'global')
    }
    'payouts retrieve' = @{
        Commands = @()
        Options = @(@('--wait', '-', 'Wait until it is settled, at most --max-time seconds.'), @('--until', 't', 'Wait for this, or for one of several as a,b: created, sent, paid or failed.'))
        Arguments = @(,'i.po_')
        Shared = @('preview', 'global')
    }
    'payouts list' = @{
        Commands = @()
        Options = @(@('--status', 'w.payout_status', 'Only those that are created, sent, paid or failed.'), @('--starting-after', 'i.po_', 'Begin with what follows this object.'))
        Arguments = @()
        Shared = @('list', 'preview', 'global')
    }
    'landed-cost-quotes' = @{
        Commands = @(@('create', 'Request a landed-cost quote.'), @('retrieve', 'Retrieve a landed-cost quote.'))
        Options = @()
        Arguments = @()
        Shared = @(,'global')
    }
    'landed-cost-quotes create' = @{
        Commands = @()
        Options = @(@('--currency', 'w.currency', 'The currency, an ISO 4217 code such as EUR.'), @('--country', 'w.country', 'The destination, a country code such as DE.'), @('--postal-code', 't', 'The destination''s postal code.'), @('--item', '+t', 'An item, repeatable: its name, quantity, unit_amount, hs_code, origin_country.'), @('--ship-from-country', 'w.country', 'The country that it is sent from.'), @('--shipping-amount', 't', 'The freight in minor units.'))
        Arguments = @()
        Shared = @('request', 'preview', 'global')
    }
    'landed-cost-quotes retrieve' = @{
        Commands = @()
        Options = @()
        Arguments = @(,'i.lcq_')
        Shared = @('preview', 'global')
    }
    'disputes' = @{
        Commands = @(@('update', 'Attach evidence as a draft, or submit it, which is final.'), @('retrieve', 'Retrieve a dispute.'), @('list', 'List disputes, newest first.'), @('accept', 'Accept a dispute as lost. This cannot be undone.'))
        Options = @()
        Arguments = @()
        Shared = @(,'global')
    }
    'disputes update' = @{
        Commands = @()
        Options = @(@('--tracking-number', 't', 'The number by which the parcel is followed.'), @('--shipping-carrier', 't', 'Who carried it.'), @('--evidence', '+w.dispute_evidence', 'Other evidence, repeatable.'), @('--submit', '-', 'Submit it; without this it stays a draft.'))
        Arguments = @(,'i.dp_')
        Shared = @('request', 'preview', 'global')
    }
    'disputes retrieve' = @{
        Commands = @()
        Options = @(@('--wait', '-', 'Wait until it is settled, at most --max-time seconds.'), @('--until', 't', 'Wait for this, or for one of several as a,b: needs_response, under_review, won or lost.'))
        Arguments = @(,'i.dp_')
        Shared = @('preview', 'global')
    }
    'disputes list' = @{
        Commands = @()
        Options = @(@('--payment', 'i.pay_', 'Only of this payment.'), @('--status', 'w.dispute_status', 'Only those that are needs_response, under_review, won or lost.'), @('--due', 't', 'Only those in needs_response that are due within this time, such as 7d; all pages.'), @('--starting-after', 'i.dp_', 'Begin with what follows this object.'))
        Arguments = @()
        Shared = @('list', 'preview', 'global')
    }
    'disputes accept' = @{
        Commands = @()
        Options = @(,@('--over-limit', '-', 'Send more than a limit allows; a person must say yes to it.'))
        Arguments = @(,'i.dp_')
        Shared = @('request', 'preview', 'global')
    }
    'get' = @{
        Commands = @()
        Options = @(,@('--param', '+t', 'A query parameter, repeatable.'))
        Arguments = @(,'w.get_path,i.ord_|pay_|rf_|po_|lcq_|evt_|dp_')
        Shared = @('preview', 'global')
    }
    'post' = @{
        Commands = @()
        Options = @(,@('--over-limit', '-', 'Send more than a limit allows; a person must say yes to it.'))
        Arguments = @(,'w.post_path')
        Shared = @('request', 'preview', 'global')
    }
    'batch' = @{
        Commands = @()
        Options = @(@('--concurrency', 't', 'How many requests are under way at a time, 1 to 64.'), @('--rate', 't', 'At most so many requests a second.'), @('--strict-order', '-', 'Send one at a time, in the order of the file.'), @('--results', 'f', 'Where to write the result of each row, one line a row.'), @('--force', '-', 'Overwrite a results file that belongs to another batch.'), @('--import', 't', 'The name of the batch, the same on every machine; or its id, as in its results file.'), @('--run', 't', 'The occasion, such as 2026-11: the same label continues, another does it anew.'), @('--row-id', 't', 'The column that names a row, such as an invoice number, whatever is corrected in it.'), @('--again', '-', 'Do all rows once more, under a new label, which is printed.'), @('--continue', '-', 'Skip what was done 12 hours ago or more, and send the rest.'), @('--edited', '-', 'Send rows that look like a done row whose values were changed.'), @('--skip-done', '-', 'Count a row as done where a single command has sent the same.'), @('--retry-failed', '-', 'Send rows again whose refund or payout has failed.'), @('--decimals', '-', 'Read amounts of a CSV with their currency''s own decimals, as list --decimals wrote; it needs a column currency.'), @('--raw-csv', '-', 'Take cells as they are, as list --raw-csv wrote.'), @('--blank-means-all', '-', 'Take a blank amount for all that is left.'), @('--ignore-column', '+t', 'A column that is not a field, to be ignored; repeatable.'), @('--over-limit', '-', 'Send more than a limit allows; a person must say yes to it.'), @('--dry-run', '-', 'Check every row and send nothing.'))
        Arguments = @('w.operation', 'f')
        Shared = @(,'global')
    }
    'events' = @{
        Commands = @(@('retrieve', 'Retrieve an event.'), @('listen', 'Receive webhooks, verify each over its raw bytes, keep, show and forward it.'), @('receive', 'Receive webhooks for a team: verify each, keep a copy, put it into a shared log.'), @('log', 'Set up a team''s log and see how it is.'), @('inbox', 'Show what was received, the newest first. Every delivery in it was verified.'), @('audit', 'List the events that should have come and did not.'), @('replay', 'Send received events again: the same bytes, signed now.'), @('sign', 'Print the Svc-Signature header of a payload, signed as the service signs.'), @('tail', 'See events as they come. Each is verified and kept; none is forwarded.'), @('prune', 'Forget received events that failed: they are kept until you say so.'), @('verify', 'Check one delivery: exit 0 if it is authentic, else 11 and what is wrong.'), @('examine', 'Test a webhook handler with forged, repeated, reordered and unusual deliveries.'))
        Options = @()
        Arguments = @()
        Shared = @(,'global')
    }
    'events retrieve' = @{
        Commands = @()
        Options = @()
        Arguments = @(,'i.evt_')
        Shared = @('preview', 'global')
    }
    'events listen' = @{
        Commands = @()
        Options = @(@('--forward-to', '+t', 'Where to forward: 3000, :3000/hooks or a URL; repeatable.'), @('--run', '+t', 'Run a command for each event of a type (or GLOB), without a shell, with the payload on standard input; exit code 0 takes the event.'), @('--run-timeout', 't', 'How long one run of a command may take.'), @('--events', '+w.event_type', 'Event types; repeatable, or several as a,b.'), @('--where', 't', 'Only events that meet this, in JMESPath: ''data.object.amount > `10000`''.'), @('--tunnel', 'w.tunnel', 'auto, none, cloudflared, ngrok or ssh:[USER@]HOST[:REMOTE_PORT].'), @('--public-url', 't', 'A tunnel of yours that leads to --port.'), @('--port', 't', 'The local port.'), @('--endpoint-secret-stdin', '-', 'Use an endpoint that exists: its signing secret comes on standard input, or in SVC_WEBHOOK_SECRET.'), @('--ack', 'w.events_listen_ack', 'Answer the service when received or forwarded.'), @('--concurrency', 't', 'How many a target or command gets at a time.'), @('--ordered', '-', 'Forward one at a time for each data.object.id.'), @('--forward-timeout', 't', 'How long one forward may take.'), @('--retry', 'w.events_listen_retry', 'fast waits for a target that is away, and tries again after no answer, 408, 425, 429 and 5xx: in 2 s, 10 s, 1 min, 10 min, then each hour, and once the target has taken another event; real keeps the service''s schedule; off tries once.'), @('--header', '+t', 'A header to send along; repeatable.'), @('--allow-remote-forward', '-', 'Forward to other machines too.'), @('--insecure-target', '-', 'Take any certificate of a target on this machine or at a private address.'), @('--original-signature', '-', 'Forward late events as they were signed; by default those of over 4 minutes ago are signed anew.'), @('--max-body', 't', 'The largest body that is taken.'), @('--print', 'w.events_listen_print', 'What to print of an event: summary, payload (in JSON beside its bytes), or none, which also leaves out forwards that went well.'), @('--inspect', '%t', 'Serve a page on this machine that shows every delivery and sends it again.'), @('--until', 'w.event_type', 'End after N events of a type (or GLOB) have come.'), @('--timeout', 't', 'End after so long, with 11 if --until or --exec was not done.'), @('--ready-file', 'f', 'A file to write when ready and to remove at the end.'), @('--exec', 't', 'Have the shell run CMD once ready, with SVC_WEBHOOK_SECRET and without SVC_API_KEY, and end with it; with --until, when the events have come too.'), @('--strict', '-', 'Exit 11 if a delivery was rejected or not forwarded.'), @('--no-resume', '-', 'Leave alone what an earlier run could not forward; it is kept.'), @('--adopt', '-', 'Take over events that wait for targets of earlier runs.'), @('--from', 't', 'Read a team''s log, nats+tls://HOST/NAME, that svc events receive fills; nothing is registered, and no tunnel is needed.'), @('--group', 't', 'With --from: share a queue; each event goes to one of the group.'), @('--from-start', 'w.from_start', 'With --from, where the first run begins: now, all, 2h (ago) or today.'), @('--name', 't', 'With --from: this reader''s name.'), @('--signature', 'w.events_listen_signature', 'With --from: own, made anew with this machine''s secret; or original, which an app refuses after 5 minutes.'), @('--print-secret', '-', 'Print the signing secret and end.'))
        Arguments = @()
        Shared = @(,'global')
    }
    'events receive' = @{
        Commands = @()
        Options = @(@('--to', 't', 'The log, nats+tls://HOST/NAME.'), @('--public-url', 't', 'The address that leads to --port.'), @('--tunnel', 'w.tunnel', 'As for svc events listen: auto, none, cloudflared, ngrok or ssh:HOST.'), @('--port', 't', 'The local port.'), @('--events', '+w.event_type', 'Event types; repeatable, or several as a,b.'), @('--endpoint-secret-stdin', '-', 'Use an endpoint that exists: its signing secret comes on standard input, or in SVC_WEBHOOK_SECRET.'), @('--max-body', 't', 'The largest body that is taken.'), @('--log-monitor', '+t', 'The monitoring address of a server, such as http://127.0.0.1:8222, repeatable: refuse a log that acknowledges before it writes to the disk.'), @('--no-copy', '-', 'Keep no copy on this machine''s disk.'), @('--print', 'w.events_receive_print', 'What to print of an event: summary, payload (in JSON beside its bytes), or none, which also leaves out forwards that went well.'), @('--ready-file', 'f', 'A file to write when ready and to remove at the end.'))
        Arguments = @()
        Shared = @(,'global')
    }
    'events log' = @{
        Commands = @(@('login', 'Store credentials of a log in the OS keyring, for the servers of this address alone.'), @('status', 'Show how a log is: what it holds, its copies, groups and laptops, and what was put aside.'), @('refill', 'Put the copies that receivers of this machine have kept into a log that has lost events.'), @('forget', 'Stop svc doctor from checking a log that is not used any more; what was read stays known.'), @('template', 'Print the configuration of one of the three servers of a log, or of one alone.'), @('create', 'Make the streams of a log, with an admin''s credentials; what is there is left as it is.'), @('user', 'Add, remove and renew the users of a log.'), @('failed', 'See what groups have put aside, and give it to them again.'))
        Options = @()
        Arguments = @()
        Shared = @(,'global')
    }
    'events log login' = @{
        Commands = @()
        Options = @()
        Arguments = @(,'t')
        Shared = @(,'global')
    }
    'events log status' = @{
        Commands = @()
        Options = @(,@('--from', 't', 'The log, nats+tls://HOST/NAME.'))
        Arguments = @()
        Shared = @(,'global')
    }
    'events log refill' = @{
        Commands = @()
        Options = @(@('--to', 't', 'The log, nats+tls://HOST/NAME.'), @('--since', 't', 'Copies since: 2h, 7d, yesterday or 2026-11-21.'))
        Arguments = @()
        Shared = @(,'global')
    }
    'events log forget' = @{
        Commands = @()
        Options = @(,@('--from', 't', 'The log, nats+tls://HOST/NAME.'))
        Arguments = @()
        Shared = @(,'global')
    }
    'events log template' = @{
        Commands = @()
        Options = @(@('--name', 't', 'The log''s name.'), @('--node', 't', 'Which of the three servers it is for.'), @('--host', '+t', 'The name of a server, for each of the three in order.'), @('--events-per-minute', 't', 'Size it for so many events a minute, kept for seven days.'), @('--max-file-store', 't', 'How much each server may store, such as 20GiB.'), @('--environment', '-', 'Print the variables that servers read, with new secrets.'), @('--systemd', '-', 'Print a unit of systemd that runs one.'), @('--trial', '-', 'All servers on this machine, without certificates.'), @('--single', '-', 'One server in place of three, for a team that can wait for it.'))
        Arguments = @()
        Shared = @(,'global')
    }
    'events log create' = @{
        Commands = @()
        Options = @(@('--to', 't', 'The log, nats+tls://HOST/NAME.'), @('--group', '+t', 'A queue that jobs share; repeatable.'), @('--from', 'w.from_start', 'Where groups that are made begin: all, now, or 2h (ago).'), @('--replicas', 't', 'How many copies there are; 1 only for trying out.'), @('--max-bytes', 't', 'How much it holds, such as 512MiB.'), @('--events-per-minute', 't', 'Size it for so many events a minute, kept for seven days.'), @('--print-key', '-', 'Print the log''s key, for the credentials of its members.'), @('--new-key', '-', 'Replace the log''s key; members need the new one.'))
        Arguments = @()
        Shared = @(,'global')
    }
    'events log user' = @{
        Commands = @(@('add', 'Add a user and print its credentials: hand them over, they are shown once.'), @('rotate', 'Give a user a new password and print its credentials; the old one ends with the reload.'), @('remove', 'Remove a user; the servers refuse the user once they are reloaded.'))
        Options = @()
        Arguments = @()
        Shared = @(,'global')
    }
    'events log user add' = @{
        Commands = @()
        Options = @(@('--role', 'w.events_log_user_add_role', 'What the user may do: admin, receiver, laptop or job.'), @('--group', 't', 'The queue of a job.'), @('--log', 't', 'The log''s name, where the file is new.'), @('--users', 'f', 'The users'' file, which lies beside the servers'' configuration.'))
        Arguments = @(,'t')
        Shared = @(,'global')
    }
    'events log user rotate' = @{
        Commands = @()
        Options = @(,@('--users', 'f', 'The users'' file, which lies beside the servers'' configuration.'))
        Arguments = @(,'t')
        Shared = @(,'global')
    }
    'events log user remove' = @{
        Commands = @()
        Options = @(,@('--users', 'f', 'The users'' file, which lies beside the servers'' configuration.'))
        Arguments = @(,'t')
        Shared = @(,'global')
    }
    'events log failed' = @{
        Commands = @(@('list', 'List what was put aside, with the reason, the oldest first.'), @('show', 'Show an entry of the list, with the event as it was received.'), @('retry', 'Give an event to its group again, with an admin''s credentials, and take it off the list.'), @('drop', 'Take an event off the list, with an admin''s credentials; it stays in the log.'))
        Options = @()
        Arguments = @()
        Shared = @(,'global')
    }
    'events log failed list' = @{
        Commands = @()
        Options = @(@('--from', 't', 'The log, nats+tls://HOST/NAME.'), @('--group', 't', 'Those of one group.'))
        Arguments = @()
        Shared = @(,'global')
    }
    'events log failed show' = @{
        Commands = @()
        Options = @(,@('--from', 't', 'The log, nats+tls://HOST/NAME.'))
        Arguments = @(,'t')
        Shared = @(,'global')
    }
    'events log failed retry' = @{
        Commands = @()
        Options = @(,@('--from', 't', 'The log, nats+tls://HOST/NAME.'))
        Arguments = @(,'t')
        Shared = @(,'global')
    }
    'events log failed drop' = @{
        Commands = @()
        Options = @(,@('--from', 't', 'The log, nats+tls://HOST/NAME.'))
        Arguments = @(,'t')
        Shared = @(,'global')
    }
    'events inbox' = @{
        Commands = @(,@('show', 'Show one delivery.'))
        Options = @(@('--type', 'w.event_type', 'Only these event types.'), @('--failed', '-', 'Only those that a target did not take and that are not tried again.'), @('--pending', '-', 'Only those still to be forwarded; with --failed, those as well.'), @('--since', 't', 'Received since: 2h, 3d, yesterday or 2026-11-21.'), @('--object', 'i.ord_|pay_|rf_|po_|lcq_|evt_|dp_', 'Only about this object, or naming it.'), @('--text', 't', 'Only those with these words in them.'), @('--where', 't', 'Only events that meet this, in JMESPath: ''data.object.amount > `10000`''.'), @('--max', 't', 'How many at most, the newest.'), @('--limit', 't', 'How many at most, the newest.'))
        Arguments = @()
        Shared = @(,'global')
    }
    'events inbox show' = @{
        Commands = @()
        Options = @()
        Arguments = @(,'i.evt_')
        Shared = @(,'global')
    }
    'events audit' = @{
        Commands = @()
        Options = @(@('--since', 't', 'Events sent since: 2h, 3d, yesterday or 2026-11-21.'), @('--from', 't', 'Compare with a team''s log in place of the inbox.'), @('--created-since', 't', 'Look at objects made since; by default 30 days before --since.'))
        Arguments = @()
        Shared = @(,'global')
    }
    'events replay' = @{
        Commands = @()
        Options = @(@('--failed', '-', 'All events that a target did not take and that are not tried again.'), @('--pending', '-', 'All still to be forwarded, where no listener runs that does it.'), @('--forward-to', 't', 'Where to send them.'), @('--times', 't', 'How many times each is sent.'), @('--original-signature', '-', 'Keep the old signature and its time.'), @('--where', 't', 'Only events that meet this, in JMESPath: ''data.object.amount > `10000`''.'), @('--set', '+t', 'Change the event before it is sent: data.object.amount=1; repeatable.'), @('--forward-timeout', 't', 'How long one forward may take.'), @('--allow-remote-forward', '-', 'Send to other machines too.'))
        Arguments = @(,'+i.evt_')
        Shared = @(,'global')
    }
    'events sign' = @{
        Commands = @()
        Options = @(@('--payload', 'f', 'The raw body.'), @('--secret-stdin', '-', 'Read the signing secret from standard input.'), @('--endpoint', 'i.we_', 'The endpoint whose secret signs it: we_...'), @('--now', 't', 'The time of the signature: 10m (ago) for one that is too old.'))
        Arguments = @()
        Shared = @(,'global')
    }
    'events tail' = @{
        Commands = @()
        Options = @(@('--events', '+w.event_type', 'Event types; repeatable, or several as a,b.'), @('--where', 't', 'Only events that meet this, in JMESPath: ''data.object.amount > `10000`''.'), @('--print', 'w.events_tail_print', 'What to print of an event: summary, payload (in JSON beside its bytes), or none, which also leaves out forwards that went well.'), @('--until', 'w.event_type', 'End after N events of a type (or GLOB) have come.'), @('--timeout', 't', 'End after so long, with 11 if --until was not done.'), @('--tunnel', 'w.tunnel', 'auto, none, cloudflared, ngrok or ssh:[USER@]HOST[:REMOTE_PORT].'), @('--public-url', 't', 'A tunnel of yours that leads to --port.'), @('--port', 't', 'The local port.'))
        Arguments = @()
        Shared = @(,'global')
    }
    'events prune' = @{
        Commands = @()
        Options = @(@('--failed', '-', 'Those that a target did not take and that are not tried again.'), @('--before', 't', 'Received before: 30d, yesterday or 2026-11-21.'))
        Arguments = @()
        Shared = @(,'global')
    }
    'events verify' = @{
        Commands = @()
        Options = @(@('--header', '+t', 'The Svc-Signature header; repeatable, for each line of it.'), @('--payload', 'f', 'The raw body.'), @('--secret-stdin', '-', 'Read the signing secret from standard input.'), @('--now', 't', 'The time to check as of: 2026-11-21T09:00, Unix seconds or 2h (ago).'))
        Arguments = @()
        Shared = @(,'global')
    }
    'events examine' = @{
        Commands = @()
        Options = @(@('--forward-to', 't', 'The handler: 3000, 3000/webhooks or a URL.'), @('--check', 't', 'A shell command that prints what the handler has done: a number, or a line for each event.'), @('--type', 'w.event_type', 'The type of event whose effect --check shows.'), @('--settle', 't', 'How long an effect may take to show.'), @('--forward-timeout', 't', 'How long an answer may take.'), @('--report', 'f', 'Write a report in Markdown too, as for a pull request.'), @('--endpoint', 'i.we_', 'The endpoint whose secret signs the events: we_...'), @('--secret-stdin', '-', 'Read the signing secret from standard input.'), @('--allow-remote-forward', '-', 'Examine a handler on another machine too.'))
        Arguments = @()
        Shared = @(,'global')
    }
    'webhook-endpoints' = @{
        Commands = @(,@('create', 'Register an endpoint; its signing secret is shown this once.'))
        Options = @()
        Arguments = @()
        Shared = @(,'global')
    }
    'webhook-endpoints create' = @{
        Commands = @()
        Options = @(@('--url', 't', 'Where events are sent.'), @('--events', '+w.event_type', 'An event type such as order.paid; repeatable, or several as a,b.'), @('--description', 't', 'A note of your own.'))
        Arguments = @()
        Shared = @('request', 'preview', 'global')
    }
    'timeline' = @{
        Commands = @()
        Options = @()
        Arguments = @(,'i.rq_')
        Shared = @(,'global')
    }
    'requests' = @{
        Commands = @(@('list', 'List the POSTs in this machine''s journal, newest first.'), @('show', 'Show one request: what was sent, with which key, and how it ended.'), @('resume', 'Send an unresolved request again; it is never doubled.'), @('adopt', 'Take over what can be read of another state database.'), @('start-empty', 'Begin without the state database that was damaged and set aside.'), @('forget', 'Delete a request from the journal, once its outcome is known to you.'))
        Options = @()
        Arguments = @()
        Shared = @(,'global')
    }
    'requests list' = @{
        Commands = @()
        Options = @(@('--unresolved', '-', 'Only those whose outcome is not known.'), @('--object', 'i.ord_|pay_|rf_|po_|lcq_|evt_|dp_', 'Only those that made this object, or name it.'), @('--since', 't', 'Recorded since: 2h, 3d, yesterday or 2026-11-21.'), @('--operation', 'w.posted', 'Only these, such as refunds.create.'), @('--max', 't', 'How many at most, the newest.'), @('--limit', 't', 'How many at most, the newest.'))
        Arguments = @()
        Shared = @(,'global')
    }
    'requests show' = @{
        Commands = @()
        Options = @()
        Arguments = @(,'i.rq_')
        Shared = @(,'global')
    }
    'requests resume' = @{
        Commands = @()
        Options = @()
        Arguments = @(,'i.rq_')
        Shared = @(,'global')
    }
    'requests adopt' = @{
        Commands = @()
        Options = @()
        Arguments = @(,'f')
        Shared = @(,'global')
    }
    'requests start-empty' = @{
        Commands = @()
        Options = @()
        Arguments = @()
        Shared = @(,'global')
    }
    'requests forget' = @{
        Commands = @()
        Options = @()
        Arguments = @(,'i.rq_')
        Shared = @(,'global')
    }
    'state' = @{
        Commands = @(,@('compact', 'Forget what is due, and give free room back to the disk.'))
        Options = @()
        Arguments = @()
        Shared = @(,'global')
    }
    'state compact' = @{
        Commands = @()
        Options = @()
        Arguments = @()
        Shared = @(,'global')
    }
    'keys' = @{
        Commands = @(@('add', 'Store an API key in the OS keyring.'), @('list', 'List the stored keys by their last four characters.'), @('remove', 'Remove a stored key from every keyring.'), @('roll', 'Put a new key in the place of the stored one.'), @('remind', 'Say which API keys and signing secrets are due to be replaced.'))
        Options = @()
        Arguments = @()
        Shared = @(,'global')
    }
    'keys add' = @{
        Commands = @()
        Options = @(@('--stdin', '-', 'Read the key from a pipe.'), @('--publishable', '-', 'It is a pk_ key, for the sandbox''s checkout.'), @('--no-check', '-', 'Do not ask the service about the key.'))
        Arguments = @()
        Shared = @(,'global')
    }
    'keys list' = @{
        Commands = @()
        Options = @()
        Arguments = @()
        Shared = @(,'global')
    }
    'keys remove' = @{
        Commands = @()
        Options = @(,@('--publishable', '-', 'It is a pk_ key, for the sandbox''s checkout.'))
        Arguments = @()
        Shared = @(,'global')
    }
    'keys roll' = @{
        Commands = @()
        Options = @(@('--grace', 't', 'How long the old key works on, as chosen in the dashboard.'), @('--stdin', '-', 'Read the new key from a pipe.'), @('--dashboard', 't', 'The dashboard''s page, to be opened.'), @('--no-check', '-', 'Do not ask the service about the keys.'))
        Arguments = @()
        Shared = @(,'global')
    }
    'keys remind' = @{
        Commands = @()
        Options = @(@('--max-age', 't', 'The age at which a key is to be replaced.'), @('--warn', 't', 'How long before that age a key is due.'), @('--format', 'w.keys_remind_format', 'One of text, json, github, ics.'), @('--created', 't', 'When the key in SVC_API_KEY was made: 2025-10-01 or 60d (ago).'))
        Arguments = @()
        Shared = @(,'global')
    }
    'profiles' = @{
        Commands = @(@('list', 'List the profiles.'), @('use', 'Make a profile the one that is used where none is named.'), @('create', 'Create a profile.'), @('remove', 'Remove a profile that has no stored keys.'))
        Options = @()
        Arguments = @()
        Shared = @(,'global')
    }
    'profiles list' = @{
        Commands = @()
        Options = @()
        Arguments = @()
        Shared = @(,'global')
    }
    'profiles use' = @{
        Commands = @()
        Options = @()
        Arguments = @(,'p')
        Shared = @(,'global')
    }
    'profiles create' = @{
        Commands = @()
        Options = @(@('--auth', 'w.auth', 'How the key is sent: bearer or basic.'), @('--key-command', 't', 'A command that prints the key, run each time without a shell; nothing is stored.'))
        Arguments = @(,'t')
        Shared = @(,'global')
    }
    'profiles remove' = @{
        Commands = @()
        Options = @()
        Arguments = @(,'p')
        Shared = @(,'global')
    }
    'config' = @{
        Commands = @(@('get', 'Show what the configuration says, defaults included.'), @('set', 'Change a setting; the file''s comments stay.'), @('unset', 'Take a setting out, so that its default holds again.'), @('path', 'Show where the configuration file is, or would be.'))
        Options = @()
        Arguments = @()
        Shared = @(,'global')
    }
    'config get' = @{
        Commands = @()
        Options = @()
        Arguments = @(,'w.setting')
        Shared = @(,'global')
    }
    'config set' = @{
        Commands = @()
        Options = @()
        Arguments = @('w.setting', 't')
        Shared = @(,'global')
    }
    'config unset' = @{
        Commands = @()
        Options = @()
        Arguments = @(,'w.setting')
        Shared = @(,'global')
    }
    'config path' = @{
        Commands = @()
        Options = @()
        Arguments = @()
        Shared = @(,'global')
    }
    'whoami' = @{
        Commands = @()
        Options = @()
        Arguments = @()
        Shared = @(,'global')
    }
    'doctor' = @{
        Commands = @()
        Options = @(@('--log-monitor', '+t', 'The monitoring address of a team''s log, for each of its servers.'), @('--report', '-', 'Print what to attach to a report of a bug; no secret is in it.'))
        Arguments = @()
        Shared = @(,'global')
    }
    'sandbox' = @{
        Commands = @(@('start', 'Start the service on this machine. Ctrl-C stops it; its data stays in one file.'), @('stop', 'Stop a running sandbox; its data stays.'), @('status', 'Show the sandboxes that are running. The exit code is 11 when none is.'), @('logs', 'Show a sandbox''s warnings and errors; with --follow further ones as they come.'), @('env', 'Print shell exports of a sandbox''s address and key. The key is a public constant.'), @('pay', 'Pay an order as its shopper would in the browser.'), @('checkout', 'Open the page on which the shopper pays an order.'), @('dispute', 'Have the shopper dispute a captured payment.'), @('settle', 'Have a bank confirm a payment, refund or payout now.'), @('fail', 'Have a bank reject a payment, refund or payout now.'), @('decide', 'Decide a dispute whose evidence is under review.'), @('customs', 'Have customs charge a paid order. With a guaranteed quote the service covers the excess.'), @('balances', 'Show the balances for payouts, or set some.'), @('advance', 'Turn the sandbox''s clock forward. What falls due on the way happens, webhooks too.'), @('clock', 'Show the sandbox''s clock, stop it or let it run. A stopped clock moves only when advanced.'), @('trigger', 'Let an event of any type happen, with all that it needs.'), @('events', 'List events, newest first, delivered or not.'), @('deliveries', 'List webhook attempts, newest first. Each has its address and what came back.'), @('resend', 'Deliver an event once more, now, to the endpoints that take its type.'), @('endpoints', 'Look after webhook endpoints, as the dashboard does.'), @('compare', 'Compare a service''s test mode with what the sandbox assumes of it.'), @('settings', 'Show the account''s settings, or change some.'), @('keys', 'Make and roll API keys, as the dashboard does.'), @('requests', 'List the latest API requests, newest first. Keys and account numbers are masked.'), @('lint', 'List what a stricter service or a bad day would punish. The exit code is 11 if there is any.'), @('emails', 'List the e-mails that the service would have sent, newest first.'), @('fault', 'Have requests and webhook deliveries go wrong on purpose.'), @('reset', 'Empty the sandbox. Objects, events, settings, faults and keys of both modes go.'), @('export', 'Write the whole state to a file. Objects, events, jobs, clock, settings and ids are in it.'), @('import', 'Put an exported state in place of the present one. Clock and ids go on from there.'))
        Options = @()
        Arguments = @()
        Shared = @(,'global')
    }
    'sandbox start' = @{
        Commands = @()
        Options = @(@('--port', 't', 'The port on loopback; 0 lets the system choose.'), @('--db', 'f', 'The file that holds it, or :memory: for none.'), @('--seed', 't', 'Equal seeds and calls give equal ids.'), @('--fixture', 'w.fixture', 'demo fills it with one of everything.'), @('--detach', '-', 'Run it in the background.'), @('--tls', '-', 'Speak https, with a certificate made for it.'), @('--certificate', 'f', 'Speak https with a certificate of your own (PEM).'), @('--private-key', 'f', 'The private key of that certificate (PEM).'), @('--like', 't', 'Behave as its service does, as far as compare --save has seen.'), @('--strict-https', '-', 'Answer plain HTTP with 401.'), @('--bind', 't', 'Listen on this address too; 0.0.0.0 is all.'), @('--allow-host', '+t', 'Answer to this host name too, as others call it; repeatable.'), @('--import', 'f', 'Begin with the state that export wrote.'), @('--allow-remote', '-', 'Take a state that sends webhooks to other machines.'), @('--ready-file', 'f', 'Write its URL here once it answers.'))
        Arguments = @()
        Shared = @(,'global')
    }
    'sandbox stop' = @{
        Commands = @()
        Options = @(@('--port', 't', 'The sandbox''s port, where several are running.'), @('--all', '-', 'Stop all sandboxes that are running.'))
        Arguments = @()
        Shared = @(,'global')
    }
    'sandbox status' = @{
        Commands = @()
        Options = @()
        Arguments = @()
        Shared = @(,'global')
    }
    'sandbox logs' = @{
        Commands = @()
        Options = @(@('--port', 't', 'The sandbox''s port, where several are running.'), @('--follow', '-', 'Go on with what comes, until Ctrl-C.'))
        Arguments = @()
        Shared = @(,'global')
    }
    'sandbox env' = @{
        Commands = @()
        Options = @(@('--port', 't', 'The sandbox''s port, where several are running.'), @('--shell', 'w.sandbox_env_shell', 'One of sh, fish, powershell.'))
        Arguments = @()
        Shared = @(,'global')
    }
    'sandbox pay' = @{
        Commands = @()
        Options = @(@('--card', 'w.card', 'A test card.'), @('--expiry', 't', 'The card''s expiry.'), @('--cvc', 't', 'The card''s code.'), @('--method', 'w.method', 'One of the methods that the order names.'), @('--payment-method', 'i.pm_', 'A saved card, pm_...'), @('--save-card', '-', 'Save the card.'), @('--3ds', 'w.three_ds', 'What the shopper does with 3-D Secure: succeed, fail or abandon.'), @('--iban', 't', 'The account that sepa_debit takes the money from.'), @('--outcome', 'w.redirect_outcome', 'How a redirect method ends: success, failure or abandon.'))
        Arguments = @(,'i.ord_')
        Shared = @(,'global')
    }
    'sandbox checkout' = @{
        Commands = @()
        Options = @(@('--print', '-', 'Print the address and open nothing.'), @('--return-url', 't', 'Where the shopper goes in the end.'))
        Arguments = @(,'i.ord_')
        Shared = @(,'global')
    }
    'sandbox dispute' = @{
        Commands = @()
        Options = @(@('--reason', 'w.dispute_reason', 'One of fraudulent, product_not_received, product_unacceptable, duplicate, credit_not_processed, subscription_canceled, unrecognized, general.'), @('--evidence-due-by', 't', 'When evidence is due: 2026-11-21, 2026-11-21T09:00 or 3d (ahead).'))
        Arguments = @(,'i.pay_')
        Shared = @(,'global')
    }
    'sandbox settle' = @{
        Commands = @()
        Options = @(,@('--sent', '-', 'Only hand a payout to the local network.'))
        Arguments = @(,'i.pay_|rf_|po_')
        Shared = @(,'global')
    }
    'sandbox fail' = @{
        Commands = @()
        Options = @(,@('--reason', 't', 'Why.'))
        Arguments = @(,'i.pay_|rf_|po_')
        Shared = @(,'global')
    }
    'sandbox decide' = @{
        Commands = @()
        Options = @()
        Arguments = @('i.dp_', 'w.sandbox_decide_outcome')
        Shared = @(,'global')
    }
    'sandbox customs' = @{
        Commands = @()
        Options = @(,@('--charged', 't', 'What they charge, in minor units of the order.'))
        Arguments = @(,'i.ord_')
        Shared = @(,'global')
    }
    'sandbox balances' = @{
        Commands = @()
        Options = @()
        Arguments = @(,'+w.balance')
        Shared = @(,'global')
    }
    'sandbox advance' = @{
        Commands = @()
        Options = @(@('--until', 'w.until', 'next: until the next job is done; idle: until none is left.'), @('--to', 't', 'The time to turn it to: 2026-11-21, 2026-11-21T09:00, tomorrow or 3d (ahead).'))
        Arguments = @(,'t')
        Shared = @(,'global')
    }
    'sandbox clock' = @{
        Commands = @()
        Options = @(,@('--to', 't', 'Turn it to this time first: 2026-11-21T09:00, tomorrow or 3d (ahead).'))
        Arguments = @(,'w.sandbox_clock_mode')
        Shared = @(,'global')
    }
    'sandbox trigger' = @{
        Commands = @()
        Options = @(@('--data', '+t', 'A field of the order or payout that it begins with, such as shipping[country]=GB.'), @('-d', '+t', 'A field of the order or payout that it begins with, such as shipping[country]=GB.'))
        Arguments = @(,'w.event_type')
        Shared = @(,'global')
    }
    'sandbox events' = @{
        Commands = @()
        Options = @(@('--type', 'w.event_type', 'Only these, such as order.paid.'), @('--limit', 't', 'How many objects a page has.'), @('--starting-after', 'i.evt_', 'Begin after this event, evt_...'))
        Arguments = @()
        Shared = @(,'global')
    }
    'sandbox deliveries' = @{
        Commands = @()
        Options = @(@('--event', 'i.evt_', 'Only of this event, evt_...'), @('--endpoint', 'i.we_', 'Only to this endpoint, we_...'), @('--status', 'w.delivery_status', 'Only those that are pending, succeeded, failed or dropped.'), @('--limit', 't', 'How many objects a page has.'), @('--starting-after', 'i.dlv_', 'Begin after this attempt, dlv_...'))
        Arguments = @()
        Shared = @(,'global')
    }
    'sandbox resend' = @{
        Commands = @()
        Options = @(,@('--endpoint', 'i.we_', 'Only to this endpoint, we_...'))
        Arguments = @(,'i.evt_')
        Shared = @(,'global')
    }
    'sandbox endpoints' = @{
        Commands = @(@('list', 'List the endpoints of a mode and whether they are enabled.'), @('enable', 'Enable an endpoint again. What was dropped stays dropped.'), @('disable', 'Disable an endpoint. Attempts that are pending are dropped.'), @('delete', 'Delete an endpoint. The API itself has no such call.'), @('roll-secret', 'Replace an endpoint''s signing secret. The new one is shown this once.'))
        Options = @()
        Arguments = @()
        Shared = @(,'global')
    }
    'sandbox endpoints list' = @{
        Commands = @()
        Options = @()
        Arguments = @()
        Shared = @(,'global')
    }
    'sandbox endpoints enable' = @{
        Commands = @()
        Options = @()
        Arguments = @(,'i.we_')
        Shared = @(,'global')
    }
    'sandbox endpoints disable' = @{
        Commands = @()
        Options = @()
        Arguments = @(,'i.we_')
        Shared = @(,'global')
    }
    'sandbox endpoints delete' = @{
        Commands = @()
        Options = @()
        Arguments = @(,'i.we_')
        Shared = @(,'global')
    }
    'sandbox endpoints roll-secret' = @{
        Commands = @()
        Options = @(,@('--grace', 't', 'How long the old one signs along, at most 1d.'))
        Arguments = @(,'i.we_')
        Shared = @(,'global')
    }
    'sandbox compare' = @{
        Commands = @()
        Options = @(@('--endpoint', '-', 'Register a webhook endpoint too; the API cannot remove it.'), @('--save', '-', 'Keep what is found, for svc sandbox start --like PROFILE.'))
        Arguments = @()
        Shared = @(,'global')
    }
    'sandbox settings' = @{
        Commands = @()
        Options = @(,@('--of', 't', 'For this key, with the orders it makes, or for this order alone.'))
        Arguments = @(,'+w.sandbox_setting')
        Shared = @(,'global')
    }
    'sandbox keys' = @{
        Commands = @(@('list', 'List the keys of a mode. Secrets are masked.'), @('create', 'Create a key. It is shown whole this once.'), @('roll', 'Replace a key by a new one with the same permissions.'))
        Options = @()
        Arguments = @()
        Shared = @(,'global')
    }
    'sandbox keys list' = @{
        Commands = @()
        Options = @()
        Arguments = @()
        Shared = @(,'global')
    }
    'sandbox keys create' = @{
        Commands = @()
        Options = @(@('--type', 'w.sandbox_keys_create_type', 'One of secret, publishable, restricted.'), @('--permission', '+w.permission', 'Repeatable: none, read or write on orders, payments, refunds, payouts, landed_cost, webhook_endpoints, events, disputes or all.'))
        Arguments = @()
        Shared = @(,'global')
    }
    'sandbox keys roll' = @{
        Commands = @()
        Options = @(,@('--grace', 't', 'How long the old one works on, at most 7d.'))
        Arguments = @(,'i.key_')
        Shared = @(,'global')
    }
    'sandbox requests' = @{
        Commands = @()
        Options = @(@('--path', 't', 'Only these paths, such as ''/v1/refunds*''.'), @('--method', 't', 'Only these: GET or POST.'), @('--status', 't', 'Only those answered with this status.'), @('--body', 't', 'Only those whose body holds this text.'), @('--since', 't', 'Only from this time in the sandbox on.'), @('--until', 't', 'Only up to this time in the sandbox.'), @('--limit', 't', 'How many at most.'), @('--verify', 't', 'Count them; the exit code is 11 if there are not N.'), @('--clear', '-', 'Forget all requests so far.'), @('--follow', '-', 'Go on with what comes, until Ctrl-C.'))
        Arguments = @()
        Shared = @(,'global')
    }
    'sandbox lint' = @{
        Commands = @()
        Options = @()
        Arguments = @()
        Shared = @(,'global')
    }
    'sandbox emails' = @{
        Commands = @()
        Options = @(@('--limit', 't', 'How many objects a page has.'), @('--starting-after', 'i.eml_', 'Begin after this e-mail, eml_...'))
        Arguments = @()
        Shared = @(,'global')
    }
    'sandbox fault' = @{
        Commands = @(@('add', 'Spoil requests, or with --webhook deliveries, from now on.'), @('list', 'List the rules of both kinds and how often each has fired.'), @('clear', 'Remove all rules, or some. What they hold back goes on.'))
        Options = @()
        Arguments = @()
        Shared = @(,'global')
    }
    'sandbox fault add' = @{
        Commands = @()
        Options = @(@('--skip', 't', 'Let N matching ones pass first.'), @('--times', 't', 'Then break N of them.'), @('--delay-ms', 't', 'Answer or deliver so many real milliseconds later, beside any other effect.'), @('--method', 'w.http_method', 'Only this method: GET or POST.'), @('--path', 't', 'Only these paths, such as ''/v1/orders*''.'), @('--idempotency-key', 't', 'Only with this key.'), @('--api-key', 't', 'Only by this key of the sandbox.'), @('--order', 'i.ord_', 'Only about this order, ord_...'), @('--after', '-', 'Break the answer only: the change is made and its result stored.'), @('--status', 'w.fault_status', 'Answer with 429, 500, 502, 503 or 504.'), @('--retry-after', 't', 'The header of that name, which goes with the status.'), @('--body', 't', 'A body in place of the error.'), @('--connection', 'w.sandbox_fault_add_connection', 'What becomes of the connection: one of close, reset, truncate, garbage, drip.'), @('--webhook', 'w.sandbox_fault_add_webhook', 'What becomes of a delivery: one of duplicate, reorder, drop, bad_signature, stale_timestamp, delay.'), @('--type', 'w.event_type', 'Only these event types, such as ''order.*''.'), @('--endpoint', 'i.we_', 'Only to this endpoint, we_...'), @('--count', 't', 'How many copies are sent of a duplicate, or how many are reordered.'))
        Arguments = @()
        Shared = @(,'global')
    }
    'sandbox fault list' = @{
        Commands = @()
        Options = @()
        Arguments = @()
        Shared = @(,'global')
    }
    'sandbox fault clear' = @{
        Commands = @()
        Options = @()
        Arguments = @(,'+i.flt_')
        Shared = @(,'global')
    }
    'sandbox reset' = @{
        Commands = @()
        Options = @(@('--seed', 't', 'Equal seeds and calls give equal ids.'), @('--fixture', 'w.fixture', 'demo fills it with one of everything.'))
        Arguments = @()
        Shared = @(,'global')
    }
    'sandbox export' = @{
        Commands = @()
        Options = @(,@('--force', '-', 'Replace an existing file.'))
        Arguments = @(,'f')
        Shared = @(,'global')
    }
    'sandbox import' = @{
        Commands = @()
        Options = @(,@('--allow-remote', '-', 'Take a state that sends webhooks to other machines.'))
        Arguments = @(,'f')
        Shared = @(,'global')
    }
    'quickstart' = @{
        Commands = @()
        Options = @()
        Arguments = @()
        Shared = @(,'global')
    }
    'mcp' = @{
        Commands = @()
        Options = @(,@('--allow', '+t', 'What an agent may do beside reading: refunds.create, repeatable.'))
        Arguments = @()
        Shared = @(,'global')
    }
    'commands' = @{
        Commands = @()
        Options = @()
        Arguments = @()
        Shared = @(,'global')
    }
    'completion' = @{
        Commands = @()
        Options = @(@('--install', '-', 'Put it where the shell finds it, and say where.'), @('--uninstall', '-', 'Take away what --install has put there.'), @('--force', '-', 'With --install: replace a file that svc did not write.'))
        Arguments = @(,'w.completion_shell')
        Shared = @(,'global')
    }
    'help' = @{
        Commands = @()
        Options = @()
        Arguments = @(,'+w.help')
        Shared = @(,'global')
    }
}
function script:Get-SvcFolder([string]$Own, [string]$Xdg, [string]$Kind) {
    $named = [Environment]::GetEnvironmentVariable($Own)
    if ($named) { return $named }
    $base = [Environment]::GetEnvironmentVariable($Xdg)
    if ($base -and $base.StartsWith('/')) { return "$base/svc" }
    if ($IsMacOS) {
        $name = if ($Kind -eq 'cache') { 'Caches' } else { 'Application Support' }
        return "$HOME/Library/$name/svc"
    }
    if ($IsLinux) {
        $name = if ($Kind -eq 'cache') { '.cache' } else { '.config' }
        return "$HOME/$name/svc"
    }
    $local = [Environment]::GetFolderPath('LocalApplicationData')
    if ($Kind -eq 'cache') { return "$local\svc\Cache" }
    return "$local\svc"
}

function script:Get-SvcConfigLines {
    $file = Join-Path (Get-SvcFolder 'SVC_CONFIG_DIR' 'XDG_CONFIG_HOME' 'config') 'config.toml'
    if (Test-Path -LiteralPath $file) { [IO.File]::ReadAllLines($file) }
}

# The file that the program keeps what it has shown lately in: profile, mode, address.
function script:Get-SvcRecentFile($Chosen) {
    $name = $Chosen['--profile']
    if (-not $name) { $name = $env:SVC_PROFILE }
    if (-not $name) {
        $name = 'default'
        foreach ($line in Get-SvcConfigLines) {
            if ($line.StartsWith('[')) { break }
            if ($line -match '^active_profile\s*=\s*["'']([^"'']*)') { $name = $Matches[1]; break }
        }
    }
    $mode = $Chosen['mode']
    if (-not $mode) { $mode = $env:SVC_MODE }
    if (-not $mode) { $mode = 'test' }
    $base = $Chosen['--base-url']
    if (-not $base) { $base = $env:SVC_BASE_URL }
    if ($base) { $base = '@' + ($base -creplace '[^A-Za-z0-9.-]', '_') }
    $folder = Get-SvcFolder 'SVC_CACHE_DIR' 'XDG_CACHE_HOME' 'cache'
    return [IO.Path]::Combine($folder, 'recent', "$name.$mode$base.tsv")
}

# What fits a kind, as pairs: w.NAME words, i.ord_|pay_ ids, p a profile; files are PowerShell's own.
function script:Get-SvcValues([string]$Kind, $Chosen) {
    foreach ($each in $Kind.TrimStart('+', '%').Split(',')) {
        if ($each.StartsWith('w.')) {
            foreach ($pair in $script:SvcWords[$each.Substring(2)]) { , $pair }
        } elseif ($each.StartsWith('i.')) {
            $file = Get-SvcRecentFile $Chosen
            if (-not (Test-Path -LiteralPath $file)) { continue }
            foreach ($line in [IO.File]::ReadAllLines($file)) {
                $parts = $line.Split("`t")
                if ($parts[0] -cmatch "^($($each.Substring(2)))[A-Za-z0-9]+$") {
                    , @($parts[0], [string]$parts[2])
                }
            }
        } elseif ($each -eq 'p') {
            foreach ($line in Get-SvcConfigLines) {
                if ($line -match '^\[profiles\.([A-Za-z0-9_-]+)\]') { , @($Matches[1], '') }
            }
        }
    }
}

function script:Get-SvcKind($Specs, [string]$Name) {
    foreach ($spec in $Specs) { if ($spec[0] -ceq $Name) { return $spec[1] } }
    return ''
}

Register-ArgumentCompleter -Native -CommandName svc -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $path = ''
    $command = $script:SvcCommands['']
    $specs = $command.Options + @($command.Shared | ForEach-Object { $script:SvcShared[$_] })
    $at = 0
    $expected = ''
    $option = ''
    $literal = $false
    $given = @()
    $chosen = @{}
    foreach ($element in $commandAst.CommandElements | Select-Object -Skip 1) {
        if ($element.Extent.EndOffset -ge $cursorPosition) { break }
        $word = $element.Extent.Text.Trim("'", '"')
        if ($expected.StartsWith('%') -and $word.StartsWith('-')) { $expected = '' }
        if ($expected) {
            $chosen[$option] = $word
            $expected = ''
        } elseif ($literal) {
            $at += 1
        } elseif ($word -eq '--') {
            $literal = $true
        } elseif ($word -like '--*=*') {
            $parts = $word.Split('=', 2)
            $given += $parts[0]
            $chosen[$parts[0]] = $parts[1]
        } elseif ($word -like '-?*') {
            $given += $word
            $option = $word
            $kind = Get-SvcKind $specs $word
            if ($kind -and $kind -ne '-') { $expected = $kind }
            if ($word -in '--live', '--test') { $chosen['mode'] = $word.Substring(2) }
        } elseif ($at -eq 0 -and ($command.Commands | Where-Object { $_[0] -ceq $word })) {
            if (-not $path -and $script:SvcLongNames[$word]) { $word = $script:SvcLongNames[$word] }
            $path = "$path $word".Trim()
            $command = $script:SvcCommands[$path]
            $specs = $command.Options + @($command.Shared | ForEach-Object { $script:SvcShared[$_] })
        } else {
            $at += 1
        }
    }
    $before = ''
    $pairs = @()
    if ($expected.StartsWith('%')) { $expected = '' }
    if ($expected) {
        $pairs = @(Get-SvcValues $expected $chosen)
    } elseif (-not $literal -and $wordToComplete -like '--*=*') {
        $before = $wordToComplete.Split('=', 2)[0] + '='
        $pairs = @(Get-SvcValues (Get-SvcKind $specs $before.TrimEnd('=')) $chosen)
    } elseif (-not $literal -and $wordToComplete -like '-*') {
        foreach ($spec in $specs) {
            if ($spec[0] -notlike '--*') { continue }
            if ($spec[1].StartsWith('+') -or $spec[0] -cnotin $given) { $pairs += , @($spec[0], $spec[2]) }
        }
    } else {
        if ($at -eq 0 -and -not $literal) { $pairs += $command.Commands }
        $kind = ''
        if ($at -lt $command.Arguments.Count) {
            $kind = $command.Arguments[$at]
        } elseif ($command.Arguments.Count -and $command.Arguments[-1].StartsWith('+')) {
            $kind = $command.Arguments[-1]
        }
        if ($kind) {
            $pairs += @(Get-SvcValues $kind $chosen)
        } elseif (-not $wordToComplete -and -not $literal -and -not $command.Commands.Count) {
            foreach ($spec in $command.Options) { $pairs += , @($spec[0], $spec[2]) }
        }
    }
    foreach ($pair in $pairs) {
        $text = $before + $pair[0]
        if (-not $text.StartsWith($wordToComplete)) { continue }
        $meaning = if ($pair[1]) { $pair[1] } else { $pair[0] }
        [System.Management.Automation.CompletionResult]::new($text, $pair[0], 'ParameterValue', $meaning)
    }
}
