// What to do about a failure, worked out after it from its words; no code of the program runs for it.

// More of a message than a hint is ever found in: patterns take longer on longer texts.
const HINT_CHARS_MAX = 2000;

function hintFor(error, kind) {
  try {
    return (HINTS_BY_KIND[kind]?.(error) ?? hintOfMessage(cut(`${error?.message ?? ""}`, HINT_CHARS_MAX), error)) || null;
  } catch {
    return null;
  }
}

const HINTS_BY_KIND = {
  memory: () => "work in smaller pieces: slices, or files in the workspace",
  recursion: () => "use a loop, or check that the recursion ends",
  result_limit: () => "return a summary, or write the data to a file in /workspace",
  tool: (error) => (typeof error.hint === "string" ? error.hint : null),
};

function hintOfMessage(message, error) {
  if (error?.code in ERRNO && typeof error.path === "string") return fileHint(error, error.path);
  const unknown = /^'?([\w$]+)'? is not defined$/.exec(message);
  if (unknown !== null) return hintForName(unknown[1]);
  const read = /^(?:cannot read property|Cannot read properties of) '?([^']*?)'? of (undefined|null)/.exec(message);
  if (missingVariable !== undefined && / of undefined|env/.test(message)) {
    return `there is no environment variable ${missingVariable}: pass values as context`;
  }
  if (read !== null) return hintForMember(read[1]);
  if (/not a function$/.test(message)) return hintForCall(messageOf(error, "exception"));
  if (/await is only valid|unexpected token.*await/i.test(message)) return "make the function around it async";
  if (error instanceof SyntaxError && /JSON/.test(message)) return "the text isn't JSON: print the beginning of it, and check that the tool didn't answer with a value already";
  return undefined;
}

const PYTHON_NAMES = { None: "null", True: "true", False: "false", print: "console.log", len: "array.length", str: "String", dict: "an object", range: "Array.from({length: n}, (_, i) => i)", elif: "else if" };

function hintForName(name) {
  if (hasOwn(PYTHON_NAMES, name)) return `this is JavaScript: write ${PYTHON_NAMES[name]}`;
  const tools = catalogue.meant(name);
  if (tools.length === 1) {
    const [server, tool] = tools[0];
    return `it is a tool: write import { ${identifier(tool)} } from "./servers/${server}"`;
  }
  if (tools.length > 1) return `it may be a tool: ${listed(tools.map((place) => place.join(".")), 3)}; import it from "./servers/<server>"`;
  const server = catalogue.serverCalled(name);
  if (server !== undefined) return `it is a server: write import * as ${identifier(server)} from "./servers/${server}", or tools.${identifier(server)}`;
  if (hasOwn(NODE_MODULES, name)) return `write import ${name} from "node:${name}"`;
  const known = [...keysOf(helpers), ...getOwnPropertyNames(globalThis)].filter((known) => /^[a-z]/i.test(known));
  const [close] = closest(name, known);
  return close === undefined ? undefined : `did you mean ${close}?`;
}

/** A member of nothing: what the latest answer of a tool has is most likely what was meant. */
function hintForMember(name) {
  const { latest, tool } = answers;
  const sample = isArray(latest) ? latest[0] : latest;
  if (sample === null || typeof sample !== "object") return undefined;
  const keys = keysOf(sample);
  const [close] = closest(name, keys);
  const has = `${isArray(latest) ? "each row of " : ""}the answer of ${tool} has: ${listed(keys, 15)}`;
  return close === undefined || close === name ? has : `did you mean .${close}? ${has}`;
}

function hintForCall(message) {
  const { latest, tool } = answers;
  if (/\b(?:map|filter|forEach|reduce|slice|find|some|every)\b/.test(message) && latest !== null && typeof latest === "object" && !isArray(latest)) {
    const list = keysOf(latest).find((key) => isArray(latest[key]));
    if (list !== undefined) return `the answer of ${tool} is an object; its list is .${list}`;
  }
  return "check the spelling of what is called, and that what it belongs to was awaited";
}
