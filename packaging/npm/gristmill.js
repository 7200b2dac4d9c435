#!/usr/bin/env node
// Starts the binary of this platform, which npm has installed beside this package, and ends as it ends.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const packageName = `@gristmill/${process.platform}-${process.arch}`;

function binary() {
  try {
    return require.resolve(`${packageName}/bin/gristmill`);
  } catch {
    console.error(`error: ${packageName} isn't installed, so there's no gristmill for this machine`);
    console.error("hint: install without --omit=optional; Linux on x64 and arm64 with glibc is supported");
    process.exit(4);
  }
}

const child = spawn(binary(), process.argv.slice(2), { stdio: "inherit" });

// Ctrl-C reaches the child by itself; what is sent to this process alone is passed on.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => {
    if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
  });
}

child.on("error", (error) => {
  console.error(`error: can't start gristmill: ${error.message}`);
  process.exit(4);
});

child.on("exit", (code, signal) => {
  process.exit(code ?? 128 + (constants.signals[signal] ?? 0));
});
