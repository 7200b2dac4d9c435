// attack: fail with nothing left to report it with
// expect: limit:memory | error
// forbid: PWNED
// memory_mb: 64
// timeout_ms: 15000
const kept = [];
try {
  for (;;) kept.push(new Uint8Array(65_536));
} catch {}
try {
  for (;;) kept.push({});
} catch {}
globalThis.kept = kept;
throw new Error("m".repeat(100));
