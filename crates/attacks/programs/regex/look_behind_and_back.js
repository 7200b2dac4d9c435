// attack: look-behinds and back-references that take exponential time
// expect: limit:wall_time | limit:cpu_time | ok | error
// forbid: PWNED
// timeout_ms: 1500
const text = "ab".repeat(2000);
for (const pattern of [/(?<=(a|b|ab)*c)d/, /(a|b|ab)*\1\1\1c/, /((a?)*)*b\2c/, /(?=(a|ab|aba)*c)/, /(.*)(.*)(.*)(.*)\4\3\2\1x/]) pattern.test(text);
export default "came to an end";
