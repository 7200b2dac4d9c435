#!/usr/bin/env bash
# Puts the binary and its folders into a root file system: install.sh BINARY ROOT
# As root, the folders belong to the user that the container runs as; it needs no name and no password.
set -euo pipefail

binary="$1"
root="${2%/}"
user=10001

owner=()
if ((EUID == 0)); then
    owner=(--owner="$user" --group="$user")
fi
install -D --mode=755 "$binary" "$root/usr/local/bin/gristmill"
install --directory --mode=755 "$root/config" "$root/config/gristmill"
install --directory --mode=700 "${owner[@]}" "$root/data" "$root/cache"
