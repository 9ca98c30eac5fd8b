#!/bin/sh
# A small shop's backend with curl and openssl: orders, refunds, and a webhook handler for CGI.
#   shop.sh order CART AMOUNT | refund PAYMENT AMOUNT | webhook (body on stdin, HTTP_SVC_SIGNATURE)
# On a machine that others use too, keep the secret out of openssl's arguments, which they can read.
set -eu

post() { # PATH KEY CURL_OPTIONS...
  path=$1 key=$2
  shift 2
  printf 'Authorization: Bearer %s\n' "$SVC_API_KEY" |
    curl --silent --show-error --fail-with-body --max-time 10 --header @- \
      --header "Idempotency-Key: $key" "$@" "$SVC_BASE_URL$path"
}

field() { # NAME: the first text of that name in the JSON on stdin
  tr -d '\n' | sed -n "s/.*\"object\": *{//; s/.*\"$1\": *\"\([^\"]*\)\".*/\1/p"
}

is_authentic() { # FILE
  time=$(printf '%s' "$HTTP_SVC_SIGNATURE" | sed -n 's/.*t=\([0-9]*\).*/\1/p')
  now=$(date +%s)
  signed=$({ printf '%s.' "$time"; cat "$1"; } |
    openssl dgst -sha256 -hmac "$SVC_WEBHOOK_SECRET" -r | cut -d' ' -f1)
  [ $((now - time)) -le 300 ] && [ $((time - now)) -le 300 ] || return 1
  case ",$HTTP_SVC_SIGNATURE," in *",v1=$signed,"*) ;; *) return 1 ;; esac
}

case $1 in
order)
  post /v1/orders "cart-$2" --json '{"amount": '"$3"', "currency": "EUR",
    "shipping": {"country": "DE", "postal_code": "10115"},
    "items": [{"name": "Linen jacket", "quantity": 1, "unit_amount": '"$3"'}]}'
  ;;
refund)
  post /v1/refunds "refund-$2-$3" --json '{"payment": "'"$2"'", "amount": '"$3"'}'
  ;;
webhook)
  body=$(mktemp)
  trap 'rm -f "$body"' EXIT
  cat >"$body" # the raw bytes, which the signature is over
  if ! is_authentic "$body"; then
    printf 'Status: 400\n\n'
    exit
  fi
  kind=$(sed -n 's/.*"type": *"\([a-z]*\.[a-z]*\)".*/\1/p' "$body" | head -n 1)
  event=$(sed -n 's/.*"id": *"\(evt_[A-Za-z0-9]*\)".*/\1/p' "$body" | head -n 1)
  id=$(field id <"$body")
  if ! grep -qs "^$event " done.txt; then # the same event may be delivered more than once
    if [ "$kind" = dispute.opened ]; then
      post "/v1/disputes/$id" "$event" --data-urlencode 'evidence[tracking_number]=1Z999' \
        --data submit=true >/dev/null
    fi
    echo "$event $kind $id" >>done.txt
  fi
  printf 'Status: 200\n\n'
  ;;
esac
