// What `import` and `require` find: servers, skills, Node's modules, files of the workspace.

const nodeOs = {
  EOL: "\n", platform: () => "linux", type: () => "Linux", arch: () => "wasm32", cpus: () => [{ model: "sandbox", speed: 0 }],
  hostname: () => "sandbox", homedir: () => "/workspace", tmpdir: () => "/tmp", totalmem: () => 0, freemem: () => 0, uptime: () => 0,
  userInfo: () => ({ username: "sandbox", homedir: "/workspace" }), release: () => "", availableParallelism: () => 1,
};
const nodeUrl = {
  URL, URLSearchParams,
  fileURLToPath: (url) => decodeURIComponent(new URL(url).pathname),
  pathToFileURL: (path) => new URL(`file://${nodePath.resolve(path).split("/").map(encodeURIComponent).join("/")}`),
  parse: (text) => new URL(text),
  format: (url) => `${url}`,
};
const nodeQuerystring = {
  parse(text) {
    const found = {};
    for (const [name, value] of new URLSearchParams(text)) found[name] = hasOwn(found, name) ? [found[name], value].flat() : value;
    return found;
  },
  stringify: (members) => new URLSearchParams(keysOf(members).flatMap((name) => [members[name]].flat().map((value) => [name, value]))).toString(),
};

const NODE_MODULES = {
  fs: () => nodeFs, "fs/promises": () => fsPromises, path: () => nodePath, "path/posix": () => nodePath, util: () => nodeUtil,
  "util/types": () => nodeUtil.types, assert: () => assert, "assert/strict": () => strictAssert, buffer: () => ({ Buffer, atob, btoa }),
  url: () => nodeUrl, querystring: () => nodeQuerystring, events: () => EventEmitter, crypto: () => nodeCrypto, os: () => nodeOs,
  process: () => nodeProcess, timers: () => ({ setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate }),
  "timers/promises": () => timersPromises, perf_hooks: () => ({ performance: performanceClock }), console: () => programConsole,
};
const NO_PROCESSES = "programs can't start processes: call a tool of a server instead";
const MISSING_NODE = {
  http: NO_NETWORK, https: NO_NETWORK, net: NO_NETWORK, tls: NO_NETWORK, dns: NO_NETWORK, dgram: NO_NETWORK, http2: NO_NETWORK,
  child_process: NO_PROCESSES, cluster: NO_PROCESSES, worker_threads: "a program is one thread; use Promise.all for calls side by side",
  readline: "there is no keyboard: pass values as context", repl: "there is no keyboard", vm: "use plain functions",
  stream: "read and write files whole, with node:fs", zlib: "work with files as they are", module: "use import",
};
const INSTEAD = {
  axios: NO_NETWORK, "node-fetch": NO_NETWORK, got: NO_NETWORK, undici: NO_NETWORK, request: NO_NETWORK, superagent: NO_NETWORK,
  lodash: "use plain JavaScript: Object.groupBy, structuredClone, array methods", underscore: "use plain JavaScript",
  "lodash-es": "use plain JavaScript: Object.groupBy, structuredClone, array methods",
  moment: "use Date and Intl.DateTimeFormat", dayjs: "use Date and Intl.DateTimeFormat", "date-fns": "use Date and Intl.DateTimeFormat", luxon: "use Date and Intl.DateTimeFormat",
  zod: "check values by hand; tools' arguments are checked against their schemas anyway", uuid: "use crypto.randomUUID()", nanoid: "use crypto.randomUUID()",
  "csv-parse": 'await analyze({file: "data.csv", steps: [...]}) reads CSV', papaparse: 'await analyze({file: "data.csv", steps: [...]}) reads CSV',
  dotenv: "there are no environment variables: pass values as context", pg: "call a tool of a database server", mysql2: "call a tool of a database server",
  openai: NO_NETWORK, "@anthropic-ai/sdk": NO_NETWORK, "@modelcontextprotocol/sdk": "tools are there already: await callMCPTool(...)",
};

const SERVER_SPEC = /^(?:[.~@/]*\/)?(?:workspace\/)?@?(?:servers|tools|mcp-servers|mcp_servers)(?:\/(.*))?$/;
const SKILL_SPEC = /^(?:[.~@/]*\/)?(?:workspace\/)?@?skills(?:\/(.*))?$/;

/** What an import statement of the program finds, by its specifier. */
async function importModule(spec, line) {
  try {
    return await findModule(`${spec}`);
  } catch (error) {
    throw error instanceof ErrorType && typeof line === "number" ? atLine(error, line) : error;
  } finally {
    // What it lacks of the names that are wanted is found out next.
    if (typeof line === "number") run.importLine = line;
  }
}

async function findModule(spec) {
  const skill = SKILL_SPEC.exec(withoutEnding(spec));
  if (skill !== null) return skillModule(skill[1], spec);
  return asNamespace(requireModule(spec));
}

function withoutEnding(spec) {
  return spec.replace(/\.(?:d\.)?[mc]?[tj]sx?$/, "").replace(/\/index$/, "").replace(/\/+$/, "");
}

/** A module as `import * as` sees it: its members, and itself as default. */
function asNamespace(module) {
  if (module === null || (typeof module !== "object" && typeof module !== "function")) return { default: module };
  if (host.proxyTarget(module) !== undefined) return module;
  return { default: module, ...module };
}

