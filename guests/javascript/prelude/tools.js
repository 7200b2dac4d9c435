// Tool calls: promises that are sent at once, and that know whether anybody listens.

// Calls whose answer nobody has asked for yet.
let unheard = new Map();
// The latest answers, for hints.
let answers = { latest: undefined, tool: undefined };
const ANSWER_CHARS_MAX = 256 * 1024;

/** A call of a tool. It is a promise; one that nobody awaits is told of at the end. */
class ToolCall extends Promise {
  static get [Symbol.species]() {
    return PromiseType;
  }
  then(onValue, onError) {
    unheard.delete(this);
    return super.then(onValue, onError);
  }
}

/** Sends a call and gives its promise. `read` makes the value of the answer. */
function send(kind, request, { name, written, read = fromJSONText, Failure = ToolError }) {
  const line = request.line;
  const payload = encodeJSON(request);
  let call;
  const promise = new ToolCall((resolve, reject) => {
    call = (ok, answer) => {
      if (!ok) return reject(atLine(errorFrom(answer, name, Failure), line));
      try {
        resolve(read(answer));
      } catch (error) {
        reject(atLine(error, line));
      }
    };
    try {
      checkSize(payload, written);
    } catch (error) {
      return reject(atLine(error, line));
    }
    calls.start(kind, payload, call);
  });
  unheard.set(promise, { written, line });
  return promise;
}

/** Calls a tool by its name: `await callMCPTool("server.tool", {argument: value})`. */
function callMCPTool(name, args, ...rest) {
  if (typeof name !== "string") throw new TypeError(`callMCPTool takes the tool's name as text, not ${typeName(name)}`);
  if (!areArguments(args) || rest.length) {
    throw new TypeError(`pass the arguments as one object: await callMCPTool("${name}", {name: value})`);
  }
  return callTool(name, args, `callMCPTool("${cut(name, 60)}")`);
}

function areArguments(args) {
  return args === undefined || args === null || (typeof args === "object" && !isArray(args));
}

function callTool(name, args, written) {
  const request = { name, arguments: plainValue(args ?? {}, "arguments"), line: programLine() };
  return send("tool", request, { name, written, read: (payload) => toolValue(payload, name) });
}

function toolValue(payload, tool) {
  if (payload.startsWith(FILES_MARK)) return valueWithFiles(payload, tool);
  const value = fromJSONText(payload);
  if (payload.length <= ANSWER_CHARS_MAX) answers = { latest: value, tool };
  return value;
}

/** A function that calls one tool, with one object. */
function toolFunction(server, tool, written) {
  const name = identifier(tool);
  const call = {
    [name](...args) {
      if (args.length > 1 || !areArguments(args[0])) throw new TypeError(byName(server, tool, written));
      return callTool(`${server}.${tool}`, args[0], `${written}(...)`);
    },
  }[name];
  return define(call, { server, tool });
}

const PARAMETERS_TOLD_MAX = 12;

/** What to write instead of arguments without names. */
function byName(server, tool, written) {
  const parameters = parametersOf(server, tool);
  if (parameters === undefined) return `pass the arguments as one object, such as ${written}({name: value})`;
  if (parameters.length === 0) return `${written} takes no arguments`;
  const needed = parameters.filter((parameter) => parameter.isRequired);
  const example = (needed.length ? needed : parameters.slice(0, 1)).map(({ name }) => `${name}: \u2026`).join(", ");
  const told = parameters.map(({ name, isRequired }) => (isRequired ? `${name} (required)` : name));
  return `pass the arguments as one object: ${written}({${example}}); it takes ${listed(told, PARAMETERS_TOLD_MAX)}`;
}

