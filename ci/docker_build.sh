#!/usr/bin/env bash
# Builds the image and tries it, as an ordinary container: ci/docker_build.sh
# Without docker, the same steps are tried here, with a binary that is built already, in seconds:
# $GRISTMILL_BIN, or the one that the tests have built.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
python3 ci/docker_files.py

if command -v docker >/dev/null && docker info >/dev/null 2>&1; then
    image="gristmill-ci"
    docker build --tag "$image" .
    # As compose.yaml runs it.
    docker run --rm --init --read-only --cap-drop ALL --security-opt no-new-privileges \
        --tmpfs /tmp:mode=1777 --entrypoint /usr/local/lib/gristmill/smoke.sh "$image"
    echo "the image is built, and works"
    exit
fi

echo "docker isn't here; trying its steps without it"
target="${CARGO_TARGET_DIR:-target}"
binary="${GRISTMILL_BIN:-$target/debug/gristmill}"
if [[ ! -x "$binary" ]]; then
    echo "error: no binary at $binary; run \`cargo build --package gristmill-cli\`, or set GRISTMILL_BIN" >&2
    exit 1
fi
root="$(mktemp -d)"
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"
packaging/docker/install.sh "$binary" "$root"
install -D --mode=755 --target-directory="$root/usr/local/lib/gristmill" packaging/docker/*.sh
install --directory --mode=1777 "$root/tmp"

as_user=()
if ((EUID == 0)); then
    as_user=(setpriv --reuid=10001 --regid=10001 --clear-groups --inh-caps=-all --no-new-privs)
fi
# Nothing of this machine but its programs, as in the image.
run=(env --ignore-environment PATH="$root/usr/local/bin:/usr/bin:/bin" HOME="$root/data" TMPDIR="$root/tmp"
    XDG_CONFIG_HOME="$root/config" GRISTMILL_DATA_DIR="$root/data" GRISTMILL_CACHE_DIR="$root/cache")
(
    cd "$root/data"
    "${as_user[@]}" "${run[@]}" gristmill setup
    "${as_user[@]}" "${run[@]}" "$root/usr/local/lib/gristmill/smoke.sh"
)
