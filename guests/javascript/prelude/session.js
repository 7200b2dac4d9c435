// What programs of a session share, and what the gateway does for a program: state, skills, analyses,
// personal data, resources, statistics.

function askState(what, details = {}) {
  const [ok, answer] = calls.ask("state", encodeJSON({ do: what, ...details }));
  if (!ok) throw new StateError(errorFrom(answer, "state").message);
  return fromJSONText(answer);
}

const stateMethods = {
  get: (key, fallback) => askState("get", { key: `${key}` })[0] ?? fallback,
  set: (key, value) => {
    askState("set", { key: `${key}`, value: plainValue(value, `state.${String(key)}`) ?? null });
    return state;
  },
  has: (key) => askState("get", { key: `${key}` }).length > 0,
  delete: (key) => askState("delete", { key: `${key}` }),
  keys: () => askState("keys"),
  clear: () => void askState("clear"),
  toJSON: () => ({ ...state }),
};

/** JSON values under names, the same for every program of the session. What is read is a copy. */
const state = ownProxy(Object.create(null), {
  get(_target, key) {
    if (key === INSPECT_CUSTOM) return (_depth, options) => `state ${inspect({ ...state }, options)}`;
    if (typeof key === "symbol" || key === "then") return undefined;
    return hasOwn(stateMethods, key) ? stateMethods[key] : askState("get", { key })[0];
  },
  set(_target, key, value) {
    if (typeof key === "symbol") return false;
    if (value === undefined) askState("delete", { key });
    else stateMethods.set(key, value);
    return true;
  },
  has: (_target, key) => typeof key === "string" && stateMethods.has(key),
  deleteProperty: (_target, key) => {
    stateMethods.delete(key);
    return true;
  },
  ownKeys: () => askState("keys"),
  getOwnPropertyDescriptor: (_target, key) => {
    const [value] = typeof key === "string" ? askState("get", { key }) : [];
    return value === undefined ? undefined : { value, enumerable: true, configurable: true, writable: true };
  },
});

/** Empties the session: removes everything in /workspace and every value of `state`. */
function reset() {
  askState("clear");
  for (const [name] of entriesOf("/workspace")) fsNow.rm(`/workspace/${name}`, { recursive: true });
}

// Skills.

function askSkill(helper, asked) {
  const answer = ask("skill", { ...asked, line: programLine() }, helper);
  if (answer === null || typeof answer !== "object") throw new ToolError(`the answer to ${helper} can't be read`, { tool: helper, kind: "skill" });
  return answer;
}

/** An answer that is printed as text to read. */
function readable(value, text) {
  return define(value, { text, [INSPECT_CUSTOM]: () => text });
}

function listSkills(query = "", tags = []) {
  const asked = { action: "list", query: textArgument("listSkills", "query", query), tags: typeof tags === "string" ? [tags] : tags };
  const answer = askSkill("listSkills", asked);
  return readable(isArray(answer.skills) ? answer.skills : [], answer.text ?? "");
}

/** Saves code that later programs import: `import {total} from "skills/name"`. */
function saveSkill(name, code, options = {}) {
  if (typeof name === "object" && name !== null) [name, code, options] = [name.name, name.code, name];
  if (typeof options === "string") options = { description: options };
  const { description = "", test, tags } = options ?? {};
  const asked = { action: "save", name: textArgument("saveSkill", "name", name), code: textArgument("saveSkill", "code", code), description };
  if (tags !== undefined) asked.tags = typeof tags === "string" ? [tags] : tags;
  if (test !== undefined && test !== null) asked.test = typeof test === "string" ? test : plainValue(test, "test");
  const { text = "", code: _code, ...rest } = askSkill("saveSkill", asked);
  skillModules.clear();
  return readable(rest, text);
}

function deleteSkill(name) {
  const answer = askSkill("deleteSkill", { action: "delete", name: textArgument("deleteSkill", "name", name) });
  skillModules.clear();
  return readable({ name: answer.name }, answer.text ?? "");
}

function skillNames() {
  const { names } = askSkill("listSkills", { action: "names" });
  return isArray(names) ? names.filter((name) => typeof name === "string") : [];
}

/** The source of a skill, for reading; `import ... from "skills/name"` uses it. */
function loadSkill(name) {
  const answer = askSkill("loadSkill", { action: "load", name: textArgument("loadSkill", "name", name) });
  return answer.source ?? answer.code;
}

function describedSkill(name) {
  const plain = name.replace(/^(?:saved[-_ ]?)?skills[./]/i, "");
  const found = matching(plain, namesIn("/skills").filter((file) => file.endsWith(".md")).map((file) => file.slice(0, -3)));
  if (found === undefined) return undefined;
  return `A skill: import it in a program, such as \`import * as ${identifier(found)} from "skills/${found}"\`.\n\n${readTextAt(`/skills/${found}.md`)}`;
}

// Analyses.

const SOURCES = ["data", "file", "handle"];