/** The parameters that a tool's stub names, or undefined. */
function parametersOf(server, tool) {
  let text;
  try {
    text = catalogue.stub(server, tool);
  } catch {
    return undefined;
  }
  const declared = text.slice(text.indexOf("export declare function"));
  const parameters = [];
  for (const line of declared.split("\n").slice(1)) {
    const found = /^ {2}(?:([\w$]+)|"([^"]+)")(\?)?: /.exec(line);
    if (found !== null) parameters.push({ name: found[1] ?? found[2], isRequired: found[3] === undefined });
    else if (line.startsWith("}")) break;
  }
  return parameters;
}

/** A server's tools by their names, in any spelling. What there is not says what there is. */
function serverModule(server, spec) {
  const made = new Map();
  const names = () => catalogue.tools(server).map(identifier);
  const resolve = (name) => {
    if (!made.has(name)) {
      const tool = catalogue.toolCalled(server, name) ?? (catalogue.isPartial() && name !== "default" ? name : undefined);
      if (tool !== undefined) made.set(name, toolFunction(server, tool, name));
    }
    return made.get(name);
  };
  const module = ownProxy(Object.create(null), {
    get(_target, name) {
      if (typeof name === "symbol" || name === "then" || name === "toJSON") return name === Symbol.toStringTag ? "Module" : undefined;
      const found = resolve(name) ?? (name === "default" ? module : undefined);
      if (found === undefined) throw noExport(spec, name, names(), catalogue.state(server));
      return found;
    },
    has: (_target, name) => typeof name === "string" && resolve(name) !== undefined,
    ownKeys: () => names(),
    getOwnPropertyDescriptor: (_target, name) => {
      const value = typeof name === "string" ? resolve(name) : undefined;
      return value && { value, enumerable: true, configurable: true, writable: true };
    },
    set() {
      throw new TypeError(`the tools of ${server} can't be replaced`);
    },
  });
  return module;
}

function noExport(spec, name, names, beside) {
  const [close] = closest(name, names);
  const said = close === undefined ? `it has: ${listed(names, 30) || "nothing"}` : `did you mean '${close}'?`;
  return new SyntaxError(`The requested module '${spec}' does not provide an export named '${name}'; ${said}${beside ? `; ${beside}` : ""}`);
}

/** A tool, or a server's tools, that the tree lacks: whoever calls one hears what the gateway says. */
function notShownMember(name) {
  return ownProxy((args) => callTool(name, args, `tools.${name}(...)`), {
    get(_target, member) {
      if (typeof member === "symbol" || member === "then" || member === "toJSON") return undefined;
      return toolFunction(name, member, `tools.${name}.${member}`);
    },
  });
}

/** `tools.google_drive.getDocument(...)`: servers by name, and tools that only one server has. */
const toolsByServer = ownProxy(Object.create(null), {
  get(_target, name) {
    if (typeof name === "symbol" || name === "then" || name === "toJSON") return undefined;
    const server = catalogue.serverCalled(name);
    if (server !== undefined) {
      const down = catalogue.whyDown(server);
      if (down !== undefined) throw new ToolError(`server ${server} is down: ${down}`, { tool: server, kind: "unavailable" });
      return serverModule(server, `tools.${name}`);
    }
    const found = catalogue.meant(name);
    if (found.length === 1) return toolFunction(...found[0], `tools.${name}`);
    if (catalogue.notShown(name) !== undefined) return notShownMember(name);
    throw new TypeError(noServer(name, catalogue.servers()));
  },
  has: (_target, name) => typeof name === "string" && catalogue.serverCalled(name) !== undefined,
  ownKeys: () => catalogue.servers().map(identifier),
  getOwnPropertyDescriptor: (_target, name) => ({ value: undefined, enumerable: true, configurable: true, writable: true }),
});

function noServer(name, known) {
  const disabled = catalogue.whyOutOfUse(name);
  if (disabled !== undefined) return disabled;
  if (known.length === 0) return `there is no server '${name}': ${NO_SERVERS}`;
  const [close] = closest(name, known);
  return `there is no server '${name}'; ${close === undefined ? `there are: ${listed(known, 40)}` : `did you mean '${close}'?`}`;
}
