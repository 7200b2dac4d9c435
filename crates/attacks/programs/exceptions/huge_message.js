// attack: an error whose message, name and stack are of megabytes
// expect: error | limit:memory
// forbid: PWNED
const error = new Error("m".repeat(20 << 20));
error.name = "N".repeat(5 << 20);
error.stack = `${"    at program.ts:1:1\n".repeat(200_000)}`;
error.code = "GM-4001".repeat(100_000);
throw error;
