#!/usr/bin/env bash
# Is a deployed vault reached, and does it say what apps need to sign in? Usage:
#
#     scripts/smoke.sh https://ADDRESS [SERVICE_TOKEN]
#
# With a service token that may read, write and forget, a memory is also stored, found and forgotten.
# Prints one line a check; the exit code is how many have failed.
set -uo pipefail

url=${1:?"Usage: scripts/smoke.sh https://ADDRESS [SERVICE_TOKEN]"}
url=${url%/}
url=${url%/mcp}
token=${2:-}
failed=0
answer=$(mktemp)
trap 'rm -f "$answer"' EXIT

# Everything of the answer: status line, headers in lower case, body.
ask() {
    local method=$1 path=$2
    shift 2
    curl --silent --show-error --suppress-connect-headers --max-time 40 --include --request "$method" "$@" "$url$path" \
        2>&1 | tr -d '\r' >"$answer"
}

status() { sed -n '1s/^[^ ]* \([0-9]*\).*/\1/p' "$answer"; }

check() {
    local what=$1 wanted=$2
    if grep -Eqi -- "$wanted" "$answer"; then
        printf 'ok    %s\n' "$what"
    else
        printf 'FAIL  %s: wanted %s, and got:\n' "$what" "$wanted"
        head -c 600 "$answer" | sed 's/^/      /'
        failed=$((failed + 1))
    fi
}

ask GET /health
check "it answers" '^HTTP/[0-9.]+ 200'
check "security headers" '^strict-transport-security: max-age='
check "its answers are not guessed at" '^x-content-type-options: nosniff'

ask GET /.well-known/oauth-protected-resource/mcp
check "what the tokens are for" "\"resource\": ?\"$url/mcp\""
ask GET /.well-known/oauth-authorization-server
check "where tokens come from" "\"issuer\": ?\"$url\""
check "PKCE is offered" '"S256"'

ping='{"jsonrpc": "2.0", "id": 1, "method": "ping"}'
json='content-type: application/json'
for path in /mcp /mcp/; do
    ask POST "$path" --header "$json" --data "$ping"
    check "$path asks for a token" '^HTTP/[0-9.]+ 401'
    check "$path says where to get one" \
        "^www-authenticate: Bearer .*resource_metadata=\"$url/.well-known/oauth-protected-resource/mcp\""
done
ask GET /mcp
check "a GET is asked for a token too" '^www-authenticate: Bearer'

app='{"client_name": "smoke test", "redirect_uris": ["http://127.0.0.1:1/callback"],
      "token_endpoint_auth_method": "none"}'
ask POST /register --header "$json" --data "$app"
check "an app may register" '^HTTP/[0-9.]+ 201'
client=$(sed -n 's/.*"client_id": *"\([^"]*\)".*/\1/p' "$answer")
challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWBuGJSstw-cM
ask GET "/authorize?response_type=code&client_id=$client&redirect_uri=http%3A%2F%2F127.0.0.1%3A1%2Fcallback&code_challenge=$challenge&code_challenge_method=S256"
check "the owner is sent to sign in" '^location: (https://[^ ]*)?/(oauth2/authorize|auth/login)'

for path in /api/memories /api/settings /api/audit /api/recall?q=x /api/nothing; do
    ask GET "$path"
    check "$path is closed" '^HTTP/[0-9.]+ 40[13]'
done
for path in /docs /openapi.json /.env /anything; do
    ask GET "$path"
    check "$path is not there" '^HTTP/[0-9.]+ 40[134]'
done

if [ -n "$token" ]; then
    script="authorization: Bearer $token"
    word="smoke$$x$(date +%s)"
    ask POST /api/memories --header "$script" --header "$json" \
        --data "{\"content\": \"The smoke test wrote $word\"}"
    check "a memory is stored" '"id": ?"mem_'
    memory=$(grep -o 'mem_[0-9a-z]*' "$answer" | head -1)
    ask GET "/api/recall?q=$word" --header "$script"
    check "it is found" "$memory"
    ask DELETE "/api/memories/$memory" --header "$script"
    check "it is forgotten" '^HTTP/[0-9.]+ 204'
    ask GET "/api/recall?q=$word" --header "$script"
    check "recall still answers" '^HTTP/[0-9.]+ 200'
    if grep -q "$memory" "$answer"; then
        printf 'FAIL  it is still found\n'
        failed=$((failed + 1))
    else
        printf 'ok    it is not found again\n'
    fi
    ask POST /mcp --header "$script" --header "$json" --data "$ping"
    check "a script is no agent" '^HTTP/[0-9.]+ 401'
fi

[ "$failed" -eq 0 ] && echo "All is well at $url."
exit "$failed"
