// attack: make the host copy large things again and again
// expect: ok | error | limit:memory | limit:output_bytes | limit:wall_time | limit:cpu_time | limit:workspace_bytes
// forbid: PWNED
// timeout_ms: 6000
const large = "x".repeat(30 << 20);
for (let n = 0; n < 20; n++) {
  for (const way of [() => writeFile(`large-${n}`, large), () => callMCPTool("echo", { value: large }).catch(() => {}), () => new TextEncoder().encode(large).length, () => Buffer.from(large).toString().length, () => (state.large = large), () => console.error(large.slice(0, 1 << 20)), () => require(`./${large}`), () => readFile(large), () => searchTools(large), () => crypto.getRandomValues(new Uint8Array(65_536))]) {
    try {
      await way();
    } catch {}
  }
}
export default "copied";
