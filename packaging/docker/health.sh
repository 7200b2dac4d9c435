#!/usr/bin/env bash
# Whether a gristmill answers at a port of this container: health.sh PORT
set -euo pipefail

exec 3<>"/dev/tcp/127.0.0.1/$1"
printf 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' >&3
grep --quiet '"status":"ok"' <&3
