// `process` and what a sandbox does not have: each says what to use instead.

const VARIABLES = { HOME: "/workspace", LANG: "C.UTF-8", PWD: "/workspace", TMPDIR: "/tmp", TZ: "UTC" };

/** The environment: a few variables of ours. What is looked for and not there is remembered for a hint. */
let missingVariable;
const environment = ownProxy({ ...VARIABLES }, {
  get(target, name) {
    if (typeof name === "string" && !hasOwn(target, name)) missingVariable = name;
    return target[name];
  },
});

const standardStream = (number) => ({
  write(text) {
    host.write(number, typeof text === "string" ? text.toWellFormed() : host.decode(bytesOf(text)));
    return true;
  },
  isTTY: false,
  columns: 80,
  fd: number,
  end() {},
  on() {
    return this;
  },
});

const nodeProcess = {
  argv: ["node", DEFAULT_FILENAME],
  env: environment,
  platform: "linux",
  arch: "wasm32",
  pid: 1,
  version: "v20.0.0",
  versions: { node: "20.0.0", quickjs: "0.17.0" },
  exitCode: undefined,
  stdout: standardStream(STDOUT),
  stderr: standardStream(STDERR),
  stdin: { isTTY: false, on() {}, read: () => null },
  cwd: () => workingFolder,
  chdir(folder) {
    const target = filePath(folder);
    const [kind] = onFile("chdir", target, () => host.stat(target));
    if (kind !== "d") throw fileError("ENOTDIR", "chdir", target);
    workingFolder = target;
  },
  exit(code) {
    const exit = new Exit(code ?? nodeProcess.exitCode ?? 0);
    run.exit ??= exit;
    throw exit;
  },
  nextTick: (callback, ...args) => queueMicrotask(() => callback(...args)),
  uptime: () => performanceClock.now() / 1000,
  hrtime: Object.assign(
    (since) => {
      const now = host.now();
      const [seconds, nanoseconds] = [Math.floor(now / 1000), Math.floor((now % 1000) * 1e6)];
      if (since === undefined) return [seconds, nanoseconds];
      const passed = (seconds - since[0]) * 1e9 + nanoseconds - since[1];
      return [Math.floor(passed / 1e9), passed % 1e9];
    },
    { bigint: () => BigInt(Math.floor(host.now() * 1e6)) },
  ),
  memoryUsage: () => ({ rss: 0, heapTotal: 0, heapUsed: 0, external: 0, arrayBuffers: 0 }),
  on() {
    return nodeProcess;
  },
  once() {
    return nodeProcess;
  },
  off() {
    return nodeProcess;
  },
  emitWarning: (warning) => programConsole.error(`(node) Warning: ${warning}`),
};
defineProperty(nodeProcess, Symbol.toStringTag, { value: "process", configurable: true });

const NO_NETWORK = "programs have no network: call a tool of a server instead (searchTools(\"fetch\") finds one), or use fetch for hosts that the user allows";

function refusedClass(name, reason) {
  return {
    [name]: class {
      constructor() {
        throw new ErrorType(`${name} isn't available: ${reason}`);
      }
    },
  }[name];
}

const refusals = {
  XMLHttpRequest: refusedClass("XMLHttpRequest", NO_NETWORK),
  WebSocket: refusedClass("WebSocket", NO_NETWORK),
  Worker: refusedClass("Worker", "a program is one thread; use Promise.all for calls side by side"),
};
