# svc completion for fish: no process is started by a Tab. Made by: svc completion fish

# Prints the file that the program keeps what it has shown lately in: profile, mode, address.
function __svc_recent_file
    set -l profile $argv[1]
    set -l mode $argv[2]
    set -l base $argv[3]
    set -l folder ~/.cache/svc
    if test -n "$SVC_CACHE_DIR"
        set folder $SVC_CACHE_DIR
    else if string match -q -- '/*' "$XDG_CACHE_HOME"
        set folder $XDG_CACHE_HOME/svc
    else if test -d ~/Library/Caches
        set folder ~/Library/Caches/svc
    end
    test -n "$profile"; or set profile $SVC_PROFILE
    if test -z "$profile"
        set profile default
        for line in (__svc_config)
            string match -q -- '[*' $line; and break
            set -l found (string match -r -- '^active_profile\s*=\s*["\']([^"\']*)' $line)
            and set profile $found[2]
        end
    end
    test -n "$mode"; or set mode $SVC_MODE
    test -n "$mode"; or set mode test
    test -n "$base"; or set base $SVC_BASE_URL
    test -n "$base"; and set base @(string replace -ra -- '[^A-Za-z0-9.-]' _ $base)
    echo "$folder/recent/$profile.$mode$base.tsv"
end

# Prints the lines of the config file.
function __svc_config
    set -l folder ~/.config/svc
    if test -n "$SVC_CONFIG_DIR"
        set folder $SVC_CONFIG_DIR
    else if string match -q -- '/*' "$XDG_CONFIG_HOME"
        set folder $XDG_CONFIG_HOME/svc
    else if test -d ~/Library/"Application Support"
        set folder ~/Library/"Application Support"/svc
    end
    test -r $folder/config.toml; and __svc_lines $folder/config.toml
end

function __svc_lines
    read -z -l all <$argv[1]
    string split -n \n -- $all
end

# Prints ids of some kinds with their labels, the latest first.
function __svc_ids
    set -l file (__svc_recent_file $argv[2..4])
    test -r "$file"; or return
    set -l pattern (string replace -a -- '|' '|^' "^$argv[1]")
    for line in (__svc_lines $file)
        set -l parts (string split \t -- $line)
        string match -qr -- "($pattern)" $parts[1]; or continue
        string match -qr -- '^[A-Za-z0-9_]+$' $parts[1]; and printf '%s\t%s\n' $parts[1] "$parts[3]"
    end
end

function __svc_profiles
    for line in (__svc_config)
        set -l found (string match -r -- '^\[profiles\.([A-Za-z0-9_-]+)\]' $line)
        and echo $found[2]
    end
end

# Prints what fits a kind: w.NAME words, i.ord_|pay_ ids, p a profile; says that a path fits (f).
function __svc_values --no-scope-shadowing
    set -l before $argv[2]
    for each in (string split , -- (string replace -r -- '^[+%]' '' $argv[1]))
        switch $each
            case 'w.*'
                __svc_words (string sub -s 3 -- $each) | string replace -r -- '^' "$before"
            case 'i.*'
                __svc_ids (string sub -s 3 -- $each) "$chosen_profile" "$chosen_mode" "$chosen_base" | string replace -r -- '^' "$before"
            case p
                __svc_profiles | string replace -r -- '^' "$before"
            case f
                set files yes
        end
    end
end

# Prints options of a list of `--name kind help`, without those that were given and short names.
function __svc_options
    set -l given (string split ' ' -- $argv[1])
    set -e argv[1]
    while set -q argv[1]
        if string match -q -- '--*' $argv[1]
            if string match -q -- '+*' $argv[2]; or not contains -- $argv[1] $given
                printf '%s\t%s\n' $argv[1] $argv[3]
            end
        end
        set -e argv[1..3]
    end
end

# Sets `kind` of an option; empty where the command does not take it.
function __svc_kind --no-scope-shadowing
    set kind ''
    set -l index (contains -i -- $argv[1] $options $shared)
    and begin
        set -l both $options $shared
        set kind $both[(math $index + 1)]
    end
end

function __svc_note --no-scope-shadowing
    switch $argv[1]
        case --profile
            set chosen_profile $argv[2]
        case --base-url
            set chosen_base $argv[2]
        case --live
            set chosen_mode live
        case --test
            set chosen_mode test
    end
end

function __svc_complete
    set -l current (commandline -ct)
    set -l line (commandline -opc)
    set -l path
    set -l at 0
    set -l kind ''
    set -l expected ''
    set -l option ''
    set -l literal ''
    set -l given
    set -l chosen_profile ''
    set -l chosen_mode ''
    set -l chosen_base ''
    set -l commands
    set -l options
    set -l arguments
    set -l shared
    set -l files
    __svc_command ''
    for word in $line[2..-1]
        string match -q -- '%*' "$expected"; and string match -q -- '-*' $word
        and set expected ''
        if test -n "$expected"
            __svc_note $option $word
            set expected ''
            continue
        end
        # No `?` in a pattern: fish 4 takes it for itself.
        if test "$literal$word" = --
            set literal .
        else if string match -q -- '--*=*' $literal$word
            set -l parts (string split -m 1 = -- $word)
            set -a given $parts[1]
            __svc_note $parts
        else if string match -qr -- '^-.' $literal$word
            set -a given $word
            set option $word
            __svc_kind $word
            if contains -- "$kind" '' -
                __svc_note $word
            else
                set expected $kind
            end
        else if test -z "$literal" -a $at = 0; and contains -- $word $commands
            set -a path (test -z "$path"; and __svc_long_name $word; or echo $word)
            __svc_command "$path"
        else
            set at (math $at + 1)
        end
    end
    string match -q -- '%*' "$expected"; and set expected ''
    if test -n "$expected"
        __svc_values $expected ''
    else if test -z "$literal"; and string match -q -- '--*=*' $current
        set -l parts (string split -m 1 = -- $current)
        __svc_kind $parts[1]
        __svc_values "$kind" "$parts[1]="
    else if test -z "$literal"; and string match -q -- '-*' $current
        __svc_options "$given" $options $shared
    else
        if test $at = 0 -a -z "$literal" -a -n "$commands"
            printf '%s\t%s\n' $commands
        end
        set kind ''
        if test $at -lt (count $arguments)
            set kind $arguments[(math $at + 1)]
        else if string match -q -- '+*' "$arguments[-1]"
            set kind $arguments[-1]
        end
        if test -n "$kind"
            __svc_values $kind ''
        else if test -z "$literal$current$commands"
            __svc_options "$given" $options
        end
    end
    set -q files[1]
end

# Asked apart: fish itself completes paths, with ~ and whatever must be escaped.
function __svc_wants_files
    __svc_complete >/dev/null
end

function __svc_long_name
    switch $argv[1]
        case quotes
            echo landed-cost-quotes
        case '*'
            echo $argv[1]
    end
end

