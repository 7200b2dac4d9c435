// attack: read what the system shows of processes and devices
// expect: ok
// forbid: SECRET-91bc
// forbid: PWNED
import fs from "node:fs";

const places = ["/proc/self/environ", "/proc/1/environ", "/proc/self/maps", "/proc/self/mem", "/proc/self/fd/0", "/proc/self/root@@CANARY@@", "/proc/self/cwd", "/proc/net/tcp", "/dev/mem", "/dev/null", "/dev/fd/3", "/dev/stdin", "/sys/class/net", "/etc/passwd", "/etc/hostname", "/run/secrets", "/root/.ssh/id_rsa"];
for (const path of places) {
  for (const way of [fs.readFileSync, fs.readdirSync, fs.statSync, readFile, listDirectory, (p) => fs.writeFileSync(p, "x"), (p) => fs.cpSync(p, "copied", { recursive: true })]) {
    try {
      console.log("PW" + "NED:", path, `${way(path)}`.slice(0, 200));
    } catch {}
  }
}
export default fs.readdirSync("/").join();
