#!/usr/bin/env bash
# What must work where gristmill is installed, with whatever this container lets it have: smoke.sh
# Run by ci/docker_build.sh, in the image or in a folder that install.sh has filled.
set -euo pipefail

here="$(dirname "${BASH_SOURCE[0]}")"
said="$(mktemp)"
server=""

fail() {
    echo "error: $1" >&2
    cat "$said" >&2
    exit 1
}

at_exit() {
    if [[ -n "$server" ]]; then
        kill -KILL "$server" 2>/dev/null || true
    fi
    rm -f "$said"
}
trap at_exit EXIT

((EUID != 0)) || fail "this runs as root; it must not"
gristmill --version

# At the level `production`, which refuses to start where a layer that it needs is missing.
answer="$(gristmill run --level production --no-servers -c '6 * 7' 2>"$said")" || fail "a program doesn't run"
[[ "$answer" == 42 ]] || fail "6 * 7 is $answer"
if gristmill run --level production --no-servers -c 'open("/etc/passwd").read()' >"$said" 2>&1; then
    fail "a program reads the machine's files"
fi

gristmill serve --http 127.0.0.1:0 --no-servers 2>"$said" &
server=$!
port=""
for _ in {1..300}; do
    port="$(sed -n 's|^listening on http://127.0.0.1:\([0-9]*\)/mcp$|\1|p' "$said")"
    [[ -z "$port" ]] || break
    kill -0 "$server" 2>/dev/null || fail "the server ended"
    sleep 0.1
done
[[ -n "$port" ]] || fail "the server doesn't listen"
"$here/health.sh" "$port" || fail "the server isn't healthy"

token="$GRISTMILL_DATA_DIR/local-token"
[[ "$(stat --format=%a "$token")" == 600 ]] || fail "$token isn't private"
status() {
    exec 3<>"/dev/tcp/127.0.0.1/$port"
    printf 'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nConnection: close\r\n%s\r\n' "$1" >&3
    head --lines=1 <&3 | cut --delimiter=' ' --fields=2
    exec 3<&-
}
[[ "$(status '')" == 401 ]] || fail "a request without a token isn't refused"
opened="$(status "Authorization: Bearer $(<"$token")"$'\r\n')"
[[ "$opened" != 401 ]] || fail "a request with the token is refused"

kill -TERM "$server"
wait "$server" || fail "the server didn't end well"
server=""
echo "smoke test passed"
