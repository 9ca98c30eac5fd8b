# svc completion for bash: no process is started by a Tab. Made by: svc completion bash
# Written for bash 3.2 and newer, with and without the package bash-completion.

# The name of the file that the program keeps what it has shown lately in (profile, mode, address).
_svc_recent_file() {
  local folder profile=$1 mode=$2 base=$3 line
  if [[ -n ${SVC_CACHE_DIR-} ]]; then folder=$SVC_CACHE_DIR
  elif [[ ${XDG_CACHE_HOME-} == /* ]]; then folder=$XDG_CACHE_HOME/svc
  elif [[ $OSTYPE == darwin* ]]; then folder=$HOME/Library/Caches/svc
  else folder=$HOME/.cache/svc; fi
  [[ -n $profile ]] || profile=${SVC_PROFILE-}
  if [[ -z $profile ]]; then
    profile=default
    _svc_config_file
    if [[ -r $file ]]; then
      while IFS= read -r line; do
        case $line in
          \[*) break ;;
          active_profile*=*[\"\']*) line=${line#*=*[\"\']}; profile=${line%%[\"\']*}; break ;;
        esac
      done <"$file"
    fi
  fi
  [[ -n $mode ]] || mode=${SVC_MODE:-test}
  [[ -n $base ]] || base=${SVC_BASE_URL-}
  file=$folder/recent/$profile.$mode${base:+@${base//[!A-Za-z0-9.-]/_}}.tsv
}

_svc_config_file() {
  if [[ -n ${SVC_CONFIG_DIR-} ]]; then file=$SVC_CONFIG_DIR
  elif [[ ${XDG_CONFIG_HOME-} == /* ]]; then file=$XDG_CONFIG_HOME/svc
  elif [[ $OSTYPE == darwin* ]]; then file="$HOME/Library/Application Support/svc"
  else file=$HOME/.config/svc; fi
  file=$file/config.toml
}

# Ids of some kinds, the latest first; `chosen_profile` and so on are those of the command line.
_svc_ids() {
  local file all id rest IFS=$'\n'
  _svc_recent_file "$chosen_profile" "$chosen_mode" "$chosen_base"
  [[ -r $file ]] || return 0
  read -r -d '' all <"$file" || :
  for id in $all; do
    id=${id%%$'\t'*}
    [[ "|$1|" == *"|${id%%_*}_|"* && $id == "$cur"* && $id != *[!A-Za-z0-9_]* ]] &&
      COMPREPLY+=("$before$id")
  done
}

_svc_profiles() {
  local file line
  _svc_config_file
  [[ -r $file ]] || return 0
  while IFS= read -r line; do
    [[ $line == '[profiles.'*']'* ]] || continue
    line=${line#'[profiles.'}; line=${line%%]*}
    [[ $line == "$cur"* && $line != *[!A-Za-z0-9_-]* ]] && COMPREPLY+=("$before$line")
  done <"$file"
}

# Adds what fits a kind: w.NAME words, i.ord_|pay_ ids, f a path, p a profile.
_svc_values() {
  local kind=${1#[+%]},
  while [[ -n $kind ]]; do
    case $kind in
      w.*) kind_words=${kind#w.}; _svc_words "${kind_words%%,*}"; _svc_add $words ;;
      i.*) kind_words=${kind#i.}; _svc_ids "${kind_words%%,*}" ;;
      p,*) _svc_profiles ;;
      f,*) compopt -o default 2>/dev/null || _svc_files ;;
    esac
    kind=${kind#*,}
  done
  case ${COMPREPLY-} in *[=:]) compopt -o nospace 2>/dev/null ;; esac
  return 0
}

# Only where there is no compopt: bash 3.2 as macOS has it.
_svc_files() {
  local IFS=$'\n'
  COMPREPLY=($(compgen -f -- "$cur"))
}

_svc_add() {
  local each
  for each; do [[ $each == "$cur"* ]] && COMPREPLY+=("$before$each"); done
  return 0
}

# Offers the options of a list `--name:kind`, without those that were given and short names.
_svc_options() {
  local each
  for each; do
    case $each in -[!-]*) continue ;; *:+*) ;; *) [[ $given == *" ${each%%:*} "* ]] && continue ;; esac
    each=${each%%:*}
    [[ $each == "$cur"* ]] && COMPREPLY+=("$each")
  done
  return 0
}

# Sets `kind` of an option; empty where the command does not take it.
_svc_kind() {
  kind=" $options $shared"
  case $kind in *" $1:"*) kind=${kind#*" $1:"}; kind=${kind%% *} ;; *) kind='' ;; esac
}

_svc_note() {
  case $1 in
    --profile) chosen_profile=$2 ;;
    --base-url) chosen_base=$2 ;;
    --live) chosen_mode=live ;;
    --test) chosen_mode=test ;;
  esac
}

# Joins again what readline has parted at = and :, into `line`; the last word ends at the cursor.
_svc_line() {
  local rest=${COMP_LINE:0:COMP_POINT} word i trimmed
  line=()
  for ((i = 0; i <= COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    trimmed=${rest#"${rest%%[![:space:]]*}"}
    [[ -n ${rest//[[:space:]]/} ]] || trimmed=''
    ((i == COMP_CWORD)) && word=$trimmed
    if ((i > 1)) && [[ $trimmed == "$rest" && -n $rest ]]; then
      line[${#line[@]} - 1]+=$word
    else
      line+=("$word")
    fi
    rest=${trimmed#"$word"}
  done
}

_svc() {
  local IFS=$' \t\n' line word path='' commands options arguments shared words kind_words kind
  local chosen_profile='' chosen_mode='' chosen_base='' given=' ' expected='' option='' literal=''
  local cur before='' at=0 full
  COMPREPLY=()
  _svc_line
  full=${line[${#line[@]} - 1]}
  cur=$full
  unset "line[${#line[@]} - 1]"
  _svc_command ''
  for word in "${line[@]:1}"; do
    [[ $expected == %* && $word == -* ]] && expected=''
    if [[ -n $expected ]]; then
      _svc_note "$option" "$word"
      expected=''
      continue
    fi
    case $literal$word in
      --) literal=. ;;
      --*=*) given+="${word%%=*} "; _svc_note "${word%%=*}" "${word#*=}" ;;
      -?*)
        given+="$word "
        option=$word
        _svc_kind "$word"
        case $kind in '' | -) _svc_note "$word" ;; *) expected=$kind ;; esac
        ;;
      *)
        if [[ -z $literal && $at == 0 && " $commands " == *" $word "* ]]; then
          path=${path:+$path }$word
          _svc_long_name
          _svc_command "$path"
        else
          at=$((at + 1))
        fi
        ;;
    esac
  done
  [[ $expected == %* ]] && expected=''
  if [[ -n $expected ]]; then
    _svc_values "$expected"
  elif [[ -z $literal && $full == --*=* ]]; then
    before=${full%%=*}=
    cur=${full#*=}
    _svc_kind "${full%%=*}"
    _svc_values "$kind"
  elif [[ -z $literal && $full == -* ]]; then
    _svc_options $options $shared
  else
    ((at == 0)) && [[ -z $literal ]] && _svc_add $commands
    kind=${arguments##* }
    [[ $kind == +* ]] || kind=''
    set -- $arguments
    ((at < $#)) && shift $at && kind=$1
    [[ -n $kind ]] && _svc_values "$kind"
    [[ -z $kind$commands$literal$cur ]] && _svc_options $options
  fi
  _svc_unjoin
}

# Takes away again what stands before the last = or :, where readline replaces only what follows.
_svc_unjoin() {
  local mark stays='' i
  for mark in = :; do
    [[ $full == *"$mark"* && $COMP_WORDBREAKS == *"$mark"* ]] || continue
    word=${full%"${full##*"$mark"}"}
    ((${#word} > ${#stays})) && stays=$word
  done
  [[ -n $stays ]] || return 0
  for ((i = 0; i < ${#COMPREPLY[@]}; i++)); do COMPREPLY[i]=${COMPREPLY[i]#"$stays"}; done
}

_svc_long_name() {
  case $path in
    quotes) path=landed-cost-quotes ;;
  esac
}

_svc_words() {
  case $1 in
    version) words='2026-03-01 2026-09-01' ;;
    output) words='human json ndjson csv id' ;;
    color) words='auto always never' ;;
    currency) words='AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW CLF CLP CNY COP COU CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD USN UYI UYU UYW UZS VED VES VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW ZWG' ;;
    country) words='AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW' ;;
    order_capture_method) words='automatic manual' ;;
    order_cancellation_reason) words='duplicate fraudulent requested_by_customer abandoned' ;;
    order_status) words='requires_payment processing authorized paid cancelled' ;;
    payment_status) words='processing authorized captured failed cancelled' ;;
    refund_reason) words='duplicate fraudulent requested_by_customer' ;;
    refund_status) words='pending succeeded failed' ;;
    payout_status) words='created sent paid failed' ;;
    dispute_evidence) words='tracking_number= shipping_carrier= shipping_date= shipping_address= shipping_documentation= customer_name= customer_email= customer_purchase_ip= customer_communication= billing_address= product_description= receipt= refund_policy= refund_refusal_explanation= cancellation_policy= cancellation_rebuttal= service_date= access_activity_log= duplicate_payment_id= duplicate_explanation= uncategorized_text=' ;;
    dispute_status) words='needs_response under_review won lost' ;;
    event_type) words='order.paid order.cancelled payment.authorized payment.captured payment.failed payment.processing payment.cancelled refund.created refund.succeeded refund.failed dispute.opened dispute.evidence_submitted dispute.won dispute.lost payout.created payout.sent payout.paid payout.failed' ;;
    tunnel) words='auto none cloudflared ngrok ssh:' ;;
    events_listen_ack) words='received forwarded' ;;
    events_listen_retry) words='fast real off' ;;
    events_listen_print) words='summary payload none' ;;
    from_start) words='now all' ;;
    events_listen_signature) words='own original' ;;
    events_receive_print) words='summary payload none' ;;
    events_log_user_add_role) words='admin receiver laptop job' ;;
    events_tail_print) words='summary payload none' ;;
    posted) words='orders.create orders.update orders.cancel orders.capture refunds.create payouts.create landed-cost-quotes.create webhook-endpoints.create disputes.update disputes.accept' ;;
    keys_remind_format) words='text json github ics' ;;
    auth) words='bearer basic' ;;
    fixture) words='demo' ;;
    sandbox_env_shell) words='sh fish powershell' ;;
    card) words='4242424242424242 4000000000008013 4000000000009995 4000000000000002 4000000000000119 4000000000009979 4000000000009987 4000000000008021 4000000000000069 4000000000000127 4100000000000019 4000000000003220 4000008400001629 4000000000000259 4000000000002685 4000000000007726 4000000000005126 4000000000008039' ;;
    method) words='card sepa_debit bacs_debit us_bank_account becs_debit ideal bancontact eps multibanco mb_way bizum p24 blik twint swish vipps mobilepay payto interac konbini paypay alipay wechat_pay kakao_pay paynow promptpay fpx upi pix oxxo knet benefit klarna paypal' ;;
    three_ds) words='succeed fail abandon' ;;
    redirect_outcome) words='success failure abandon' ;;
    dispute_reason) words='fraudulent product_not_received product_unacceptable duplicate credit_not_processed subscription_canceled unrecognized general' ;;
    until) words='next idle' ;;
    delivery_status) words='pending succeeded failed dropped' ;;
    sandbox_keys_create_type) words='secret publishable restricted' ;;
    permission) words='orders=none orders=read orders=write payments=none payments=read payments=write refunds=none refunds=read refunds=write payouts=none payouts=read payouts=write landed_cost=none landed_cost=read landed_cost=write webhook_endpoints=none webhook_endpoints=read webhook_endpoints=write events=none events=read events=write disputes=none disputes=read disputes=write all=none all=read all=write' ;;
    http_method) words='GET POST' ;;
    fault_status) words='429 500 502 503 504' ;;
    sandbox_fault_add_connection) words='close reset truncate garbage drip' ;;
    sandbox_fault_add_webhook) words='duplicate reorder drop bad_signature stale_timestamp delay' ;;
    get_path) words='/v1/orders /v1/payments /v1/refunds /v1/payouts /v1/disputes' ;;
    post_path) words='/v1/orders /v1/refunds /v1/payouts /v1/landed-cost/quotes /v1/webhook_endpoints' ;;
    operation) words='orders.create orders.update orders.cancel orders.capture refunds.create payouts.create landed-cost-quotes.create disputes.update' ;;
    setting) words='active_profile output color max_time cache keyring_backends' ;;
    sandbox_decide_outcome) words='won lost' ;;
    balance) words='AED= AFN= ALL= AMD= AOA= ARS= AUD= AWG= AZN= BAM= BBD= BDT= BGN= BHD= BIF= BMD= BND= BOB= BOV= BRL= BSD= BTN= BWP= BYN= BZD= CAD= CDF= CHE= CHF= CHW= CLF= CLP= CNY= COP= COU= CRC= CUP= CVE= CZK= DJF= DKK= DOP= DZD= EGP= ERN= ETB= EUR= FJD= FKP= GBP= GEL= GHS= GIP= GMD= GNF= GTQ= GYD= HKD= HNL= HTG= HUF= IDR= ILS= INR= IQD= IRR= ISK= JMD= JOD= JPY= KES= KGS= KHR= KMF= KPW= KRW= KWD= KYD= KZT= LAK= LBP= LKR= LRD= LSL= LYD= MAD= MDL= MGA= MKD= MMK= MNT= MOP= MRU= MUR= MVR= MWK= MXN= MXV= MYR= MZN= NAD= NGN= NIO= NOK= NPR= NZD= OMR= PAB= PEN= PGK= PHP= PKR= PLN= PYG= QAR= RON= RSD= RUB= RWF= SAR= SBD= SCR= SDG= SEK= SGD= SHP= SLE= SOS= SRD= SSP= STN= SVC= SYP= SZL= THB= TJS= TMT= TND= TOP= TRY= TTD= TWD= TZS= UAH= UGX= USD= USN= UYI= UYU= UYW= UZS= VED= VES= VND= VUV= WST= XAF= XCD= XCG= XOF= XPF= YER= ZAR= ZMW= ZWG=' ;;
    sandbox_clock_mode) words='realtime frozen' ;;
    sandbox_setting) words='smart_retries= settlement_currency= country= collect_landed_cost= pinned_version= unknown_parameters= error_envelope= insecure_http= allow_http_webhooks= allow_remote_webhooks= allow_self_signed_webhooks= rate_limit= signature_time= webhook_delivery= encodings= require_idempotency_key= chaos= voucher_days= payment_fee_bps= negative_balance=' ;;
    completion_shell) words='bash zsh fish powershell' ;;
    help) words='exit-codes environment output webhooks team team-operations money sandbox compare faults ci agents timeline limits audit examine reminders moving comparison changes assumptions orders payments refunds payouts landed-cost-quotes disputes get post batch events webhook-endpoints requests state keys profiles config whoami doctor quickstart mcp commands completion help' ;;
    *) words='' ;;
  esac
}

_svc_own() {
  case $1 in
    '')
      commands='orders payments refunds payouts landed-cost-quotes disputes get post batch events webhook-endpoints timeline requests state keys profiles config whoami doctor sandbox quickstart mcp commands completion help quotes'
      options='--version:- -V:- '
      arguments=''
      shared='global'
      ;;
    'orders')
      commands='create retrieve update cancel capture list'
      options=''
      arguments=''
      shared='global'
      ;;
    'orders create')
      commands=''
      options='--amount:t --currency:w.currency --settlement-currency:w.currency --country:w.country --postal-code:t --item:+t --capture-method:w.order_capture_method --metadata:+t '
      arguments=''
      shared='request preview global'
      ;;
    'orders retrieve')
      commands=''
      options='--wait:- --until:t '
      arguments='i.ord_'
      shared='preview global'
      ;;
    'orders update')
      commands=''
      options='--amount:t --currency:w.currency --settlement-currency:w.currency --country:w.country --postal-code:t --item:+t --capture-method:w.order_capture_method --metadata:+t '
      arguments='i.ord_'
      shared='request preview global'
      ;;
    'orders cancel')
      commands=''
      options='--reason:w.order_cancellation_reason '
      arguments='i.ord_'
      shared='request preview global'
      ;;
    'orders capture')
      commands=''
      options='--amount:t --over-limit:- '
      arguments='i.ord_'
      shared='request preview global'
      ;;
    'orders list')
      commands=''
      options='--status:w.order_status --starting-after:i.ord_ '
      arguments=''
      shared='list preview global'
      ;;
    'payments')
      commands='retrieve list'
      options=''
      arguments=''
      shared='global'
      ;;
    'payments retrieve')
      commands=''
      options='--wait:- --until:t '
      arguments='i.pay_'
      shared='preview global'
      ;;
    'payments list')
      commands=''
      options='--order:i.ord_ --status:w.payment_status --starting-after:i.pay_ '
      arguments=''
      shared='list preview global'
      ;;
    'refunds')
      commands='create retrieve list'
      options=''
      arguments=''
      shared='global'
      ;;
    'refunds create')
      commands=''
      options='--payment:i.pay_ --amount:t --reason:w.refund_reason --metadata:+t --wait:- --over-limit:- '
      arguments=''
      shared='request preview global'
      ;;
    'refunds retrieve')
      commands=''
      options='--wait:- --until:t '
      arguments='i.rf_'
      shared='preview global'
      ;;
    'refunds list')
      commands=''
      options='--payment:i.pay_ --status:w.refund_status --starting-after:i.rf_ '
      arguments=''
      shared='list preview global'
      ;;
    'payouts')
      commands='create retrieve list'
      options=''
      arguments=''
      shared='global'
      ;;
    'payouts create')
      commands=''
      options='--amount:t --currency:w.currency --source-currency:w.currency --country:w.country --account-holder-name:t --iban:t --account-number:t --bank-code:t --bic:t --bank-name:t --reference:t --metadata:+t --wait:- --over-limit:- '
      arguments=''
      shared='request preview global'
      ;;
    'payouts retrieve')
      commands=''
      options='--wait:- --until:t '
      arguments='i.po_'
      shared='preview global'
      ;;
    'payouts list')
      commands=''
      options='--status:w.payout_status --starting-after:i.po_ '
      arguments=''
      shared='list preview global'
      ;;
    'landed-cost-quotes')
      commands='create retrieve'
      options=''
      arguments=''
      shared='global'
      ;;
    'landed-cost-quotes create')
      commands=''
      options='--currency:w.currency --country:w.country --postal-code:t --item:+t --ship-from-country:w.country --shipping-amount:t '
      arguments=''
      shared='request preview global'
      ;;
    'landed-cost-quotes retrieve')
      commands=''
      options=''
      arguments='i.lcq_'
      shared='preview global'
      ;;
    'disputes')
      commands='update retrieve list accept'
      options=''
      arguments=''
      shared='global'
      ;;
    'disputes update')
      commands=''
      options='--tracking-number:t --shipping-carrier:t --evidence:+w.dispute_evidence --submit:- '
      arguments='i.dp_'
      shared='request preview global'
      ;;
    'disputes retrieve')
      commands=''
      options='--wait:- --until:t '
      arguments='i.dp_'
      shared='preview global'
      ;;
    'disputes list')
      commands=''
      options='--payment:i.pay_ --status:w.dispute_status --due:t --starting-after:i.dp_ '
      arguments=''
      shared='list preview global'
      ;;
    'disputes accept')
      commands=''
      options='--over-limit:- '
      arguments='i.dp_'
      shared='request preview global'
      ;;
    'get')
      commands=''
      options='--param:+t '
      arguments='w.get_path,i.ord_|pay_|rf_|po_|lcq_|evt_|dp_'
      shared='preview global'
      ;;
    'post')
      commands=''
      options='--over-limit:- '
      arguments='w.post_path'
      shared='request preview global'
      ;;
    'batch')
      commands=''
      options='--concurrency:t --rate:t --strict-order:- --results:f --force:- --import:t --run:t --row-id:t --again:- --continue:- --edited:- --skip-done:- --retry-failed:- --decimals:- --raw-csv:- --blank-means-all:- --ignore-column:+t --over-limit:- --dry-run:- '
      arguments='w.operation f'
      shared='global'
      ;;
    'events')
      commands='retrieve listen receive log inbox audit replay sign tail prune verify examine'
      options=''
      arguments=''
      shared='global'
      ;;
    'events retrieve')
      commands=''
      options=''
      arguments='i.evt_'
      shared='preview global'
      ;;
    'events listen')
      commands=''
      options='--forward-to:+t --run:+t --run-timeout:t --events:+w.event_type --where:t --tunnel:w.tunnel --public-url:t --port:t --endpoint-secret-stdin:- --ack:w.events_listen_ack --concurrency:t --ordered:- --forward-timeout:t --retry:w.events_listen_retry --header:+t --allow-remote-forward:- --insecure-target:- --original-signature:- --max-body:t --print:w.events_listen_print --inspect:%t --until:w.event_type --timeout:t --ready-file:f --exec:t --strict:- --no-resume:- --adopt:- --from:t --group:t --from-start:w.from_start --name:t --signature:w.events_listen_signature --print-secret:- '
      arguments=''
      shared='global'
      ;;
    'events receive')
      commands=''
      options='--to:t --public-url:t --tunnel:w.tunnel --port:t --events:+w.event_type --endpoint-secret-stdin:- --max-body:t --log-monitor:+t --no-copy:- --print:w.events_receive_print --ready-file:f '
      arguments=''
      shared='global'
      ;;
    'events log')
      commands='login status refill forget template create user failed'
      options=''
      arguments=''
      shared='global'
      ;;
    'events log login')
      commands=''
      options=''
      arguments='t'
      shared='global'
      ;;
    'events log status')
      commands=''
      options='--from:t '
      arguments=''
      shared='global'
      ;;
    'events log refill')
      commands=''
      options='--to:t --since:t '
      arguments=''
      shared='global'
      ;;
    'events log forget')
      commands=''
      options='--from:t '
      arguments=''
      shared='global'
      ;;
    'events log template')
      commands=''
      options='--name:t --node:t --host:+t --events-per-minute:t --max-file-store:t --environment:- --systemd:- --trial:- --single:- '
      arguments=''
      shared='global'
      ;;
    'events log create')
      commands=''
      options='--to:t --group:+t --from:w.from_start --replicas:t --max-bytes:t --events-per-minute:t --print-key:- --new-key:- '
      arguments=''
      shared='global'
      ;;
    'events log user')
      commands='add rotate remove'
      options=''
      arguments=''
      shared='global'
      ;;
    'events log user add')
      commands=''
      options='--role:w.events_log_user_add_role --group:t --log:t --users:f '
      arguments='t'
      shared='global'
      ;;
    'events log user rotate')
      commands=''
      options='--users:f '
      arguments='t'
      shared='global'
      ;;
    'events log user remove')
      commands=''
      options='--users:f '
      arguments='t'
      shared='global'
      ;;
    'events log failed')
      commands='list show retry drop'
      options=''
      arguments=''
      shared='global'
      ;;
    'events log failed list')
      commands=''
      options='--from:t --group:t '
      arguments=''
      shared='global'
      ;;
    'events log failed show')
      commands=''
      options='--from:t '
      arguments='t'
      shared='global'
      ;;
    'events log failed retry')
      commands=''
      options='--from:t '
      arguments='t'
      shared='global'
      ;;
    'events log failed drop')
      commands=''
      options='--from:t '
      arguments='t'
      shared='global'
      ;;
    'events inbox')
      commands='show'
      options='--type:w.event_type --failed:- --pending:- --since:t --object:i.ord_|pay_|rf_|po_|lcq_|evt_|dp_ --text:t --where:t --max:t --limit:t '
      arguments=''
      shared='global'
      ;;
    'events inbox show')
      commands=''
      options=''
      arguments='i.evt_'
      shared='global'
      ;;
    'events audit')
      commands=''
      options='--since:t --from:t --created-since:t '
      arguments=''
      shared='global'
      ;;
    'events replay')
      commands=''
      options='--failed:- --pending:- --forward-to:t --times:t --original-signature:- --where:t --set:+t --forward-timeout:t --allow-remote-forward:- '
      arguments='+i.evt_'
      shared='global'
      ;;
    'events sign')
      commands=''
      options='--payload:f --secret-stdin:- --endpoint:i.we_ --now:t '
      arguments=''
      shared='global'
      ;;
    'events tail')
      commands=''
      options='--events:+w.event_type --where:t --print:w.events_tail_print --until:w.event_type --timeout:t --tunnel:w.tunnel --public-url:t --port:t '
      arguments=''
      shared='global'
      ;;
    'events prune')
      commands=''
      options='--failed:- --before:t '
      arguments=''
      shared='global'
      ;;
    'events verify')
      commands=''
      options='--header:+t --payload:f --secret-stdin:- --now:t '
      arguments=''
      shared='global'
      ;;
    'events examine')
      commands=''
      options='--forward-to:t --check:t --type:w.event_type --settle:t --forward-timeout:t --report:f --endpoint:i.we_ --secret-stdin:- --allow-remote-forward:- '
      arguments=''
      shared='global'
      ;;
    'webhook-endpoints')
      commands='create'
      options=''
      arguments=''
      shared='global'
      ;;
    'webhook-endpoints create')
      commands=''
      options='--url:t --events:+w.event_type --description:t '
      arguments=''
      shared='request preview global'
      ;;
    'timeline')
      commands=''
      options=''
      arguments='i.rq_'
      shared='global'
      ;;
    'requests')
      commands='list show resume adopt start-empty forget'
      options=''
      arguments=''
      shared='global'
      ;;
    'requests list')
      commands=''
      options='--unresolved:- --object:i.ord_|pay_|rf_|po_|lcq_|evt_|dp_ --since:t --operation:w.posted --max:t --limit:t '
      arguments=''
      shared='global'
      ;;
    'requests show')
      commands=''
      options=''
      arguments='i.rq_'
      shared='global'
      ;;
    'requests resume')
      commands=''
      options=''
      arguments='i.rq_'
      shared='global'
      ;;
    'requests adopt')
      commands=''
      options=''
      arguments='f'
      shared='global'
      ;;
    'requests start-empty')
      commands=''
      options=''
      arguments=''
      shared='global'
      ;;
    'requests forget')
      commands=''
      options=''
      arguments='i.rq_'
      shared='global'
      ;;
    'state')
      commands='compact'
      options=''
      arguments=''
      shared='global'
      ;;
    'state compact')
      commands=''
      options=''
      arguments=''
      shared='global'
      ;;
    'keys')
      commands='add list remove roll remind'
      options=''
      arguments=''
      shared='global'
      ;;
    'keys add')
      commands=''
      options='--stdin:- --publishable:- --no-check:- '
      arguments=''
      shared='global'
      ;;
    'keys list')
      commands=''
      options=''
      arguments=''
      shared='global'
      ;;
    'keys remove')
      commands=''
      options='--publishable:- '
      arguments=''
      shared='global'
      ;;
    'keys roll')
      commands=''
      options='--grace:t --stdin:- --dashboard:t --no-check:- '
      arguments=''
      shared='global'
      ;;
    'keys remind')
      commands=''
      options='--max-age:t --warn:t --format:w.keys_remind_format --created:t '
      arguments=''
      shared='global'
      ;;
    'profiles')
      commands='list use create remove'
      options=''
      arguments=''
      shared='global'
      ;;
    'profiles list')
      commands=''
      options=''
      arguments=''
      shared='global'
      ;;
    'profiles use')
      commands=''
      options=''
      arguments='p'
      shared='global'
      ;;
    'profiles create')
      commands=''
      options='--auth:w.auth --key-command:t '
      arguments='t'
      shared='global'
      ;;
    'profiles remove')
      commands=''
      options=''
      arguments='p'
      shared='global'
      ;;
    'config')
      commands='get set unset path'
      options=''
      arguments=''
      shared='global'
      ;;
    'config get')
      commands=''
      options=''
      arguments='w.setting'
      shared='global'
      ;;
    'config set')
      commands=''
      options=''
      arguments='w.setting t'
      shared='global'
      ;;
    'config unset')
      commands=''
      options=''
      arguments='w.setting'
      shared='global'
      ;;
    'config path')
      commands=''
      options=''
      arguments=''
      shared='global'
      ;;
    'whoami')
      commands=''
      options=''
      arguments=''
      shared='global'
      ;;
    'doctor')
      commands=''
      options='--log-monitor:+t --report:- '
      arguments=''
      shared='global'
      ;;
    'sandbox')
      commands='start stop status logs env pay checkout dispute settle fail decide customs balances advance clock trigger events deliveries resend endpoints compare settings keys requests lint emails fault reset export import'
      options=''
      arguments=''
      shared='global'
      ;;
    'sandbox start')
      commands=''
      options='--port:t --db:f --seed:t --fixture:w.fixture --detach:- --tls:- --certificate:f --private-key:f --like:t --strict-https:- --bind:t --allow-host:+t --import:f --allow-remote:- --ready-file:f '
      arguments=''
      shared='global'
      ;;
    'sandbox stop')
      commands=''
      options='--port:t --all:- '
      arguments=''
      shared='global'
      ;;
    'sandbox status')
      commands=''
      options=''
      arguments=''
      shared='global'
      ;;
    'sandbox logs')
      commands=''
      options='--port:t --follow:- '
      arguments=''
      shared='global'
      ;;
    'sandbox env')
      commands=''
      options='--port:t --shell:w.sandbox_env_shell '
      arguments=''
      shared='global'
      ;;
    'sandbox pay')
      commands=''
      options='--card:w.card --expiry:t --cvc:t --method:w.method --payment-method:i.pm_ --save-card:- --3ds:w.three_ds --iban:t --outcome:w.redirect_outcome '
      arguments='i.ord_'
      shared='global'
      ;;
    'sandbox checkout')
      commands=''
      options='--print:- --return-url:t '
      arguments='i.ord_'
      shared='global'
      ;;
    'sandbox dispute')
      commands=''
      options='--reason:w.dispute_reason --evidence-due-by:t '
      arguments='i.pay_'
      shared='global'
      ;;
    'sandbox settle')
      commands=''
      options='--sent:- '
      arguments='i.pay_|rf_|po_'
      shared='global'
      ;;
    'sandbox fail')
      commands=''
      options='--reason:t '
      arguments='i.pay_|rf_|po_'
      shared='global'
      ;;
    'sandbox decide')
      commands=''
      options=''
      arguments='i.dp_ w.sandbox_decide_outcome'
      shared='global'
      ;;
    'sandbox customs')
      commands=''
      options='--charged:t '
      arguments='i.ord_'
      shared='global'
      ;;
    'sandbox balances')
      commands=''
      options=''
      arguments='+w.balance'
      shared='global'
      ;;
    'sandbox advance')
      commands=''
      options='--until:w.until --to:t '
      arguments='t'
      shared='global'
      ;;
    'sandbox clock')
      commands=''
      options='--to:t '
      arguments='w.sandbox_clock_mode'
      shared='global'
      ;;
    'sandbox trigger')
      commands=''
      options='--data:+t -d:+t '
      arguments='w.event_type'
      shared='global'
      ;;
    'sandbox events')
      commands=''
      options='--type:w.event_type --limit:t --starting-after:i.evt_ '
      arguments=''
      shared='global'
      ;;
    'sandbox deliveries')
      commands=''
      options='--event:i.evt_ --endpoint:i.we_ --status:w.delivery_status --limit:t --starting-after:i.dlv_ '
      arguments=''
      shared='global'
      ;;
    'sandbox resend')
      commands=''
      options='--endpoint:i.we_ '
      arguments='i.evt_'
      shared='global'
      ;;
    'sandbox endpoints')
      commands='list enable disable delete roll-secret'
      options=''
      arguments=''
      shared='global'
      ;;
    'sandbox endpoints list')
      commands=''
      options=''
      arguments=''
      shared='global'
      ;;
    'sandbox endpoints enable')
      commands=''
      options=''
      arguments='i.we_'
      shared='global'
      ;;
    'sandbox endpoints disable')
      commands=''
      options=''
      arguments='i.we_'
      shared='global'
      ;;
    'sandbox endpoints delete')
      commands=''
      options=''
      arguments='i.we_'
      shared='global'
      ;;
    'sandbox endpoints roll-secret')
      commands=''
      options='--grace:t '
      arguments='i.we_'
      shared='global'
      ;;
    'sandbox compare')
      commands=''
      options='--endpoint:- --save:- '
      arguments=''
      shared='global'
      ;;
    'sandbox settings')
      commands=''
      options='--of:t '
      arguments='+w.sandbox_setting'
      shared='global'
      ;;
    'sandbox keys')
      commands='list create roll'
      options=''
      arguments=''
      shared='global'
      ;;
    'sandbox keys list')
      commands=''
      options=''
      arguments=''
      shared='global'
      ;;
    'sandbox keys create')
      commands=''
      options='--type:w.sandbox_keys_create_type --permission:+w.permission '
      arguments=''
      shared='global'
      ;;
    'sandbox keys roll')
      commands=''
      options='--grace:t '
      arguments='i.key_'
      shared='global'
      ;;
    'sandbox requests')
      commands=''
      options='--path:t --method:t --status:t --body:t --since:t --until:t --limit:t --verify:t --clear:- --follow:- '
      arguments=''
      shared='global'
      ;;
    'sandbox lint')
      commands=''
      options=''
      arguments=''
      shared='global'
      ;;
    'sandbox emails')
      commands=''
      options='--limit:t --starting-after:i.eml_ '
      arguments=''
      shared='global'
      ;;
    'sandbox fault')
      commands='add list clear'
      options=''
      arguments=''
      shared='global'
      ;;
    'sandbox fault add')
      commands=''
      options='--skip:t --times:t --delay-ms:t --method:w.http_method --path:t --idempotency-key:t --api-key:t --order:i.ord_ --after:- --status:w.fault_status --retry-after:t --body:t --connection:w.sandbox_fault_add_connection --webhook:w.sandbox_fault_add_webhook --type:w.event_type --endpoint:i.we_ --count:t '
      arguments=''
      shared='global'
      ;;
    'sandbox fault list')
      commands=''
      options=''
      arguments=''
      shared='global'
      ;;
    'sandbox fault clear')
      commands=''
      options=''
      arguments='+i.flt_'
      shared='global'
      ;;
    'sandbox reset')
      commands=''
      options='--seed:t --fixture:w.fixture '
      arguments=''
      shared='global'
      ;;
    'sandbox export')
      commands=''
      options='--force:- '
      arguments='f'
      shared='global'
      ;;
    'sandbox import')
      commands=''
      options='--allow-remote:- '
      arguments='f'
      shared='global'
      ;;
    'quickstart')
      commands=''
      options=''
      arguments=''
      shared='global'
      ;;
    'mcp')
      commands=''
      options='--allow:+t '
      arguments=''
      shared='global'
      ;;
    'commands')
      commands=''
      options=''
      arguments=''
      shared='global'
      ;;
    'completion')
      commands=''
      options='--install:- --uninstall:- --force:- '
      arguments='w.completion_shell'
      shared='global'
      ;;
    'help')
      commands=''
      options=''
      arguments='+w.help'
      shared='global'
      ;;
  esac
}

_svc_shared() {
  case $shared in
    'global') shared='--profile:p --live:- --test:- --base-url:t --api-version:w.version --output:w.output -o:w.output --query:t --raw:- --fields:t --max-time:t --proxy:t --ca-bundle:f --yes:- -y:- --no-input:- --quiet:- -q:- --verbose:- -v:- --color:w.color --utc:- --help:- -h:- ' ;;
    'request preview global') shared='--data:+t -d:+t --body:f --idempotency-key:t --new-request:- --form:- --json-body:- --dry-run:- --curl:- --profile:p --live:- --test:- --base-url:t --api-version:w.version --output:w.output -o:w.output --query:t --raw:- --fields:t --max-time:t --proxy:t --ca-bundle:f --yes:- -y:- --no-input:- --quiet:- -q:- --verbose:- -v:- --color:w.color --utc:- --help:- -h:- ' ;;
    'preview global') shared='--dry-run:- --curl:- --profile:p --live:- --test:- --base-url:t --api-version:w.version --output:w.output -o:w.output --query:t --raw:- --fields:t --max-time:t --proxy:t --ca-bundle:f --yes:- -y:- --no-input:- --quiet:- -q:- --verbose:- -v:- --color:w.color --utc:- --help:- -h:- ' ;;
    'list preview global') shared='--limit:t --starting-after:t --all:- --max:t --created-gte:t --created-gt:t --created-lte:t --created-lt:t --param:+t --raw-csv:- --decimals:- --dry-run:- --curl:- --profile:p --live:- --test:- --base-url:t --api-version:w.version --output:w.output -o:w.output --query:t --raw:- --fields:t --max-time:t --proxy:t --ca-bundle:f --yes:- -y:- --no-input:- --quiet:- -q:- --verbose:- -v:- --color:w.color --utc:- --help:- -h:- ' ;;
  esac
}

_svc_command() {
  _svc_own "$1"
  _svc_shared
}

complete -o nosort -F _svc svc 2>/dev/null || complete -F _svc svc
