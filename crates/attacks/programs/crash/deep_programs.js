// attack: code that is nested so deep that parsers run out of stack
// expect: ok | error | crash | limit:memory | limit:wall_time | limit:cpu_time
// forbid: PWNED
// timeout_ms: 8000
const deep = 20_000;
const around = [["(", ")"], ["[", "]"], ["{a:", "}"], ["!", ""], ["-", ""], ["typeof ", ""], ["x=>", ""], ["a?b:", ""], ["`${", "}`"], ["(function(){", "})()"], ["async()=>{", "}"], ["if(1)", ""], ["{", "}"], ["class A extends ", ""], ["new ", ""], ["[...", "]"], ["a.b(", ")"], ["for(;;)", ""], ["a,", ""], ["yield*", ""], ["label:", ""], ["a**", ""], ["a=", ""], ["a??=", ""]];
for (const [open, close] of around) {
  const code = `${open.repeat(deep)}1${close.repeat(deep)}`;
  for (const way of [(text) => (0, eval)(`if (0) (${text})`), (text) => new Function(`return () => ${text}`), (text) => (0, eval)(`() => {${text}}`)]) {
    try {
      way(code);
    } catch (error) {
      if (!(error instanceof Error)) console.log(typeof error);
    }
  }
}
export default "survived";
