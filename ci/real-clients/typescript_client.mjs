// One client on npm's TypeScript SDK, of either major version: does the steps of a job, tells what it saw.
//
//     node typescript_client.mjs MAJOR MODULES JOB
//
// MODULES is the folder that holds node_modules. JOB is a file made by served.py, as in python_client.py.

import { createRequire } from "node:module";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const STEP_MS_MAX = 45_000;
const [major, modules, jobPath] = process.argv.slice(2);
const load = createRequire(join(modules, "package.json"));
const isOne = major === "1";
const job = JSON.parse(readFileSync(jobPath, "utf8"));
const asked = [];

function makeClient() {
  const identity = { name: "real-clients", version: "1.0.0" };
  const elicit = async ({ params }) => {
    if (!params.requestedSchema?.properties?.answer) {
      return { action: "accept", content: job.elicited };
    }
    // A question of the policy's: one answer after the other.
    const said = job.answers?.[asked.length];
    asked.push(params.message);
    return said ? { action: "accept", content: { answer: said } } : { action: "decline" };
  };
  if (isOne) {
    const { Client } = load("@modelcontextprotocol/sdk/client/index.js");
    const { ElicitRequestSchema } = load("@modelcontextprotocol/sdk/types.js");
    const client = new Client(identity, { capabilities: { elicitation: {} } });
    client.setRequestHandler(ElicitRequestSchema, elicit);
    return client;
  }
  const { Client } = load("@modelcontextprotocol/client");
  const options = { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: job.era } };
  const client = new Client(identity, options);
  client.setRequestHandler("elicitation/create", elicit);
  return client;
}

function makeTransport() {
  if (job.url) {
    const old = "@modelcontextprotocol/sdk/client/streamableHttp.js";
    const { StreamableHTTPClientTransport } = load(isOne ? old : "@modelcontextprotocol/client");
    return new StreamableHTTPClientTransport(new URL(job.url), { requestInit: { headers: job.headers } });
  }
  const from = isOne ? "@modelcontextprotocol/sdk/client/stdio.js" : "@modelcontextprotocol/client/stdio";
  const [command, ...args] = job.command;
  const { StdioClientTransport } = load(from);
  return new StdioClientTransport({ command, args, env: job.env, cwd: job.cwd, stderr: "inherit" });
}

function call(client, parameters, options) {
  return isOne ? client.callTool(parameters, undefined, options) : client.callTool(parameters, options);
}

function list(client, method) {
  // By itself the newer client would answer the second time from its cache.
  return isOne ? client[method]() : client[method](undefined, { cacheMode: "refresh" });
}

const steps = {
  list_tools: (client) => list(client, "listTools"),
  list_resources: (client) => list(client, "listResources"),
  list_templates: (client) => list(client, "listResourceTemplates"),
  list_prompts: (client) => list(client, "listPrompts"),
  read_resource: (client, step) => client.readResource({ uri: step.uri }),
  get_prompt: (client, step) => client.getPrompt({ name: step.prompt, arguments: step.arguments }),

  async call(client, step, seen) {
    const progress = [];
    const options = { timeout: STEP_MS_MAX };
    if (step.progress) {
      options.onprogress = (told) => progress.push(told);
    }
    const parameters = { name: step.tool, arguments: filled(step.arguments, seen) };
    return { ...(await call(client, parameters, options)), progress };
  },

  async parallel(client, step) {
    const one = (given) => call(client, { name: step.tool, arguments: given }, { timeout: STEP_MS_MAX });
    return { answers: await Promise.all(step.each.map(one)) };
  },

  // Calls, and takes the call back once a file is there.
  async cancel(client, step) {
    const controller = new AbortController();
    const parameters = { name: step.tool, arguments: step.arguments };
    const called = call(client, parameters, { signal: controller.signal, timeout: STEP_MS_MAX }).catch(
      (error) => ({ told: String(error) }),
    );
    while (!existsSync(step.when)) {
      await sleep(50);
    }
    controller.abort("no longer wanted");
    return called;
  },
};

function filled(value, seen) {
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    return value;
  }
  if (Array.isArray(value.from)) {
    return value.from.reduce((found, key) => found[key], seen);
  }
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, filled(inner, seen)]));
}

async function observe(client, step, seen) {
  const began = performance.now();
  const overdue = new AbortController();
  const late = sleep(STEP_MS_MAX, undefined, { signal: overdue.signal }).then(() => {
    throw new Error("the step did not end");
  });
  late.catch(() => {});
  try {
    const answer = await Promise.race([steps[step.do](client, step, seen), late]);
    return { ...answer, seconds: (performance.now() - began) / 1000 };
  } catch (error) {
    return { raised: String(error), code: error.code ?? null };
  } finally {
    overdue.abort();
  }
}

const client = makeClient();
const transport = makeTransport();
// The older client tells nobody but its transport what was agreed on.
let agreed = null;
const tellTransport = transport.setProtocolVersion?.bind(transport);
transport.setProtocolVersion = (version) => {
  agreed = version;
  tellTransport?.(version);
};
await client.connect(transport);
const seen = {
  connected: {
    protocol: isOne ? agreed : client.getNegotiatedProtocolVersion(),
    server: client.getServerVersion(),
    instructions: client.getInstructions(),
    capabilities: client.getServerCapabilities(),
  },
};
for (const step of job.steps) {
  seen[step.name] = await observe(client, step, seen);
}
seen["asked of the person"] = asked;
if (isOne && transport.terminateSession) {
  await transport.terminateSession();
}
await client.close();
// Does not wait for what the client still has planned, such as coming back to a stream that has ended.
process.stdout.write(JSON.stringify(seen) + "\n", () => process.exit(0));