/** `require`, and all of `import` that needs no waiting. */
function requireModule(spec) {
  const plain = withoutEnding(spec);
  const node = plain.startsWith("node:") ? plain.slice(5) : spec;
  if (hasOwn(NODE_MODULES, node)) return NODE_MODULES[node]();
  if (hasOwn(MISSING_NODE, node)) throw new ModuleNotFound(`The module '${spec}' isn't available: ${MISSING_NODE[node]}`);
  if (plain.startsWith("node:")) throw new ModuleNotFound(`The module '${spec}' isn't available; there are: ${listed(keysOf(NODE_MODULES), 40)}`);
  if (/^@?gristmill(?:\/.*)?$/.test(plain)) return helpers;
  const server = SERVER_SPEC.exec(plain);
  if (server !== null) return serverNamed(server[1], spec);
  if (/^\.{0,2}\//.test(spec)) return workspaceModule(spec);
  return packageNamed(spec, plain);
}

function serverNamed(path, spec) {
  if (path === undefined || path === "") return serversRoot;
  const [name, ...rest] = path.split("/");
  const server = catalogue.serverCalled(name) ?? catalogue.notShown(name);
  if (server === undefined) throw new ModuleNotFound(`Cannot find module '${spec}': ${noServer(name, catalogue.servers())}`);
  const down = catalogue.whyDown(server);
  if (down !== undefined) throw new ModuleNotFound(`Cannot find module '${spec}': server ${server} is down: ${down}`);
  if (rest.length === 0) return serverModule(server, spec);
  const tool = catalogue.toolCalled(server, rest.join("/")) ?? (catalogue.isPartial() ? rest.join("/") : undefined);
  if (tool === undefined) {
    const known = catalogue.tools(server);
    const [close] = closest(rest.join("/"), known);
    throw new ModuleNotFound(`Cannot find module '${spec}'; ${close === undefined ? `${server} has: ${listed(known, 40) || "no tools"}` : `did you mean '${close}'?`}`);
  }
  return toolModule(server, tool, spec);
}

/** The module of one tool: the tool under its name, in any spelling, and as default. */
function toolModule(server, tool, spec) {
  const call = toolFunction(server, tool, identifier(tool));
  return ownProxy(Object.create(null), {
    get(_target, name) {
      if (typeof name === "symbol" || name === "then" || name === "toJSON") return undefined;
      if (name === "default" || name === tool || fold(name) === fold(tool)) return call;
      throw noExport(spec, name, [identifier(tool)]);
    },
    has: (_target, name) => typeof name === "string" && fold(name) === fold(tool),
    ownKeys: () => [identifier(tool)],
    getOwnPropertyDescriptor: () => ({ value: call, enumerable: true, configurable: true, writable: true }),
  });
}

const serversRoot = toolsByServer;

// Skills are modules that the gateway keeps: it answers with JavaScript, whose value is an async function.
const skillModules = new Map();

async function skillModule(path, spec) {
  if (path === undefined || path === "") {
    return ownProxy(Object.create(null), {
      get: (_target, name) => (typeof name === "symbol" || name === "then" ? undefined : skillModule(name, `skills/${name}`)),
    });
  }
  const name = path.split("/")[0];
  if (!skillModules.has(name)) skillModules.set(name, loadSkillModule(name, spec));
  const exported = await skillModules.get(name);
  return ownProxy(exported, {
    get(target, key) {
      if (typeof key === "symbol" || key === "then" || key === "toJSON" || hasOwn(target, key)) return target[key];
      if (key === "default") return target;
      throw noExport(spec, key, keysOf(target));
    },
  });
}

async function loadSkillModule(name, spec) {
  let answer;
  try {
    answer = askSkill("loadSkill", { action: "load", name });
  } catch (error) {
    throw new ModuleNotFound(`Cannot find module '${spec}': ${error.message}`);
  }
  if (typeof answer.code !== "string") throw new ModuleNotFound(`Cannot find module '${spec}': the skill has no code`);
  const file = `skills/${answer.name ?? name}.ts`;
  skillFiles.add(file);
  noteRewrites(file, answer.code);
  return host.evaluate(answer.code, file)();
}

/** JSON and CommonJS files of the workspace. */
function workspaceModule(spec) {
  const base = filePath(spec);
  const path = [base, `${base}.js`, `${base}.cjs`, `${base}.json`].find((candidate) => exists(candidate) && host.stat(candidate)[0] === "f");
  if (path === undefined) throw new ModuleNotFound(`Cannot find module '${spec}'; ${fileHint({ code: "ENOENT" }, base) ?? "there is no such file"}`);
  const text = readTextAt(path);
  if (path.endsWith(".json")) return fromJSONText(text);
  if (/\.[mc]?tsx?$/.test(path) || /^\s*(?:import|export)\b/m.test(text)) {
    throw new ModuleNotFound(`'${spec}' can't be imported from the workspace: save it with saveSkill(name, code) and import it from "skills/name"`);
  }
  programNames.add(path);
  const module = { exports: {} };
  host.evaluate(`(function (module, exports, require) {${text}\n})`, path)(module, module.exports, requireModule);
  return module.exports;
}

function packageNamed(spec, plain) {
  const server = catalogue.serverCalled(plain.split("/")[0]);
  if (server !== undefined) return serverNamed(plain, spec);
  const known = [plain, plain.split("/")[0]].find((name) => hasOwn(INSTEAD, name));
  const instead = known === undefined ? undefined : INSTEAD[known];
  if (instead !== undefined) throw new ModuleNotFound(`Cannot find package '${spec}': packages can't be installed; ${instead}`);
  const [close] = closest(plain, [...keysOf(NODE_MODULES), ...catalogue.servers().map((name) => `servers/${name}`)]);
  throw new ModuleNotFound(`Cannot find package '${spec}': packages can't be installed; ${close ? `did you mean '${close}'?` : "write what you need of it in plain JavaScript"}`);
}