function __svc_words
    switch $argv[1]
        case version
            printf '%s\t%s\n' '2026-03-01' '' '2026-09-01' ''
        case output
            printf '%s\t%s\n' 'human' '' 'json' '' 'ndjson' '' 'csv' '' 'id' ''
        case color
            printf '%s\t%s\n' 'auto' '' 'always' '' 'never' ''
        case currency
            printf '%s\t%s\n' 'AED' '' 'AFN' '' 'ALL' '' 'AMD' '' 'AOA' '' 'ARS' '' 'AUD' '' 'AWG' '' 'AZN' '' 'BAM' '' 'BBD' '' 'BDT' '' 'BGN' '' 'BHD' '' 'BIF' '' 'BMD' '' 'BND' '' 'BOB' '' 'BOV' '' 'BRL' '' 'BSD' '' 'BTN' '' 'BWP' '' 'BYN' '' 'BZD' '' 'CAD' '' 'CDF' '' 'CHE' '' 'CHF' '' 'CHW' '' 'CLF' '' 'CLP' '' 'CNY' '' 'COP' '' 'COU' '' 'CRC' '' 'CUP' '' 'CVE' '' 'CZK' '' 'DJF' '' 'DKK' '' 'DOP' '' 'DZD' '' 'EGP' '' 'ERN' '' 'ETB' '' 'EUR' '' 'FJD' '' 'FKP' '' 'GBP' '' 'GEL' '' 'GHS' '' 'GIP' '' 'GMD' '' 'GNF' '' 'GTQ' '' 'GYD' '' 'HKD' '' 'HNL' '' 'HTG' '' 'HUF' '' 'IDR' '' 'ILS' '' 'INR' '' 'IQD' '' 'IRR' '' 'ISK' '' 'JMD' '' 'JOD' '' 'JPY' '' 'KES' '' 'KGS' '' 'KHR' '' 'KMF' '' 'KPW' '' 'KRW' '' 'KWD' '' 'KYD' '' 'KZT' '' 'LAK' '' 'LBP' '' 'LKR' '' 'LRD' '' 'LSL' '' 'LYD' '' 'MAD' '' 'MDL' '' 'MGA' '' 'MKD' '' 'MMK' '' 'MNT' '' 'MOP' '' 'MRU' '' 'MUR' '' 'MVR' '' 'MWK' '' 'MXN' '' 'MXV' '' 'MYR' '' 'MZN' '' 'NAD' '' 'NGN' '' 'NIO' '' 'NOK' '' 'NPR' '' 'NZD' '' 'OMR' '' 'PAB' '' 'PEN' '' 'PGK' '' 'PHP' '' 'PKR' '' 'PLN' '' 'PYG' '' 'QAR' '' 'RON' '' 'RSD' '' 'RUB' '' 'RWF' '' 'SAR' '' 'SBD' '' 'SCR' '' 'SDG' '' 'SEK' '' 'SGD' '' 'SHP' '' 'SLE' '' 'SOS' '' 'SRD' '' 'SSP' '' 'STN' '' 'SVC' '' 'SYP' '' 'SZL' '' 'THB' '' 'TJS' '' 'TMT' '' 'TND' '' 'TOP' '' 'TRY' '' 'TTD' '' 'TWD' '' 'TZS' '' 'UAH' '' 'UGX' '' 'USD' '' 'USN' '' 'UYI' '' 'UYU' '' 'UYW' '' 'UZS' '' 'VED' '' 'VES' '' 'VND' '' 'VUV' '' 'WST' '' 'XAF' '' 'XCD' '' 'XCG' '' 'XOF' '' 'XPF' '' 'YER' '' 'ZAR' '' 'ZMW' '' 'ZWG' ''
        case country
            printf '%s\t%s\n' 'AD' '' 'AE' '' 'AF' '' 'AG' '' 'AI' '' 'AL' '' 'AM' '' 'AO' '' 'AQ' '' 'AR' '' 'AS' '' 'AT' '' 'AU' '' 'AW' '' 'AX' '' 'AZ' '' 'BA' '' 'BB' '' 'BD' '' 'BE' '' 'BF' '' 'BG' '' 'BH' '' 'BI' '' 'BJ' '' 'BL' '' 'BM' '' 'BN' '' 'BO' '' 'BQ' '' 'BR' '' 'BS' '' 'BT' '' 'BV' '' 'BW' '' 'BY' '' 'BZ' '' 'CA' '' 'CC' '' 'CD' '' 'CF' '' 'CG' '' 'CH' '' 'CI' '' 'CK' '' 'CL' '' 'CM' '' 'CN' '' 'CO' '' 'CR' '' 'CU' '' 'CV' '' 'CW' '' 'CX' '' 'CY' '' 'CZ' '' 'DE' '' 'DJ' '' 'DK' '' 'DM' '' 'DO' '' 'DZ' '' 'EC' '' 'EE' '' 'EG' '' 'EH' '' 'ER' '' 'ES' '' 'ET' '' 'FI' '' 'FJ' '' 'FK' '' 'FM' '' 'FO' '' 'FR' '' 'GA' '' 'GB' '' 'GD' '' 'GE' '' 'GF' '' 'GG' '' 'GH' '' 'GI' '' 'GL' '' 'GM' '' 'GN' '' 'GP' '' 'GQ' '' 'GR' '' 'GS' '' 'GT' '' 'GU' '' 'GW' '' 'GY' '' 'HK' '' 'HM' '' 'HN' '' 'HR' '' 'HT' '' 'HU' '' 'ID' '' 'IE' '' 'IL' '' 'IM' '' 'IN' '' 'IO' '' 'IQ' '' 'IR' '' 'IS' '' 'IT' '' 'JE' '' 'JM' '' 'JO' '' 'JP' '' 'KE' '' 'KG' '' 'KH' '' 'KI' '' 'KM' '' 'KN' '' 'KP' '' 'KR' '' 'KW' '' 'KY' '' 'KZ' '' 'LA' '' 'LB' '' 'LC' '' 'LI' '' 'LK' '' 'LR' '' 'LS' '' 'LT' '' 'LU' '' 'LV' '' 'LY' '' 'MA' '' 'MC' '' 'MD' '' 'ME' '' 'MF' '' 'MG' '' 'MH' '' 'MK' '' 'ML' '' 'MM' '' 'MN' '' 'MO' '' 'MP' '' 'MQ' '' 'MR' '' 'MS' '' 'MT' '' 'MU' '' 'MV' '' 'MW' '' 'MX' '' 'MY' '' 'MZ' '' 'NA' '' 'NC' '' 'NE' '' 'NF' '' 'NG' '' 'NI' '' 'NL' '' 'NO' '' 'NP' '' 'NR' '' 'NU' '' 'NZ' '' 'OM' '' 'PA' '' 'PE' '' 'PF' '' 'PG' '' 'PH' '' 'PK' '' 'PL' '' 'PM' '' 'PN' '' 'PR' '' 'PS' '' 'PT' '' 'PW' '' 'PY' '' 'QA' '' 'RE' '' 'RO' '' 'RS' '' 'RU' '' 'RW' '' 'SA' '' 'SB' '' 'SC' '' 'SD' '' 'SE' '' 'SG' '' 'SH' '' 'SI' '' 'SJ' '' 'SK' '' 'SL' '' 'SM' '' 'SN' '' 'SO' '' 'SR' '' 'SS' '' 'ST' '' 'SV' '' 'SX' '' 'SY' '' 'SZ' '' 'TC' '' 'TD' '' 'TF' '' 'TG' '' 'TH' '' 'TJ' '' 'TK' '' 'TL' '' 'TM' '' 'TN' '' 'TO' '' 'TR' '' 'TT' '' 'TV' '' 'TW' '' 'TZ' '' 'UA' '' 'UG' '' 'UM' '' 'US' '' 'UY' '' 'UZ' '' 'VA' '' 'VC' '' 'VE' '' 'VG' '' 'VI' '' 'VN' '' 'VU' '' 'WF' '' 'WS' '' 'YE' '' 'YT' '' 'ZA' '' 'ZM' '' 'ZW' ''
        case order_capture_method
            printf '%s\t%s\n' 'automatic' '' 'manual' ''
        case order_cancellation_reason
            printf '%s\t%s\n' 'duplicate' '' 'fraudulent' '' 'requested_by_customer' '' 'abandoned' ''
        case order_status
            printf '%s\t%s\n' 'requires_payment' '' 'processing' '' 'authorized' '' 'paid' '' 'cancelled' ''
        case payment_status
            printf '%s\t%s\n' 'processing' '' 'authorized' '' 'captured' '' 'failed' '' 'cancelled' ''
        case refund_reason
            printf '%s\t%s\n' 'duplicate' '' 'fraudulent' '' 'requested_by_customer' ''
        case refund_status
            printf '%s\t%s\n' 'pending' '' 'succeeded' '' 'failed' ''
        case payout_status
            printf '%s\t%s\n' 'created' '' 'sent' '' 'paid' '' 'failed' ''
        case dispute_evidence
            printf '%s\t%s\n' 'tracking_number=' '' 'shipping_carrier=' '' 'shipping_date=' '' 'shipping_address=' '' 'shipping_documentation=' '' 'customer_name=' '' 'customer_email=' '' 'customer_purchase_ip=' '' 'customer_communication=' '' 'billing_address=' '' 'product_description=' '' 'receipt=' '' 'refund_policy=' '' 'refund_refusal_explanation=' '' 'cancellation_policy=' '' 'cancellation_rebuttal=' '' 'service_date=' '' 'access_activity_log=' '' 'duplicate_payment_id=' '' 'duplicate_explanation=' '' 'uncategorized_text=' ''
        case dispute_status
            printf '%s\t%s\n' 'needs_response' '' 'under_review' '' 'won' '' 'lost' ''
        case event_type
            printf '%s\t%s\n' 'order.paid' '' 'order.cancelled' '' 'payment.authorized' '' 'payment.captured' '' 'payment.failed' '' 'payment.processing' '' 'payment.cancelled' '' 'refund.created' '' 'refund.succeeded' '' 'refund.failed' '' 'dispute.opened' '' 'dispute.evidence_submitted' '' 'dispute.won' '' 'dispute.lost' '' 'payout.created' '' 'payout.sent' '' 'payout.paid' '' 'payout.failed' ''
        case tunnel
            printf '%s\t%s\n' 'auto' '' 'none' '' 'cloudflared' '' 'ngrok' '' 'ssh:' ''
        case events_listen_ack
            printf '%s\t%s\n' 'received' '' 'forwarded' ''
        case events_listen_retry
            printf '%s\t%s\n' 'fast' '' 'real' '' 'off' ''
        case events_listen_print
            printf '%s\t%s\n' 'summary' '' 'payload' '' 'none' ''
        case from_start
            printf '%s\t%s\n' 'now' '' 'all' ''
        case events_listen_signature
            printf '%s\t%s\n' 'own' '' 'original' ''
        case events_receive_print
            printf '%s\t%s\n' 'summary' '' 'payload' '' 'none' ''
        case events_log_user_add_role
            printf '%s\t%s\n' 'admin' '' 'receiver' '' 'laptop' '' 'job' ''
        case events_tail_print
            printf '%s\t%s\n' 'summary' '' 'payload' '' 'none' ''
        case posted
            printf '%s\t%s\n' 'orders.create' '' 'orders.update' '' 'orders.cancel' '' 'orders.capture' '' 'refunds.create' '' 'payouts.create' '' 'landed-cost-quotes.create' '' 'webhook-endpoints.create' '' 'disputes.update' '' 'disputes.accept' ''
        case keys_remind_format
            printf '%s\t%s\n' 'text' '' 'json' '' 'github' '' 'ics' ''
        case auth
            printf '%s\t%s\n' 'bearer' '' 'basic' ''
        case fixture
            printf '%s\t%s\n' 'demo' ''
        case sandbox_env_shell
            printf '%s\t%s\n' 'sh' '' 'fish' '' 'powershell' ''
        case card
            printf '%s\t%s\n' '4242424242424242' 'paid' '4000000000008013' 'declined: do_not_honor, approved when tried again' '4000000000009995' 'declined: insufficient_funds' '4000000000000002' 'declined: generic_decline' '4000000000000119' 'declined: processing_error' '4000000000009979' 'declined: stolen_card' '4000000000009987' 'declined: lost_card' '4000000000008021' 'declined: account_closed' '4000000000000069' 'declined: expired_card' '4000000000000127' 'declined: incorrect_cvc' '4100000000000019' 'declined: fraudulent' '4000000000003220' 'asks the shopper (3-D Secure)' '4000008400001629' 'declined: generic_decline, asks the shopper (3-D Secure)' '4000000000000259' 'disputed: fraudulent' '4000000000002685' 'disputed: product_not_received' '4000000000007726' 'refunds stay pending' '4000000000005126' 'refunds fail' '4000000000008039' 'network token suspended'
        case method
            printf '%s\t%s\n' 'card' '' 'sepa_debit' '' 'bacs_debit' '' 'us_bank_account' '' 'becs_debit' '' 'ideal' '' 'bancontact' '' 'eps' '' 'multibanco' '' 'mb_way' '' 'bizum' '' 'p24' '' 'blik' '' 'twint' '' 'swish' '' 'vipps' '' 'mobilepay' '' 'payto' '' 'interac' '' 'konbini' '' 'paypay' '' 'alipay' '' 'wechat_pay' '' 'kakao_pay' '' 'paynow' '' 'promptpay' '' 'fpx' '' 'upi' '' 'pix' '' 'oxxo' '' 'knet' '' 'benefit' '' 'klarna' '' 'paypal' ''
        case three_ds
            printf '%s\t%s\n' 'succeed' '' 'fail' '' 'abandon' ''
        case redirect_outcome
            printf '%s\t%s\n' 'success' '' 'failure' '' 'abandon' ''
        case dispute_reason
            printf '%s\t%s\n' 'fraudulent' '' 'product_not_received' '' 'product_unacceptable' '' 'duplicate' '' 'credit_not_processed' '' 'subscription_canceled' '' 'unrecognized' '' 'general' ''
        case until
            printf '%s\t%s\n' 'next' '' 'idle' ''
        case delivery_status
            printf '%s\t%s\n' 'pending' '' 'succeeded' '' 'failed' '' 'dropped' ''
        case sandbox_keys_create_type
            printf '%s\t%s\n' 'secret' '' 'publishable' '' 'restricted' ''
        case permission
            printf '%s\t%s\n' 'orders=none' '' 'orders=read' '' 'orders=write' '' 'payments=none' '' 'payments=read' '' 'payments=write' '' 'refunds=none' '' 'refunds=read' '' 'refunds=write' '' 'payouts=none' '' 'payouts=read' '' 'payouts=write' '' 'landed_cost=none' '' 'landed_cost=read' '' 'landed_cost=write' '' 'webhook_endpoints=none' '' 'webhook_endpoints=read' '' 'webhook_endpoints=write' '' 'events=none' '' 'events=read' '' 'events=write' '' 'disputes=none' '' 'disputes=read' '' 'disputes=write' '' 'all=none' '' 'all=read' '' 'all=write' ''
        case http_method
            printf '%s\t%s\n' 'GET' '' 'POST' ''
        case fault_status
            printf '%s\t%s\n' '429' '' '500' '' '502' '' '503' '' '504' ''
        case sandbox_fault_add_connection
            printf '%s\t%s\n' 'close' '' 'reset' '' 'truncate' '' 'garbage' '' 'drip' ''
        case sandbox_fault_add_webhook
            printf '%s\t%s\n' 'duplicate' '' 'reorder' '' 'drop' '' 'bad_signature' '' 'stale_timestamp' '' 'delay' ''
        case get_path
            printf '%s\t%s\n' '/v1/orders' '' '/v1/payments' '' '/v1/refunds' '' '/v1/payouts' '' '/v1/disputes' ''
        case post_path
            printf '%s\t%s\n' '/v1/orders' '' '/v1/refunds' '' '/v1/payouts' '' '/v1/landed-cost/quotes' '' '/v1/webhook_endpoints' ''
        case operation
            printf '%s\t%s\n' 'orders.create' '' 'orders.update' '' 'orders.cancel' '' 'orders.capture' '' 'refunds.create' '' 'payouts.create' '' 'landed-cost-quotes.create' '' 'disputes.update' ''
        case setting
            printf '%s\t%s\n' 'active_profile' '' 'output' '' 'color' '' 'max_time' '' 'cache' '' 'keyring_backends' ''
        case sandbox_decide_outcome
            printf '%s\t%s\n' 'won' '' 'lost' ''
        case balance
            printf '%s\t%s\n' 'AED=' '' 'AFN=' '' 'ALL=' '' 'AMD=' '' 'AOA=' '' 'ARS=' '' 'AUD=' '' 'AWG=' '' 'AZN=' '' 'BAM=' '' 'BBD=' '' 'BDT=' '' 'BGN=' '' 'BHD=' '' 'BIF=' '' 'BMD=' '' 'BND=' '' 'BOB=' '' 'BOV=' '' 'BRL=' '' 'BSD=' '' 'BTN=' '' 'BWP=' '' 'BYN=' '' 'BZD=' '' 'CAD=' '' 'CDF=' '' 'CHE=' '' 'CHF=' '' 'CHW=' '' 'CLF=' '' 'CLP=' '' 'CNY=' '' 'COP=' '' 'COU=' '' 'CRC=' '' 'CUP=' '' 'CVE=' '' 'CZK=' '' 'DJF=' '' 'DKK=' '' 'DOP=' '' 'DZD=' '' 'EGP=' '' 'ERN=' '' 'ETB=' '' 'EUR=' '' 'FJD=' '' 'FKP=' '' 'GBP=' '' 'GEL=' '' 'GHS=' '' 'GIP=' '' 'GMD=' '' 'GNF=' '' 'GTQ=' '' 'GYD=' '' 'HKD=' '' 'HNL=' '' 'HTG=' '' 'HUF=' '' 'IDR=' '' 'ILS=' '' 'INR=' '' 'IQD=' '' 'IRR=' '' 'ISK=' '' 'JMD=' '' 'JOD=' '' 'JPY=' '' 'KES=' '' 'KGS=' '' 'KHR=' '' 'KMF=' '' 'KPW=' '' 'KRW=' '' 'KWD=' '' 'KYD=' '' 'KZT=' '' 'LAK=' '' 'LBP=' '' 'LKR=' '' 'LRD=' '' 'LSL=' '' 'LYD=' '' 'MAD=' '' 'MDL=' '' 'MGA=' '' 'MKD=' '' 'MMK=' '' 'MNT=' '' 'MOP=' '' 'MRU=' '' 'MUR=' '' 'MVR=' '' 'MWK=' '' 'MXN=' '' 'MXV=' '' 'MYR=' '' 'MZN=' '' 'NAD=' '' 'NGN=' '' 'NIO=' '' 'NOK=' '' 'NPR=' '' 'NZD=' '' 'OMR=' '' 'PAB=' '' 'PEN=' '' 'PGK=' '' 'PHP=' '' 'PKR=' '' 'PLN=' '' 'PYG=' '' 'QAR=' '' 'RON=' '' 'RSD=' '' 'RUB=' '' 'RWF=' '' 'SAR=' '' 'SBD=' '' 'SCR=' '' 'SDG=' '' 'SEK=' '' 'SGD=' '' 'SHP=' '' 'SLE=' '' 'SOS=' '' 'SRD=' '' 'SSP=' '' 'STN=' '' 'SVC=' '' 'SYP=' '' 'SZL=' '' 'THB=' '' 'TJS=' '' 'TMT=' '' 'TND=' '' 'TOP=' '' 'TRY=' '' 'TTD=' '' 'TWD=' '' 'TZS=' '' 'UAH=' '' 'UGX=' '' 'USD=' '' 'USN=' '' 'UYI=' '' 'UYU=' '' 'UYW=' '' 'UZS=' '' 'VED=' '' 'VES=' '' 'VND=' '' 'VUV=' '' 'WST=' '' 'XAF=' '' 'XCD=' '' 'XCG=' '' 'XOF=' '' 'XPF=' '' 'YER=' '' 'ZAR=' '' 'ZMW=' '' 'ZWG=' ''
        case sandbox_clock_mode
            printf '%s\t%s\n' 'realtime' '' 'frozen' ''
        case sandbox_setting
            printf '%s\t%s\n' 'smart_retries=' '' 'settlement_currency=' '' 'country=' '' 'collect_landed_cost=' '' 'pinned_version=' '' 'unknown_parameters=' '' 'error_envelope=' '' 'insecure_http=' '' 'allow_http_webhooks=' '' 'allow_remote_webhooks=' '' 'allow_self_signed_webhooks=' '' 'rate_limit=' '' 'signature_time=' '' 'webhook_delivery=' '' 'encodings=' '' 'require_idempotency_key=' '' 'chaos=' '' 'voucher_days=' '' 'payment_fee_bps=' '' 'negative_balance=' ''
        case completion_shell
            printf '%s\t%s\n' 'bash' '' 'zsh' '' 'fish' '' 'powershell' ''
        case help
            printf '%s\t%s\n' 'exit-codes' 'What the exit status of a command means.' 'environment' 'Every variable that svc reads.' 'output' 'Formats, queries, and where errors go.' 'webhooks' 'Receiving events: verify, answer, skip, replay.' 'team' 'One log for a team: a receiver, laptops, jobs that share a queue.' 'team-operations' 'Running the servers of a team\'s log.' 'money' 'Amounts in minor units; paying once.' 'sandbox' 'The service on this machine: keys, test cards, time.' 'compare' 'Whether a service does what the sandbox assumes.' 'faults' 'What can be made to go wrong in a sandbox, on purpose.' 'ci' 'Running svc without a person at the terminal.' 'agents' 'Commands as tools for an agent: what it may do, and who is asked.' 'timeline' 'One story for any id, and what is missing in it.' 'limits' 'How much a machine may refund, pay out or capture in an hour or a day.' 'audit' 'Which events never came, told from the objects of the service.' 'examine' 'Testing a webhook handler with good and bad deliveries.' 'reminders' 'When keys are to be replaced, and who says so.' 'moving' 'Taking profiles, keys and the journal to another machine.' 'comparison' 'svc beside the Stripe CLI.' 'changes' 'What is new, and what changed for scripts.' 'assumptions' 'What the specification says, and what we chose.' 'orders' 'Create, retrieve, update, capture, cancel and list orders.' 'payments' 'Retrieve and list payments.' 'refunds' 'Return all or part of a payment.' 'payouts' 'Send money to receiving banks.' 'landed-cost-quotes' 'Quote duties, taxes and fees.' 'disputes' 'Answer disputes with evidence.' 'get' 'Send any GET: an id or a /v1/ path.' 'post' 'Send any POST to a /v1/ path.' 'batch' 'Run an operation for every row of a file.' 'events' 'Retrieve events; receive, verify and forward webhooks.' 'webhook-endpoints' 'Register webhook endpoints.' 'requests' 'List sent requests; settle those of unknown outcome.' 'state' 'See what uses disk space on this machine; free it.' 'keys' 'Keep API keys in the OS keyring.' 'profiles' 'Name accounts and switch between them.' 'config' 'Read and change settings.' 'whoami' 'Show profile, address, mode and key in use.' 'doctor' 'Check this machine and the account, with remedies.' 'quickstart' 'See an order paid and its webhook arrive, in 15 seconds.' 'mcp' 'Serve commands to an agent as tools (MCP).' 'commands' 'List every command, for people or as data.' 'completion' 'Complete commands, options and ids in your shell.' 'help' 'Read about exit codes, webhooks, assumptions and more.'
    end