/** Analyzes data by steps: `await analyze(rows, [{filter: {...}}, {aggregate: {...}}])`, or `{file, steps}`. */
function analyze(data, steps, options = {}) {
  let given = { ...options };
  if (data !== null && typeof data === "object" && !isArray(data) && [...SOURCES, "steps", "analysis_type"].some((key) => hasOwn(data, key))) {
    given = { ...data, ...(steps !== undefined && !isArray(steps) && typeof steps === "object" ? steps : {}) };
    if (isArray(steps)) given.steps = steps;
  } else {
    given = { ...given, data, steps };
  }
  const request = sourceOf("analyze", given);
  const inputs = given.inputs ?? {};
  if (keysOf(inputs).length) {
    request.others = {};
    for (const name of keysOf(inputs)) {
      const input = inputs[name];
      const isSource = input !== null && typeof input === "object" && !isArray(input) && keysOf(input).every((key) => [...SOURCES, "format"].includes(key)) && keysOf(input).length > 0;
      request.others[name] = sourceOf(`inputs.${name}`, isSource ? input : { data: input });
    }
  }
  request.request = analysisAsked(given);
  request.line = programLine();
  return send("analyze", request, { name: "analyze", written: "analyze(...)", Failure: AnalysisError });
}

function analysisAsked(given) {
  const kind = given.analysis_type ?? given.analysisType;
  const field = given.data_field ?? given.dataField;
  const asked = field === undefined ? {} : { data_field: textArgument("analyze", "dataField", field) };
  if (kind !== undefined) {
    if (given.steps !== undefined) throw new TypeError("analyze takes steps, or analysisType with parameters, not both");
    return { ...asked, analysis_type: kind, ...(given.parameters === undefined ? {} : { parameters: plainValue(given.parameters, "parameters") }) };
  }
  let steps = typeof given.steps === "string" ? fromJSONText(given.steps) : given.steps;
  if (steps !== null && typeof steps === "object" && !isArray(steps)) steps = [steps];
  if (!isArray(steps)) throw new TypeError(`steps of analyze must be an array such as [{filter: {total: {">": 10}}}], not ${typeName(steps)}`);
  return { ...asked, steps: plainValue(steps, "steps") };
}

function sourceOf(shown, given) {
  const named = SOURCES.filter((key) => given[key] !== undefined && given[key] !== null);
  if (named.length !== 1) throw new TypeError(`${shown} takes one of data, file or handle, ${named.length ? `not ${named.join(" and ")} together` : "but got none"}`);
  let [key] = named;
  let value = given[key];
  if (key === "data") {
    if (typeof value === "string" && /^\s*[[{]/.test(value)) value = fromJSONText(value);
    if (typeof value !== "object") throw new TypeError(`data of ${shown} must be an array of rows, not ${typeName(value)}; {file: "sales.csv"} is a file of /workspace, {handle: "..."} a stored result`);
    value = plainValue(value, "data");
  } else {
    textArgument(shown, key, value);
    if (key === "file" && value.startsWith("/results/")) [key, value] = ["handle", value.slice("/results/".length).split(".")[0]];
  }
  return { [key]: value, ...(given.format === undefined ? {} : { format: textArgument(shown, "format", given.format) }) };
}

// Personal data, resources, statistics.

function askPrivacy(helper, asked) {
  return ask("privacy", { ...asked, line: programLine() }, helper);
}
const sanitizePii = (value) => askPrivacy("sanitizePii", { do: "sanitize", value: plainValue(value, "value") ?? null });
const restorePii = (value) => askPrivacy("restorePii", { do: "restore", value: plainValue(value, "value") ?? null });
const privacy = {
  sanitize: sanitizePii,
  restore: restorePii,
  same: (one, other) => askPrivacy("privacy.same", { do: "same", one: `${one}`, other: `${other}` }),
  domain: (token) => askPrivacy("privacy.domain", { do: "domain", token: `${token}` }),
};

/** Reads a resource: text as text, other content as a Buffer, several contents as an array. */
function readResource(uri) {
  textArgument("readResource", "uri", uri);
  const read = (payload) => {
    const { contents } = fromJSONText(payload);
    const values = contents.map((content) => (typeof content.text === "string" ? content.text : asBuffer(decodeBase64(content.blob))));
    return values.length === 1 ? values[0] : values;
  };
  return send("resource", { uri, line: programLine() }, { name: uri, written: `readResource("${cut(uri, 60)}")`, read });
}

function getExecutionStats(options = {}) {
  const { session, all = false } = typeof options === "string" ? { session: options } : options ?? {};
  return ask("stats", { all: Boolean(all), line: programLine(), ...(session === undefined ? {} : { session: `${session}` }) }, "getExecutionStats");
}

function readResult(handle, options = {}) {
  const name = nodePath.basename(`${handle}`).replace(/\.json$/, "");
  let value = fromJSONText(readFile(`/results/${name}.json`));
  const path = typeof options === "string" ? options : options?.path ?? "";
  for (const [, dotted, index, quoted1] of path.replace(/^\$/, "").matchAll(/\.?([^.[\]"']+)|\[(-?\d+)\]|\["([^"]*)"\]/g)) {
    value = index === undefined ? value?.[dotted ?? quoted1] : value?.at(Number(index));
    if (value === undefined) throw new RangeError(`the result has nothing at ${path}`);
  }
  const { offset = 0, limit } = typeof options === "string" ? {} : options ?? {};
  return (isArray(value) || typeof value === "string") && (offset || limit !== undefined) ? value.slice(offset, limit === undefined ? undefined : offset + limit) : value;
}
