// attack: let the report about the program be deep and far too large
// expect: ok | error | crash | limit:memory | limit:result_bytes | limit:result_depth | limit:wall_time
// forbid: PWNED
// timeout_ms: 8000
const deep = "[".repeat(1_000_000) + "]".repeat(1_000_000);
const note = "n".repeat(1_000_000);
String.prototype.replace = () => `{"ok":true,"has_result":true,"notes":[${`"${note}",`.repeat(20)}"x"],"result":${deep}}`;
export default { a: 1 };
