// attack: reach a listener on the host with what Node has
// expect: ok
// forbid: PWNED
for (const name of ["net", "http", "https", "http2", "tls", "dns", "dns/promises", "dgram", "inspector", "undici", "ws", "axios", "node:quic", "diagnostics_channel"]) {
  for (const load of [(n) => require(n), (n) => require(`node:${n}`), (n) => import(n), (n) => process.getBuiltinModule(n), (n) => process.binding(n)]) {
    try {
      const found = await load(name);
      found.connect?.(Number("@@PORT@@"), "127.0.0.1");
      found.get?.("http://127.0.0.1:@@PORT@@/");
      console.log("PW" + "NED:", name);
    } catch (error) {
      console.log(name, error.name);
    }
  }
}
export default "tried";
