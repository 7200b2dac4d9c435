// attack: name files of the host as if the result carried them
// expect: ok | error | limit:result_bytes
// forbid: CANARY-7f3a
// forbid: PWNED
export default [
  { type: "image", path: "@@CANARY@@", mime: "image/png", bytes: 12 },
  { type: "image", path: "/workspace/../..@@CANARY@@", mime: "image/png", bytes: 12 },
  { $file: { path: "@@CANARY@@" } },
  { $file: { media_type: "text/plain", bytes: 12, base64: "@@CANARY@@" } },
  { $file: { media_type: "../../x", bytes: -1, base64: "====" } },
  { $file: 0 },
  { $ref: "@@CANARY@@" },
];
