#!/usr/bin/env bash
# Makes the build folder of .ci/run fit for a cache: what cargo makes from our own crates changes with every commit,
# and so does what tests have left. Dependencies, engines and installed tools stay.
set -euo pipefail

cache="${XDG_CACHE_HOME:-$HOME/.cache}/gristmill"
target="${CARGO_TARGET_DIR:-$cache/ci-target}"
if [[ ! -d "$target/debug" ]]; then
    echo "nothing to trim in $target"
    exit
fi
before="$(du --summarize --block-size=1M "$target" | cut --fields=1)"
rm -rf "$target/debug/incremental" "$target/debug/examples" "$target/tmp"
# Names of crates have underscores in file names, and hyphens in fingerprints.
find "$target/debug/deps" "$target/debug/.fingerprint" "$target/debug/build" -mindepth 1 -maxdepth 1 \
    \( -name 'gristmill*' -o -name 'libgristmill*' \) ! -name 'gristmill-worker-*' ! -name 'gristmill-encoder-*' \
    -exec rm -rf {} +
# Test binaries are the largest files; each has an executable bit and no ending.
find "$target/debug/deps" -maxdepth 1 -type f -executable ! -name '*.so' ! -name '*.rlib' -delete
echo "$target: $before MB before, $(du --summarize --block-size=1M "$target" | cut --fields=1) MB after"