end

function __svc_command --no-scope-shadowing
    switch $argv[1]
        case ''
            set commands 'orders' 'Create, retrieve, update, capture, cancel and list orders.' 'payments' 'Retrieve and list payments.' 'refunds' 'Return all or part of a payment.' 'payouts' 'Send money to receiving banks.' 'landed-cost-quotes' 'Quote duties, taxes and fees.' 'disputes' 'Answer disputes with evidence.' 'get' 'Send any GET: an id or a /v1/ path.' 'post' 'Send any POST to a /v1/ path.' 'batch' 'Run an operation for every row of a file.' 'events' 'Retrieve events; receive, verify and forward webhooks.' 'webhook-endpoints' 'Register webhook endpoints.' 'timeline' 'Show everything known about an id, in order of time.' 'requests' 'List sent requests; settle those of unknown outcome.' 'state' 'See what uses disk space on this machine; free it.' 'keys' 'Keep API keys in the OS keyring.' 'profiles' 'Name accounts and switch between them.' 'config' 'Read and change settings.' 'whoami' 'Show profile, address, mode and key in use.' 'doctor' 'Check this machine and the account, with remedies.' 'sandbox' 'Run the whole service on this machine.' 'quickstart' 'See an order paid and its webhook arrive, in 15 seconds.' 'mcp' 'Serve commands to an agent as tools (MCP).' 'commands' 'List every command, for people or as data.' 'completion' 'Complete commands, options and ids in your shell.' 'help' 'Read about exit codes, webhooks, assumptions and more.' 'quotes' 'Short for landed-cost-quotes.'
            set options --version '-' 'Print the version.' -V '-' 'Print the version.'
            set arguments 
            set shared 'global'
        case 'orders'
            set commands 'create' 'Create an order.' 'retrieve' 'Retrieve an order.' 'update' 'Update an unpaid order. The destination and the items are replaced as a whole.' 'cancel' 'Cancel an order that is not paid.' 'capture' 'Capture an authorised payment, in full or in part.' 'list' 'List orders, newest first.'
            set options 
            set arguments 
            set shared 'global'
        case 'orders create'
            set commands 
            set options --amount 't' 'The amount in minor units: 12900 is 129.00 EUR.' --currency 'w.currency' 'The currency, an ISO 4217 code such as EUR.' --settlement-currency 'w.currency' 'The currency that you are settled in.' --country 'w.country' 'The destination, a country code such as DE.' --postal-code 't' 'The destination\'s postal code.' --item '+t' 'An item, repeatable: its name, quantity, unit_amount, hs_code, origin_country.' --capture-method 'w.order_capture_method' 'automatic, or manual to authorise first and capture later.' --metadata '+t' 'A note of your own, repeatable.'
            set arguments 
            set shared 'request preview global'
        case 'orders retrieve'
            set commands 
            set options --wait '-' 'Wait until it is settled, at most --max-time seconds.' --until 't' 'Wait for this, or for one of several as a,b: requires_payment, processing, authorized, paid or cancelled.'
            set arguments 'i.ord_'
            set shared 'preview global'
        case 'orders update'
            set commands 
            set options --amount 't' 'The amount in minor units: 12900 is 129.00 EUR.' --currency 'w.currency' 'The currency, an ISO 4217 code such as EUR.' --settlement-currency 'w.currency' 'The currency that you are settled in.' --country 'w.country' 'The destination, a country code such as DE.' --postal-code 't' 'The destination\'s postal code.' --item '+t' 'An item, repeatable: its name, quantity, unit_amount, hs_code, origin_country.' --capture-method 'w.order_capture_method' 'automatic, or manual to authorise first and capture later.' --metadata '+t' 'A note of your own, repeatable.'
            set arguments 'i.ord_'
            set shared 'request preview global'
        case 'orders cancel'
            set commands 
            set options --reason 'w.order_cancellation_reason' 'One of duplicate, fraudulent, requested_by_customer, abandoned.'
            set arguments 'i.ord_'
            set shared 'request preview global'
        case 'orders capture'
            set commands 
            set options --amount 't' 'The amount in minor units: 12900 is 129.00 EUR.' --over-limit '-' 'Send more than a limit allows; a person must say yes to it.'
            set arguments 'i.ord_'
            set shared 'request preview global'
        case 'orders list'
            set commands 
            set options --status 'w.order_status' 'Only those that are requires_payment, processing, authorized, paid or cancelled.' --starting-after 'i.ord_' 'Begin with what follows this object.'
            set arguments 
            set shared 'list preview global'
        case 'payments'
            set commands 'retrieve' 'Retrieve a payment.' 'list' 'List payments, newest first.'
            set options 
            set arguments 
            set shared 'global'
        case 'payments retrieve'
            set commands 
            set options --wait '-' 'Wait until it is settled, at most --max-time seconds.' --until 't' 'Wait for this, or for one of several as a,b: processing, authorized, captured, failed or cancelled.'
            set arguments 'i.pay_'
            set shared 'preview global'
        case 'payments list'
            set commands 
            set options --order 'i.ord_' 'Only of this order.' --status 'w.payment_status' 'Only those that are processing, authorized, captured, failed or cancelled.' --starting-after 'i.pay_' 'Begin with what follows this object.'
            set arguments 
            set shared 'list preview global'
        case 'refunds'
            set commands 'create' 'Refund a payment; without --amount all that is left.' 'retrieve' 'Retrieve a refund.' 'list' 'List refunds, newest first.'
            set options 
            set arguments 
            set shared 'global'
        case 'refunds create'
            set commands 
            set options --payment 'i.pay_' 'The payment, pay_...' --amount 't' 'The amount in minor units: 12900 is 129.00 EUR.' --reason 'w.refund_reason' 'One of duplicate, fraudulent, requested_by_customer.' --metadata '+t' 'A note of your own, repeatable.' --wait '-' 'Wait until it is settled, at most --max-time seconds.' --over-limit '-' 'Send more than a limit allows; a person must say yes to it.'
            set arguments 
            set shared 'request preview global'
        case 'refunds retrieve'
            set commands 
            set options --wait '-' 'Wait until it is settled, at most --max-time seconds.' --until 't' 'Wait for this, or for one of several as a,b: pending, succeeded or failed.'
            set arguments 'i.rf_'
            set shared 'preview global'
        case 'refunds list'
            set commands 
            set options --payment 'i.pay_' 'Only of this payment.' --status 'w.refund_status' 'Only those that are pending, succeeded or failed.' --starting-after 'i.rf_' 'Begin with what follows this object.'
            set arguments 
            set shared 'list preview global'
        case 'payouts'
            set commands 'create' 'Send a payout.' 'retrieve' 'Retrieve a payout.' 'list' 'List payouts, newest first.'
            set options 
            set arguments 
            set shared 'global'
        case 'payouts create'
            set commands 
            set options --amount 't' 'The amount in minor units: 12900 is 129.00 EUR.' --currency 'w.currency' 'The currency, an ISO 4217 code such as EUR.' --source-currency 'w.currency' 'The balance to debit, by its currency.' --country 'w.country' 'The country of the receiving bank, such as DE.' --account-holder-name 't' 'The name of the person or company that is paid.' --iban 't' 'The account\'s IBAN; where there is none, --account-number.' --account-number 't' 'The account\'s number; --bank-code goes with it.' --bank-code 't' 'The bank\'s routing or sort code.' --bic 't' 'The bank\'s BIC.' --bank-name 't' 'The bank\'s name.' --reference 't' 'A text that the receiver is shown.' --metadata '+t' 'A note of your own, repeatable.' --wait '-' 'Wait until it is settled, at most --max-time seconds.' --over-limit '-' 'Send more than a limit allows; a person must say yes to it.'
            set arguments 
            set shared 'request preview global'
        case 'payouts retrieve'
            set commands 
            set options --wait '-' 'Wait until it is settled, at most --max-time seconds.' --until 't' 'Wait for this, or for one of several as a,b: created, sent, paid or failed.'
            set arguments 'i.po_'
            set shared 'preview global'
        case 'payouts list'
            set commands 
            set options --status 'w.payout_status' 'Only those that are created, sent, paid or failed.' --starting-after 'i.po_' 'Begin with what follows this object.'
            set arguments 
            set shared 'list preview global'
        case 'landed-cost-quotes'
            set commands 'create' 'Request a landed-cost quote.' 'retrieve' 'Retrieve a landed-cost quote.'
            set options 
            set arguments 
            set shared 'global'
        case 'landed-cost-quotes create'
            set commands 
            set options --currency 'w.currency' 'The currency, an ISO 4217 code such as EUR.' --country 'w.country' 'The destination, a country code such as DE.' --postal-code 't' 'The destination\'s postal code.' --item '+t' 'An item, repeatable: its name, quantity, unit_amount, hs_code, origin_country.' --ship-from-country 'w.country' 'The country that it is sent from.' --shipping-amount 't' 'The freight in minor units.'
            set arguments 
            set shared 'request preview global'
        case 'landed-cost-quotes retrieve'
            set commands 
            set options 
            set arguments 'i.lcq_'
            set shared 'preview global'
        case 'disputes'
            set commands 'update' 'Attach evidence as a draft, or submit it, which is final.' 'retrieve' 'Retrieve a dispute.' 'list' 'List disputes, newest first.' 'accept' 'Accept a dispute as lost. This cannot be undone.'
            set options 
            set arguments 
            set shared 'global'
        case 'disputes update'
            set commands 
            set options --tracking-number 't' 'The number by which the parcel is followed.' --shipping-carrier 't' 'Who carried it.' --evidence '+w.dispute_evidence' 'Other evidence, repeatable.' --submit '-' 'Submit it; without this it stays a draft.'
            set arguments 'i.dp_'
            set shared 'request preview global'
        case 'disputes retrieve'
            set commands 
            set options --wait '-' 'Wait until it is settled, at most --max-time seconds.' --until 't' 'Wait for this, or for one of several as a,b: needs_response, under_review, won or lost.'
            set arguments 'i.dp_'
            set shared 'preview global'
        case 'disputes list'
            set commands 
            set options --payment 'i.pay_' 'Only of this payment.' --status 'w.dispute_status' 'Only those that are needs_response, under_review, won or lost.' --due 't' 'Only those in needs_response that are due within this time, such as 7d; all pages.' --starting-after 'i.dp_' 'Begin with what follows this object.'
            set arguments 
            set shared 'list preview global'
        case 'disputes accept'
            set commands 
            set options --over-limit '-' 'Send more than a limit allows; a person must say yes to it.'
            set arguments 'i.dp_'
            set shared 'request preview global'
        case 'get'
            set commands 
            set options --param '+t' 'A query parameter, repeatable.'
            set arguments 'w.get_path,i.ord_|pay_|rf_|po_|lcq_|evt_|dp_'
            set shared 'preview global'
        case 'post'
            set commands 
            set options --over-limit '-' 'Send more than a limit allows; a person must say yes to it.'
            set arguments 'w.post_path'
            set shared 'request preview global'
        case 'batch'
            set commands 
            set options --concurrency 't' 'How many requests are under way at a time, 1 to 64.' --rate 't' 'At most so many requests a second.' --strict-order '-' 'Send one at a time, in the order of the file.' --results 'f' 'Where to write the result of each row, one line a row.' --force '-' 'Overwrite a results file that belongs to another batch.' --import 't' 'The name of the batch, the same on every machine; or its id, as in its results file.' --run 't' 'The occasion, such as 2026-11: the same label continues, another does it anew.' --row-id 't' 'The column that names a row, such as an invoice number, whatever is corrected in it.' --again '-' 'Do all rows once more, under a new label, which is printed.' --continue '-' 'Skip what was done 12 hours ago or more, and send the rest.' --edited '-' 'Send rows that look like a done row whose values were changed.' --skip-done '-' 'Count a row as done where a single command has sent the same.' --retry-failed '-' 'Send rows again whose refund or payout has failed.' --decimals '-' 'Read amounts of a CSV with their currency\'s own decimals, as list --decimals wrote; it needs a column currency.' --raw-csv '-' 'Take cells as they are, as list --raw-csv wrote.' --blank-means-all '-' 'Take a blank amount for all that is left.' --ignore-column '+t' 'A column that is not a field, to be ignored; repeatable.' --over-limit '-' 'Send more than a limit allows; a person must say yes to it.' --dry-run '-' 'Check every row and send nothing.'
            set arguments 'w.operation' 'f'
            set shared 'global'
        case 'events'
            set commands 'retrieve' 'Retrieve an event.' 'listen' 'Receive webhooks, verify each over its raw bytes, keep, show and forward it.' 'receive' 'Receive webhooks for a team: verify each, keep a copy, put it into a shared log.' 'log' 'Set up a team\'s log and see how it is.' 'inbox' 'Show what was received, the newest first. Every delivery in it was verified.' 'audit' 'List the events that should have come and did not.' 'replay' 'Send received events again: the same bytes, signed now.' 'sign' 'Print the Svc-Signature header of a payload, signed as the service signs.' 'tail' 'See events as they come. Each is verified and kept; none is forwarded.' 'prune' 'Forget received events that failed: they are kept until you say so.' 'verify' 'Check one delivery: exit 0 if it is authentic, else 11 and what is wrong.' 'examine' 'Test a webhook handler with forged, repeated, reordered and unusual deliveries.'
            set options 
            set arguments 
            set shared 'global'
        case 'events retrieve'
            set commands 
            set options 
            set arguments 'i.evt_'
            set shared 'preview global'
        case 'events listen'
            set commands 
            set options --forward-to '+t' 'Where to forward: 3000, :3000/hooks or a URL; repeatable.' --run '+t' 'Run a command for each event of a type (or GLOB), without a shell, with the payload on standard input; exit code 0 takes the event.' --run-timeout 't' 'How long one run of a command may take.' --events '+w.event_type' 'Event types; repeatable, or several as a,b.' --where 't' 'Only events that meet this, in JMESPath: \'data.object.amount > `10000`\'.' --tunnel 'w.tunnel' 'auto, none, cloudflared, ngrok or ssh:[USER@]HOST[:REMOTE_PORT].' --public-url 't' 'A tunnel of yours that leads to --port.' --port 't' 'The local port.' --endpoint-secret-stdin '-' 'Use an endpoint that exists: its signing secret comes on standard input, or in SVC_WEBHOOK_SECRET.' --ack 'w.events_listen_ack' 'Answer the service when received or forwarded.' --concurrency 't' 'How many a target or command gets at a time.' --ordered '-' 'Forward one at a time for each data.object.id.' --forward-timeout 't' 'How long one forward may take.' --retry 'w.events_listen_retry' 'fast waits for a target that is away, and tries again after no answer, 408, 425, 429 and 5xx: in 2 s, 10 s, 1 min, 10 min, then each hour, and once the target has taken another event; real keeps the service\'s schedule; off tries once.' --header '+t' 'A header to send along; repeatable.' --allow-remote-forward '-' 'Forward to other machines too.' --insecure-target '-' 'Take any certificate of a target on this machine or at a private address.' --original-signature '-' 'Forward late events as they were signed; by default those of over 4 minutes ago are signed anew.' --max-body 't' 'The largest body that is taken.' --print 'w.events_listen_print' 'What to print of an event: summary, payload (in JSON beside its bytes), or none, which also leaves out forwards that went well.' --inspect '%t' 'Serve a page on this machine that shows every delivery and sends it again.' --until 'w.event_type' 'End after N events of a type (or GLOB) have come.' --timeout 't' 'End after so long, with 11 if --until or --exec was not done.' --ready-file 'f' 'A file to write when ready and to remove at the end.' --exec 't' 'Have the shell run CMD once ready, with SVC_WEBHOOK_SECRET and without SVC_API_KEY, and end with it; with --until, when the events have come too.' --strict '-' 'Exit 11 if a delivery was rejected or not forwarded.' --no-resume '-' 'Leave alone what an earlier run could not forward; it is kept.' --adopt '-' 'Take over events that wait for targets of earlier runs.' --from 't' 'Read a team\'s log, nats+tls://HOST/NAME, that svc events receive fills; nothing is registered, and no tunnel is needed.' --group 't' 'With --from: share a queue; each event goes to one of the group.' --from-start 'w.from_start' 'With --from, where the first run begins: now, all, 2h (ago) or today.' --name 't' 'With --from: this reader\'s name.' --signature 'w.events_listen_signature' 'With --from: own, made anew with this machine\'s secret; or original, which an app refuses after 5 minutes.' --print-secret '-' 'Print the signing secret and end.'
            set arguments 
            set shared 'global'
        case 'events receive'
            set commands 
            set options --to 't' 'The log, nats+tls://HOST/NAME.' --public-url 't' 'The address that leads to --port.' --tunnel 'w.tunnel' 'As for svc events listen: auto, none, cloudflared, ngrok or ssh:HOST.' --port 't' 'The local port.' --events '+w.event_type' 'Event types; repeatable, or several as a,b.' --endpoint-secret-stdin '-' 'Use an endpoint that exists: its signing secret comes on standard input, or in SVC_WEBHOOK_SECRET.' --max-body 't' 'The largest body that is taken.' --log-monitor '+t' 'The monitoring address of a server, such as http://127.0.0.1:8222, repeatable: refuse a log that acknowledges before it writes to the disk.' --no-copy '-' 'Keep no copy on this machine\'s disk.' --print 'w.events_receive_print' 'What to print of an event: summary, payload (in JSON beside its bytes), or none, which also leaves out forwards that went well.' --ready-file 'f' 'A file to write when ready and to remove at the end.'
            set arguments 
            set shared 'global'
        case 'events log'
            set commands 'login' 'Store credentials of a log in the OS keyring, for the servers of this address alone.' 'status' 'Show how a log is: what it holds, its copies, groups and laptops, and what was put aside.' 'refill' 'Put the copies that receivers of this machine have kept into a log that has lost events.' 'forget' 'Stop svc doctor from checking a log that is not used any more; what was read stays known.' 'template' 'Print the configuration of one of the three servers of a log, or of one alone.' 'create' 'Make the streams of a log, with an admin\'s credentials; what is there is left as it is.' 'user' 'Add, remove and renew the users of a log.' 'failed' 'See what groups have put aside, and give it to them again.'
            set options 
            set arguments 
            set shared 'global'
        case 'events log login'
            set commands 
            set options 
            set arguments 't'
            set shared 'global'
        case 'events log status'
            set commands 
            set options --from 't' 'The log, nats+tls://HOST/NAME.'
            set arguments 
            set shared 'global'
        case 'events log refill'
            set commands 
            set options --to 't' 'The log, nats+tls://HOST/NAME.' --since 't' 'Copies since: 2h, 7d, yesterday or 2026-11-21.'
            set arguments 
            set shared 'global'
        case 'events log forget'
            set commands 
            set options --from 't' 'The log, nats+tls://HOST/NAME.'
            set arguments 
            set shared 'global'
        case 'events log template'
            set commands 
            set options --name 't' 'The log\'s name.' --node 't' 'Which of the three servers it is for.' --host '+t' 'The name of a server, for each of the three in order.' --events-per-minute 't' 'Size it for so many events a minute, kept for seven days.' --max-file-store 't' 'How much each server may store, such as 20GiB.' --environment '-' 'Print the variables that servers read, with new secrets.' --systemd '-' 'Print a unit of systemd that runs one.' --trial '-' 'All servers on this machine, without certificates.' --single '-' 'One server in place of three, for a team that can wait for it.'
            set arguments 
            set shared 'global'
        case 'events log create'
            set commands 
            set options --to 't' 'The log, nats+tls://HOST/NAME.' --group '+t' 'A queue that jobs share; repeatable.' --from 'w.from_start' 'Where groups that are made begin: all, now, or 2h (ago).' --replicas 't' 'How many copies there are; 1 only for trying out.' --max-bytes 't' 'How much it holds, such as 512MiB.' --events-per-minute 't' 'Size it for so many events a minute, kept for seven days.' --print-key '-' 'Print the log\'s key, for the credentials of its members.' --new-key '-' 'Replace the log\'s key; members need the new one.'
            set arguments 
            set shared 'global'
        case 'events log user'
            set commands 'add' 'Add a user and print its credentials: hand them over, they are shown once.' 'rotate' 'Give a user a new password and print its credentials; the old one ends with the reload.' 'remove' 'Remove a user; the servers refuse the user once they are reloaded.'
            set options 
            set arguments 
            set shared 'global'
        case 'events log user add'
            set commands 
            set options --role 'w.events_log_user_add_role' 'What the user may do: admin, receiver, laptop or job.' --group 't' 'The queue of a job.' --log 't' 'The log\'s name, where the file is new.' --users 'f' 'The users\' file, which lies beside the servers\' configuration.'
            set arguments 't'
            set shared 'global'
        case 'events log user rotate'
            set commands 
            set options --users 'f' 'The users\' file, which lies beside the servers\' configuration.'
            set arguments 't'
            set shared 'global'
        case 'events log user remove'
            set commands 
            set options --users 'f' 'The users\' file, which lies beside the servers\' configuration.'
            set arguments 't'
            set shared 'global'
        case 'events log failed'
            set commands 'list' 'List what was put aside, with the reason, the oldest first.' 'show' 'Show an entry of the list, with the event as it was received.' 'retry' 'Give an event to its group again, with an admin\'s credentials, and take it off the list.' 'drop' 'Take an event off the list, with an admin\'s credentials; it stays in the log.'
            set options 
            set arguments 
            set shared 'global'
        case 'events log failed list'
            set commands 
            set options --from 't' 'The log, nats+tls://HOST/NAME.' --group 't' 'Those of one group.'
            set arguments 
            set shared 'global'
        case 'events log failed show'
            set commands 
            set options --from 't' 'The log, nats+tls://HOST/NAME.'
            set arguments 't'
            set shared 'global'
        case 'events log failed retry'
            set commands 
            set options --from 't' 'The log, nats+tls://HOST/NAME.'
            set arguments 't'
            set shared 'global'
        case 'events log failed drop'
            set commands 
            set options --from 't' 'The log, nats+tls://HOST/NAME.'
            set arguments 't'
            set shared 'global'
        case 'events inbox'
            set commands 'show' 'Show one delivery.'
            set options --type 'w.event_type' 'Only these event types.' --failed '-' 'Only those that a target did not take and that are not tried again.' --pending '-' 'Only those still to be forwarded; with --failed, those as well.' --since 't' 'Received since: 2h, 3d, yesterday or 2026-11-21.' --object 'i.ord_|pay_|rf_|po_|lcq_|evt_|dp_' 'Only about this object, or naming it.' --text 't' 'Only those with these words in them.' --where 't' 'Only events that meet this, in JMESPath: \'data.object.amount > `10000`\'.' --max 't' 'How many at most, the newest.' --limit 't' 'How many at most, the newest.'
            set arguments 
            set shared 'global'
        case 'events inbox show'
            set commands 
            set options 
            set arguments 'i.evt_'
            set shared 'global'
        case 'events audit'
            set commands 
            set options --since 't' 'Events sent since: 2h, 3d, yesterday or 2026-11-21.' --from 't' 'Compare with a team\'s log in place of the inbox.' --created-since 't' 'Look at objects made since; by default 30 days before --since.'
            set arguments 
            set shared 'global'
        case 'events replay'
            set commands 
            set options --failed '-' 'All events that a target did not take and that are not tried again.' --pending '-' 'All still to be forwarded, where no listener runs that does it.' --forward-to 't' 'Where to send them.' --times 't' 'How many times each is sent.' --original-signature '-' 'Keep the old signature and its time.' --where 't' 'Only events that meet this, in JMESPath: \'data.object.amount > `10000`\'.' --set '+t' 'Change the event before it is sent: data.object.amount=1; repeatable.' --forward-timeout 't' 'How long one forward may take.' --allow-remote-forward '-' 'Send to other machines too.'
            set arguments '+i.evt_'
            set shared 'global'
        case 'events sign'
            set commands 
            set options --payload 'f' 'The raw body.' --secret-stdin '-' 'Read the signing secret from standard input.' --endpoint 'i.we_' 'The endpoint whose secret signs it: we_...' --now 't' 'The time of the signature: 10m (ago) for one that is too old.'
            set arguments 
            set shared 'global'
        case 'events tail'
            set commands 
            set options --events '+w.event_type' 'Event types; repeatable, or several as a,b.' --where 't' 'Only events that meet this, in JMESPath: \'data.object.amount > `10000`\'.' --print 'w.events_tail_print' 'What to print of an event: summary, payload (in JSON beside its bytes), or none, which also leaves out forwards that went well.' --until 'w.event_type' 'End after N events of a type (or GLOB) have come.' --timeout 't' 'End after so long, with 11 if --until was not done.' --tunnel 'w.tunnel' 'auto, none, cloudflared, ngrok or ssh:[USER@]HOST[:REMOTE_PORT].' --public-url 't' 'A tunnel of yours that leads to --port.' --port 't' 'The local port.'
            set arguments 
            set shared 'global'
        case 'events prune'
            set commands 
            set options --failed '-' 'Those that a target did not take and that are not tried again.' --before 't' 'Received before: 30d, yesterday or 2026-11-21.'
            set arguments 
            set shared 'global'
        case 'events verify'
            set commands 
            set options --header '+t' 'The Svc-Signature header; repeatable, for each line of it.' --payload 'f' 'The raw body.' --secret-stdin '-' 'Read the signing secret from standard input.' --now 't' 'The time to check as of: 2026-11-21T09:00, Unix seconds or 2h (ago).'
            set arguments 
            set shared 'global'
        case 'events examine'
            set commands 
            set options --forward-to 't' 'The handler: 3000, 3000/webhooks or a URL.' --check 't' 'A shell command that prints what the handler has done: a number, or a line for each event.' --type 'w.event_type' 'The type of event whose effect --check shows.' --settle 't' 'How long an effect may take to show.' --forward-timeout 't' 'How long an answer may take.' --report 'f' 'Write a report in Markdown too, as for a pull request.' --endpoint 'i.we_' 'The endpoint whose secret signs the events: we_...' --secret-stdin '-' 'Read the signing secret from standard input.' --allow-remote-forward '-' 'Examine a handler on another machine too.'
            set arguments 
            set shared 'global'
        case 'webhook-endpoints'
            set commands 'create' 'Register an endpoint; its signing secret is shown this once.'
            set options 
            set arguments 
            set shared 'global'
        case 'webhook-endpoints create'
            set commands 
            set options --url 't' 'Where events are sent.' --events '+w.event_type' 'An event type such as order.paid; repeatable, or several as a,b.' --description 't' 'A note of your own.'
            set arguments 
            set shared 'request preview global'
        case 'timeline'
            set commands 
            set options 
            set arguments 'i.rq_'
            set shared 'global'
        case 'requests'
            set commands 'list' 'List the POSTs in this machine\'s journal, newest first.' 'show' 'Show one request: what was sent, with which key, and how it ended.' 'resume' 'Send an unresolved request again; it is never doubled.' 'adopt' 'Take over what can be read of another state database.' 'start-empty' 'Begin without the state database that was damaged and set aside.' 'forget' 'Delete a request from the journal, once its outcome is known to you.'
            set options 
            set arguments 
            set shared 'global'
        case 'requests list'
            set commands 
            set options --unresolved '-' 'Only those whose outcome is not known.' --object 'i.ord_|pay_|rf_|po_|lcq_|evt_|dp_' 'Only those that made this object, or name it.' --since 't' 'Recorded since: 2h, 3d, yesterday or 2026-11-21.' --operation 'w.posted' 'Only these, such as refunds.create.' --max 't' 'How many at most, the newest.' --limit 't' 'How many at most, the newest.'
            set arguments 
            set shared 'global'
        case 'requests show'
            set commands 
            set options 
            set arguments 'i.rq_'
            set shared 'global'
        case 'requests resume'
            set commands 
            set options 
            set arguments 'i.rq_'
            set shared 'global'
        case 'requests adopt'
            set commands 
            set options 
            set arguments 'f'
            set shared 'global'
        case 'requests start-empty'
            set commands 
            set options 
            set arguments 
            set shared 'global'
        case 'requests forget'
            set commands 
            set options 
            set arguments 'i.rq_'
            set shared 'global'
        case 'state'
            set commands 'compact' 'Forget what is due, and give free room back to the disk.'
            set options 
            set arguments 
            set shared 'global'
        case 'state compact'
            set commands 
            set options 
            set arguments 
            set shared 'global'
        case 'keys'
            set commands 'add' 'Store an API key in the OS keyring.' 'list' 'List the stored keys by their last four characters.' 'remove' 'Remove a stored key from every keyring.' 'roll' 'Put a new key in the place of the stored one.' 'remind' 'Say which API keys and signing secrets are due to be replaced.'
            set options 
            set arguments 
            set shared 'global'
        case 'keys add'
            set commands 
            set options --stdin '-' 'Read the key from a pipe.' --publishable '-' 'It is a pk_ key, for the sandbox\'s checkout.' --no-check '-' 'Do not ask the service about the key.'
            set arguments 
            set shared 'global'
        case 'keys list'
            set commands 
            set options 
            set arguments 
            set shared 'global'
        case 'keys remove'
            set commands 
            set options --publishable '-' 'It is a pk_ key, for the sandbox\'s checkout.'
            set arguments 
            set shared 'global'
        case 'keys roll'
            set commands 
            set options --grace 't' 'How long the old key works on, as chosen in the dashboard.' --stdin '-' 'Read the new key from a pipe.' --dashboard 't' 'The dashboard\'s page, to be opened.' --no-check '-' 'Do not ask the service about the keys.'
            set arguments 
            set shared 'global'
        case 'keys remind'
            set commands 
            set options --max-age 't' 'The age at which a key is to be replaced.' --warn 't' 'How long before that age a key is due.' --format 'w.keys_remind_format' 'One of text, json, github, ics.' --created 't' 'When the key in SVC_API_KEY was made: 2025-10-01 or 60d (ago).'
            set arguments 
            set shared 'global'
        case 'profiles'
            set commands 'list' 'List the profiles.' 'use' 'Make a profile the one that is used where none is named.' 'create' 'Create a profile.' 'remove' 'Remove a profile that has no stored keys.'
            set options 
            set arguments 
            set shared 'global'
        case 'profiles list'
            set commands 
            set options 
            set arguments 
            set shared 'global'
        case 'profiles use'
            set commands 
            set options 
            set arguments 'p'
            set shared 'global'
        case 'profiles create'
            set commands 
            set options --auth 'w.auth' 'How the key is sent: bearer or basic.' --key-command 't' 'A command that prints the key, run each time without a shell; nothing is stored.'
            set arguments 't'
            set shared 'global'
        case 'profiles remove'
            set commands 
            set options 
            set arguments 'p'
            set shared 'global'
        case 'config'
            set commands 'get' 'Show what the configuration says, defaults included.' 'set' 'Change a setting; the file\'s comments stay.' 'unset' 'Take a setting out, so that its default holds again.' 'path' 'Show where the configuration file is, or would be.'
            set options 
            set arguments 
            set shared 'global'
        case 'config get'
            set commands 
            set options 
            set arguments 'w.setting'
            set shared 'global'
        case 'config set'
            set commands 
            set options 
            set arguments 'w.setting' 't'
            set shared 'global'
        case 'config unset'
            set commands 
            set options 
            set arguments 'w.setting'
            set shared 'global'
        case 'config path'
            set commands 
            set options 
            set arguments 
            set shared 'global'
        case 'whoami'
            set commands 
            set options 
            set arguments 
            set shared 'global'
        case 'doctor'
            set commands 
            set options --log-monitor '+t' 'The monitoring address of a team\'s log, for each of its servers.' --report '-' 'Print what to attach to a report of a bug; no secret is in it.'
            set arguments 
            set shared 'global'
        case 'sandbox'
            set commands 'start' 'Start the service on this machine. Ctrl-C stops it; its data stays in one file.' 'stop' 'Stop a running sandbox; its data stays.' 'status' 'Show the sandboxes that are running. The exit code is 11 when none is.' 'logs' 'Show a sandbox\'s warnings and errors; with --follow further ones as they come.' 'env' 'Print shell exports of a sandbox\'s address and key. The key is a public constant.' 'pay' 'Pay an order as its shopper would in the browser.' 'checkout' 'Open the page on which the shopper pays an order.' 'dispute' 'Have the shopper dispute a captured payment.' 'settle' 'Have a bank confirm a payment, refund or payout now.' 'fail' 'Have a bank reject a payment, refund or payout now.' 'decide' 'Decide a dispute whose evidence is under review.' 'customs' 'Have customs charge a paid order. With a guaranteed quote the service covers the excess.' 'balances' 'Show the balances for payouts, or set some.' 'advance' 'Turn the sandbox\'s clock forward. What falls due on the way happens, webhooks too.' 'clock' 'Show the sandbox\'s clock, stop it or let it run. A stopped clock moves only when advanced.' 'trigger' 'Let an event of any type happen, with all that it needs.' 'events' 'List events, newest first, delivered or not.' 'deliveries' 'List webhook attempts, newest first. Each has its address and what came back.' 'resend' 'Deliver an event once more, now, to the endpoints that take its type.' 'endpoints' 'Look after webhook endpoints, as the dashboard does.' 'compare' 'Compare a service\'s test mode with what the sandbox assumes of it.' 'settings' 'Show the account\'s settings, or change some.' 'keys' 'Make and roll API keys, as the dashboard does.' 'requests' 'List the latest API requests, newest first. Keys and account numbers are masked.' 'lint' 'List what a stricter service or a bad day would punish. The exit code is 11 if there is any.' 'emails' 'List the e-mails that the service would have sent, newest first.' 'fault' 'Have requests and webhook deliveries go wrong on purpose.' 'reset' 'Empty the sandbox. Objects, events, settings, faults and keys of both modes go.' 'export' 'Write the whole state to a file. Objects, events, jobs, clock, settings and ids are in it.' 'import' 'Put an exported state in place of the present one. Clock and ids go on from there.'
            set options 
            set arguments 
            set shared 'global'
        case 'sandbox start'
            set commands 
            set options --port 't' 'The port on loopback; 0 lets the system choose.' --db 'f' 'The file that holds it, or :memory: for none.' --seed 't' 'Equal seeds and calls give equal ids.' --fixture 'w.fixture' 'demo fills it with one of everything.' --detach '-' 'Run it in the background.' --tls '-' 'Speak https, with a certificate made for it.' --certificate 'f' 'Speak https with a certificate of your own (PEM).' --private-key 'f' 'The private key of that certificate (PEM).' --like 't' 'Behave as its service does, as far as compare --save has seen.' --strict-https '-' 'Answer plain HTTP with 401.' --bind 't' 'Listen on this address too; 0.0.0.0 is all.' --allow-host '+t' 'Answer to this host name too, as others call it; repeatable.' --import 'f' 'Begin with the state that export wrote.' --allow-remote '-' 'Take a state that sends webhooks to other machines.' --ready-file 'f' 'Write its URL here once it answers.'
            set arguments 
            set shared 'global'
        case 'sandbox stop'
            set commands 
            set options --port 't' 'The sandbox\'s port, where several are running.' --all '-' 'Stop all sandboxes that are running.'
            set arguments 
            set shared 'global'
        case 'sandbox status'
            set commands 
            set options 
            set arguments 
            set shared 'global'
        case 'sandbox logs'
            set commands 
            set options --port 't' 'The sandbox\'s port, where several are running.' --follow '-' 'Go on with what comes, until Ctrl-C.'
            set arguments 
            set shared 'global'
        case 'sandbox env'
            set commands 
            set options --port 't' 'The sandbox\'s port, where several are running.' --shell 'w.sandbox_env_shell' 'One of sh, fish, powershell.'
            set arguments 
            set shared 'global'
        case 'sandbox pay'
            set commands 
            set options --card 'w.card' 'A test card.' --expiry 't' 'The card\'s expiry.' --cvc 't' 'The card\'s code.' --method 'w.method' 'One of the methods that the order names.' --payment-method 'i.pm_' 'A saved card, pm_...' --save-card '-' 'Save the card.' --3ds 'w.three_ds' 'What the shopper does with 3-D Secure: succeed, fail or abandon.' --iban 't' 'The account that sepa_debit takes the money from.' --outcome 'w.redirect_outcome' 'How a redirect method ends: success, failure or abandon.'
            set arguments 'i.ord_'
            set shared 'global'
        case 'sandbox checkout'
            set commands 
            set options --print '-' 'Print the address and open nothing.' --return-url 't' 'Where the shopper goes in the end.'
            set arguments 'i.ord_'
            set shared 'global'
        case 'sandbox dispute'
            set commands 
            set options --reason 'w.dispute_reason' 'One of fraudulent, product_not_received, product_unacceptable, duplicate, credit_not_processed, subscription_canceled, unrecognized, general.' --evidence-due-by 't' 'When evidence is due: 2026-11-21, 2026-11-21T09:00 or 3d (ahead).'
            set arguments 'i.pay_'
            set shared 'global'
        case 'sandbox settle'
            set commands 
            set options --sent '-' 'Only hand a payout to the local network.'
            set arguments 'i.pay_|rf_|po_'
            set shared 'global'
        case 'sandbox fail'
            set commands 
            set options --reason 't' 'Why.'
            set arguments 'i.pay_|rf_|po_'
            set shared 'global'
        case 'sandbox decide'
            set commands 
            set options 
            set arguments 'i.dp_' 'w.sandbox_decide_outcome'
            set shared 'global'
        case 'sandbox customs'
            set commands 
            set options --charged 't' 'What they charge, in minor units of the order.'
            set arguments 'i.ord_'
            set shared 'global'
        case 'sandbox balances'
            set commands 
            set options 
            set arguments '+w.balance'
            set shared 'global'
        case 'sandbox advance'
            set commands 
            set options --until 'w.until' 'next: until the next job is done; idle: until none is left.' --to 't' 'The time to turn it to: 2026-11-21, 2026-11-21T09:00, tomorrow or 3d (ahead).'
            set arguments 't'
            set shared 'global'
        case 'sandbox clock'
            set commands 
            set options --to 't' 'Turn it to this time first: 2026-11-21T09:00, tomorrow or 3d (ahead).'
            set arguments 'w.sandbox_clock_mode'
            set shared 'global'
        case 'sandbox trigger'
            set commands 
            set options --data '+t' 'A field of the order or payout that it begins with, such as shipping[country]=GB.' -d '+t' 'A field of the order or payout that it begins with, such as shipping[country]=GB.'
            set arguments 'w.event_type'
            set shared 'global'
        case 'sandbox events'
            set commands 
            set options --type 'w.event_type' 'Only these, such as order.paid.' --limit 't' 'How many objects a page has.' --starting-after 'i.evt_' 'Begin after this event, evt_...'
            set arguments 
            set shared 'global'
        case 'sandbox deliveries'
            set commands 
            set options --event 'i.evt_' 'Only of this event, evt_...' --endpoint 'i.we_' 'Only to this endpoint, we_...' --status 'w.delivery_status' 'Only those that are pending, succeeded, failed or dropped.' --limit 't' 'How many objects a page has.' --starting-after 'i.dlv_' 'Begin after this attempt, dlv_...'
            set arguments 
            set shared 'global'
        case 'sandbox resend'
            set commands 
            set options --endpoint 'i.we_' 'Only to this endpoint, we_...'
            set arguments 'i.evt_'
            set shared 'global'
        case 'sandbox endpoints'
            set commands 'list' 'List the endpoints of a mode and whether they are enabled.' 'enable' 'Enable an endpoint again. What was dropped stays dropped.' 'disable' 'Disable an endpoint. Attempts that are pending are dropped.' 'delete' 'Delete an endpoint. The API itself has no such call.' 'roll-secret' 'Replace an endpoint\'s signing secret. The new one is shown this once.'
            set options 
            set arguments 
            set shared 'global'
        case 'sandbox endpoints list'
            set commands 
            set options 
            set arguments 
            set shared 'global'
        case 'sandbox endpoints enable'
            set commands 
            set options 
            set arguments 'i.we_'
            set shared 'global'
        case 'sandbox endpoints disable'
            set commands 
            set options 
            set arguments 'i.we_'
            set shared 'global'
        case 'sandbox endpoints delete'
            set commands 
            set options 
            set arguments 'i.we_'
            set shared 'global'
        case 'sandbox endpoints roll-secret'
            set commands 
            set options --grace 't' 'How long the old one signs along, at most 1d.'
            set arguments 'i.we_'
            set shared 'global'
        case 'sandbox compare'
            set commands 
            set options --endpoint '-' 'Register a webhook endpoint too; the API cannot remove it.' --save '-' 'Keep what is found, for svc sandbox start --like PROFILE.'
            set arguments 
            set shared 'global'
        case 'sandbox settings'
            set commands 
            set options --of 't' 'For this key, with the orders it makes, or for this order alone.'
            set arguments '+w.sandbox_setting'
            set shared 'global'
        case 'sandbox keys'
            set commands 'list' 'List the keys of a mode. Secrets are masked.' 'create' 'Create a key. It is shown whole this once.' 'roll' 'Replace a key by a new one with the same permissions.'
            set options 
            set arguments 
            set shared 'global'
        case 'sandbox keys list'
            set commands 
            set options 
            set arguments 
            set shared 'global'
        case 'sandbox keys create'
            set commands 
            set options --type 'w.sandbox_keys_create_type' 'One of secret, publishable, restricted.' --permission '+w.permission' 'Repeatable: none, read or write on orders, payments, refunds, payouts, landed_cost, webhook_endpoints, events, disputes or all.'
            set arguments 
            set shared 'global'
        case 'sandbox keys roll'
            set commands 
            set options --grace 't' 'How long the old one works on, at most 7d.'
            set arguments 'i.key_'
            set shared 'global'
        case 'sandbox requests'
            set commands 
            set options --path 't' 'Only these paths, such as \'/v1/refunds*\'.' --method 't' 'Only these: GET or POST.' --status 't' 'Only those answered with this status.' --body 't' 'Only those whose body holds this text.' --since 't' 'Only from this time in the sandbox on.' --until 't' 'Only up to this time in the sandbox.' --limit 't' 'How many at most.' --verify 't' 'Count them; the exit code is 11 if there are not N.' --clear '-' 'Forget all requests so far.' --follow '-' 'Go on with what comes, until Ctrl-C.'
            set arguments 
            set shared 'global'
        case 'sandbox lint'
            set commands 
            set options 
            set arguments 
            set shared 'global'
        case 'sandbox emails'
            set commands 
            set options --limit 't' 'How many objects a page has.' --starting-after 'i.eml_' 'Begin after this e-mail, eml_...'
            set arguments 
            set shared 'global'
        case 'sandbox fault'
            set commands 'add' 'Spoil requests, or with --webhook deliveries, from now on.' 'list' 'List the rules of both kinds and how often each has fired.' 'clear' 'Remove all rules, or some. What they hold back goes on.'
            set options 
            set arguments 
            set shared 'global'
        case 'sandbox fault add'
            set commands 
            set options --skip 't' 'Let N matching ones pass first.' --times 't' 'Then break N of them.' --delay-ms 't' 'Answer or deliver so many real milliseconds later, beside any other effect.' --method 'w.http_method' 'Only this method: GET or POST.' --path 't' 'Only these paths, such as \'/v1/orders*\'.' --idempotency-key 't' 'Only with this key.' --api-key 't' 'Only by this key of the sandbox.' --order 'i.ord_' 'Only about this order, ord_...' --after '-' 'Break the answer only: the change is made and its result stored.' --status 'w.fault_status' 'Answer with 429, 500, 502, 503 or 504.' --retry-after 't' 'The header of that name, which goes with the status.' --body 't' 'A body in place of the error.' --connection 'w.sandbox_fault_add_connection' 'What becomes of the connection: one of close, reset, truncate, garbage, drip.' --webhook 'w.sandbox_fault_add_webhook' 'What becomes of a delivery: one of duplicate, reorder, drop, bad_signature, stale_timestamp, delay.' --type 'w.event_type' 'Only these event types, such as \'order.*\'.' --endpoint 'i.we_' 'Only to this endpoint, we_...' --count 't' 'How many copies are sent of a duplicate, or how many are reordered.'
            set arguments 
            set shared 'global'
        case 'sandbox fault list'
            set commands 
            set options 
            set arguments 
            set shared 'global'
        case 'sandbox fault clear'
            set commands 
            set options 
            set arguments '+i.flt_'
            set shared 'global'
        case 'sandbox reset'
            set commands 
            set options --seed 't' 'Equal seeds and calls give equal ids.' --fixture 'w.fixture' 'demo fills it with one of everything.'
            set arguments 
            set shared 'global'
        case 'sandbox export'
            set commands 
            set options --force '-' 'Replace an existing file.'
            set arguments 'f'
            set shared 'global'
        case 'sandbox import'
            set commands 
            set options --allow-remote '-' 'Take a state that sends webhooks to other machines.'
            set arguments 'f'
            set shared 'global'
        case 'quickstart'
            set commands 
            set options 
            set arguments 
            set shared 'global'
        case 'mcp'
            set commands 
            set options --allow '+t' 'What an agent may do beside reading: refunds.create, repeatable.'
            set arguments 
            set shared 'global'
        case 'commands'
            set commands 
            set options 
            set arguments 
            set shared 'global'
        case 'completion'
            set commands 
            set options --install '-' 'Put it where the shell finds it, and say where.' --uninstall '-' 'Take away what --install has put there.' --force '-' 'With --install: replace a file that svc did not write.'
            set arguments 'w.completion_shell'
            set shared 'global'
        case 'help'
            set commands 
            set options 
            set arguments '+w.help'
            set shared 'global'
    end
    switch $shared
        case 'global'
            set shared --profile 'p' 'The profile: whose address and key are used.' --live '-' 'The mode.' --test '-' 'The mode.' --base-url 't' 'The address of the API, without /v1.' --api-version 'w.version' 'The version of the API, sent as Svc-Version.' --output 'w.output' 'How results are printed: human, json, ndjson, csv, id.' -o 'w.output' 'How results are printed: human, json, ndjson, csv, id.' --query 't' 'Select parts of the whole result, in JMESPath.' --raw '-' 'Print texts that --query finds without quotes.' --fields 't' 'The columns of human lists and of csv.' --max-time 't' 'The longest that the command may take.' --proxy 't' 'A proxy, for https addresses.' --ca-bundle 'f' 'Further certificate authorities to trust (PEM).' --yes '-' 'Answer every question with yes.' -y '-' 'Answer every question with yes.' --no-input '-' 'Ask nothing; what needs an answer is refused.' --quiet '-' 'Print results and errors, no notes.' -q '-' 'Print results and errors, no notes.' --verbose '-' 'Print a line for each HTTP attempt, on stderr.' -v '-' 'Print a line for each HTTP attempt, on stderr.' --color 'w.color' 'When to use colours: auto, always, never.' --utc '-' 'Show and read times in UTC, not in local time.' --help '-' 'Show this message and exit.' -h '-' 'Show this message and exit.'
        case 'request preview global'
            set shared --data '+t' 'Any field: PATH=TEXT, PATH:=JSON, PATH=@FILE.' -d '+t' 'Any field: PATH=TEXT, PATH:=JSON, PATH=@FILE.' --body 'f' 'A JSON object; options and -d win over it.' --idempotency-key 't' 'A key of your own, in place of a new one.' --new-request '-' 'Send it, although the same request is unresolved.' --form '-' 'Send the body form-encoded.' --json-body '-' 'Send the body as JSON.' --dry-run '-' 'Print the request as JSON and send nothing.' --curl '-' 'Print the same call for curl and send nothing.' --profile 'p' 'The profile: whose address and key are used.' --live '-' 'The mode.' --test '-' 'The mode.' --base-url 't' 'The address of the API, without /v1.' --api-version 'w.version' 'The version of the API, sent as Svc-Version.' --output 'w.output' 'How results are printed: human, json, ndjson, csv, id.' -o 'w.output' 'How results are printed: human, json, ndjson, csv, id.' --query 't' 'Select parts of the whole result, in JMESPath.' --raw '-' 'Print texts that --query finds without quotes.' --fields 't' 'The columns of human lists and of csv.' --max-time 't' 'The longest that the command may take.' --proxy 't' 'A proxy, for https addresses.' --ca-bundle 'f' 'Further certificate authorities to trust (PEM).' --yes '-' 'Answer every question with yes.' -y '-' 'Answer every question with yes.' --no-input '-' 'Ask nothing; what needs an answer is refused.' --quiet '-' 'Print results and errors, no notes.' -q '-' 'Print results and errors, no notes.' --verbose '-' 'Print a line for each HTTP attempt, on stderr.' -v '-' 'Print a line for each HTTP attempt, on stderr.' --color 'w.color' 'When to use colours: auto, always, never.' --utc '-' 'Show and read times in UTC, not in local time.' --help '-' 'Show this message and exit.' -h '-' 'Show this message and exit.'
        case 'preview global'
            set shared --dry-run '-' 'Print the request as JSON and send nothing.' --curl '-' 'Print the same call for curl and send nothing.' --profile 'p' 'The profile: whose address and key are used.' --live '-' 'The mode.' --test '-' 'The mode.' --base-url 't' 'The address of the API, without /v1.' --api-version 'w.version' 'The version of the API, sent as Svc-Version.' --output 'w.output' 'How results are printed: human, json, ndjson, csv, id.' -o 'w.output' 'How results are printed: human, json, ndjson, csv, id.' --query 't' 'Select parts of the whole result, in JMESPath.' --raw '-' 'Print texts that --query finds without quotes.' --fields 't' 'The columns of human lists and of csv.' --max-time 't' 'The longest that the command may take.' --proxy 't' 'A proxy, for https addresses.' --ca-bundle 'f' 'Further certificate authorities to trust (PEM).' --yes '-' 'Answer every question with yes.' -y '-' 'Answer every question with yes.' --no-input '-' 'Ask nothing; what needs an answer is refused.' --quiet '-' 'Print results and errors, no notes.' -q '-' 'Print results and errors, no notes.' --verbose '-' 'Print a line for each HTTP attempt, on stderr.' -v '-' 'Print a line for each HTTP attempt, on stderr.' --color 'w.color' 'When to use colours: auto, always, never.' --utc '-' 'Show and read times in UTC, not in local time.' --help '-' 'Show this message and exit.' -h '-' 'Show this message and exit.'
        case 'list preview global'
            set shared --limit 't' 'How many objects a page has.' --starting-after 't' 'Begin with what follows this object.' --all '-' 'List every object, page after page.' --max 't' 'List N objects, over several pages if needed.' --created-gte 't' 'Created at or after this: 2026-11-21, 2026-11-21T09:00, 7d (ago) or yesterday.' --created-gt 't' 'Created after this; of a day, after it is over.' --created-lte 't' 'Created at or before this; of a day, until its end.' --created-lt 't' 'Created before this.' --param '+t' 'Any other query parameter.' --raw-csv '-' 'Leave cells as they are, also those that a spreadsheet would run.' --decimals '-' 'Write amounts of csv with their currency\'s decimals: 129.00; batch --decimals reads them.' --dry-run '-' 'Print the request as JSON and send nothing.' --curl '-' 'Print the same call for curl and send nothing.' --profile 'p' 'The profile: whose address and key are used.' --live '-' 'The mode.' --test '-' 'The mode.' --base-url 't' 'The address of the API, without /v1.' --api-version 'w.version' 'The version of the API, sent as Svc-Version.' --output 'w.output' 'How results are printed: human, json, ndjson, csv, id.' -o 'w.output' 'How results are printed: human, json, ndjson, csv, id.' --query 't' 'Select parts of the whole result, in JMESPath.' --raw '-' 'Print texts that --query finds without quotes.' --fields 't' 'The columns of human lists and of csv.' --max-time 't' 'The longest that the command may take.' --proxy 't' 'A proxy, for https addresses.' --ca-bundle 'f' 'Further certificate authorities to trust (PEM).' --yes '-' 'Answer every question with yes.' -y '-' 'Answer every question with yes.' --no-input '-' 'Ask nothing; what needs an answer is refused.' --quiet '-' 'Print results and errors, no notes.' -q '-' 'Print results and errors, no notes.' --verbose '-' 'Print a line for each HTTP attempt, on stderr.' -v '-' 'Print a line for each HTTP attempt, on stderr.' --color 'w.color' 'When to use colours: auto, always, never.' --utc '-' 'Show and read times in UTC, not in local time.' --help '-' 'Show this message and exit.' -h '-' 'Show this message and exit.'
    end
end

complete -c svc -e
complete -c svc -f -k -a '(__svc_complete)'
complete -c svc -n __svc_wants_files -F
