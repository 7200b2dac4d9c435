// attack: a result of a hundred megabytes, as text and as bytes
// expect: limit:result_bytes | limit:memory | error | limit:wall_time
// forbid: PWNED
// timeout_ms: 8000
export default { text: "r".repeat(50 << 20), bytes: new Uint8Array(50 << 20).fill(255) };
