// What a program finds in its globals.

const programConsole = new Console();
for (const name of getOwnPropertyNames(Console.prototype)) {
  if (name !== "constructor") programConsole[name] = Console.prototype[name].bind(programConsole);
}

const helpers = {
  callMCPTool, ToolError, AnalysisError, StateError, tools: toolsByServer, searchTools, describeTool, readResource, analyze, loadSkill, listSkills,
  saveSkill, deleteSkill, listDirectory, readFile, writeFile, state, reset, privacy, sanitizePii, restorePii, listServers, listTools,
  getToolDefinition, readResult, getExecutionStats, help,
};
const OTHER_NAMES = { callMcpTool: "callMCPTool", callTool: "callMCPTool", executeAnalysis: "analyze", getToolCode: "describeTool", readWorkspaceFile: "readFile", writeWorkspaceFile: "writeFile", stats: "getExecutionStats" };

/** Every helper also under the name that it has in Python. */
function snakeCase(name) {
  return name.replace("MCP", "Mcp").replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

const others = {};
for (const [other, name] of Object.entries(OTHER_NAMES)) others[other] = helpers[name];
for (const name of [...keysOf(helpers), ...keysOf(others)]) {
  const snake = snakeCase(name);
  if (snake !== name && !/^_/.test(snake)) others[snake] = helpers[name] ?? others[name];
}
Object.setPrototypeOf(helpers, define({}, others));

const webGlobals = {
  setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate, TextEncoder, TextDecoder, URL, URLSearchParams,
  structuredClone, Event, CustomEvent, EventTarget, AbortController, AbortSignal, Buffer, fetch, Headers, Request, Response, Intl: intl, process: nodeProcess,
  performance: performanceClock, crypto: webCrypto, console: programConsole, require: requireModule, global: globalThis, ...refusals,
};
define(globalThis, webGlobals);
define(globalThis, others);
define(globalThis, helpers);
defineProperty(globalThis, "__gristmill", { value: bridge });
requireModule.resolve = (spec) => spec;
defineProperty(intl, Symbol.toStringTag, { value: "Intl", configurable: true });

define(Math, { random: poolRandom });
define(String.prototype, { localeCompare });
define(Number.prototype, numberLocales);
define(BigInt.prototype, numberLocales);
define(Date.prototype, dateLocales);
