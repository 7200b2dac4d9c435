#!/usr/bin/env bash
# Builds the release binary: build.sh TARGET_FOLDER
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export CARGO_TARGET_DIR="$1"
# An image searches by meaning; without the encoder it would only be found out by its users.
export GRISTMILL_ENCODER="${GRISTMILL_ENCODER:-required}"
cargo build --release --locked --package gristmill-cli --features cluster
"$CARGO_TARGET_DIR/release/gristmill" --version
