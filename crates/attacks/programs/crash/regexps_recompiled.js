// attack: change a regular expression while it matches
// expect: ok | crash
// forbid: PWNED
// timeout_ms: 8000
for (const flags of ["", "g", "y", "gi", "u", "v", "d", "gs"]) {
  const expression = new RegExp("(a)(?<name>b)?", flags);
  for (const act of [() => expression.exec({ toString: () => (expression.compile("(((((((x)))))))?"), "ab".repeat(1000)) }), () => "abab".replace(expression, () => (expression.compile("c", "g"), "$<name>$9$&$`$'".repeat(100))), () => [..."abab".matchAll(expression)], () => "abab".split(expression, { valueOf: () => (expression.compile("d"), 5) })]) {
    expression.lastIndex = { valueOf: () => (expression.compile("b", flags), 1) };
    try {
      act();
    } catch {}
    try {
      expression.compile("(a)(?<name>b)?", flags);
    } catch {}
  }
}
for (const pattern of ["[\\p{L}--[a-z]]", "(?<a>x)|(?<a>y)", "\\k<a>(?<a>x)", "(?<=(\\1)(x))", "(?:){65535}", "x{99999999999}", "[^]".repeat(5000), "(?i:a)", "\\u{110000}", "(?<𝒜>.)", "\\cA\\c", "[z-a]", "(?!(?=(?<!(?<=x))))*"]) {
  for (const flags of ["", "u", "v", "iu", "gv"]) {
    try {
      new RegExp(pattern, flags).exec("xyxyxy𝒜".repeat(100));
    } catch {}
  }
}
export default "survived";
