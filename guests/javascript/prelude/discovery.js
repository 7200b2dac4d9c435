// Finding tools: searchTools asks the host, describeTool reads the tree. Neither needs await.

const COUNT_MAX = 2 ** 31 - 1;
const SEARCH_DETAILS = ["names", "summary", "full"];

/** The tools that were found, best first. Printed, it is text to read. */
class ToolHits extends Array {
  static get [Symbol.species]() {
    return Array;
  }
  toString() {
    return this.text;
  }
  [INSPECT_CUSTOM]() {
    return this.text;
  }
}

function textArgument(helper, name, value) {
  if (typeof value !== "string") throw new TypeError(`${name} of ${helper} must be text, not ${typeName(value)}`);
  return value;
}

function oneOf(helper, name, value, allowed) {
  if (!allowed.includes(value)) throw new TypeError(`${name} of ${helper} must be one of ${allowed.join(", ")}, not ${cut(String(inspect(value)), 40)}`);
  return value;
}

function countArgument(helper, name, value, least) {
  if (!Number.isInteger(value) || value < least) throw new TypeError(`${name} of ${helper} must be a whole number, at least ${least}`);
  return Math.min(value, COUNT_MAX);
}

/** Finds tools by what they do: `searchTools("query", {server, category, detail, limit, offset})`. */
function searchTools(query = "", options = {}) {
  if (typeof query === "object" && query !== null) [options, query] = [query, query.query ?? ""];
  if (typeof options === "string") options = { server: options };
  const { server = null, category = null, limit = 10, offset = 0 } = options ?? {};
  const helper = "searchTools";
  const asked = {
    query: textArgument(helper, "query", query),
    server: server === null ? null : textArgument(helper, "server", server),
    category: category === null ? null : textArgument(helper, "category", category),
    detail: oneOf(helper, "detail", options?.detail ?? options?.detail_level ?? options?.detailLevel ?? "summary", SEARCH_DETAILS),
    limit: countArgument(helper, "limit", limit, 1),
    offset: countArgument(helper, "offset", offset, 0),
    line: programLine(),
  };
  const answer = ask("search", asked, helper);
  if (!isArray(answer?.hits) || typeof answer.text !== "string") throw new ToolError("the search answer can't be read", { tool: helper, kind: "search" });
  const hits = new ToolHits();
  for (const hit of answer.hits) hits.push(hit);
  return define(hits, { text: answer.text, shown: answer.shown ?? hits.length, total: answer.total ?? hits.length });
}

const STUB_LANGUAGES = { typescript: "ts", ts: "ts", javascript: "ts", js: "ts", python: "py", py: "py" };

/** The stub of a tool, with its types and docs; `{detail: "signature"}` gives its declaration alone. */
function describeTool(name, options = {}) {
  const helper = "describeTool";
  textArgument(helper, "name", name);
  const detail = oneOf(helper, "detail", (typeof options === "string" ? options : options?.detail) ?? "full", ["full", "signature"]);
  const extension = STUB_LANGUAGES[oneOf(helper, "language", options?.language ?? options?.format ?? "typescript", keysOf(STUB_LANGUAGES))];
  const found = catalogue.meant(name.trim());
  if (found.length === 0) {
    const skill = describedSkill(name.trim());
    if (skill !== undefined) return skill;
    throw unknownTool(name.trim());
  }
  if (found.length > 1) throw discoveryError(`"${name}" may be ${listed(found.map((place) => place.join(".")))}; write one of these`, name);
  const text = catalogue.stub(...found[0], extension);
  if (detail === "full") return text;
  const mark = extension === "ts" ? "export declare function" : "async def ";
  return text.includes(mark) ? text.slice(text.indexOf(mark)) : text;
}

function unknownTool(name) {
  const shown = cut(name, 100);
  const server = catalogue.serverCalled(name.split(".")[0]);
  if (server !== undefined) {
    const down = catalogue.whyDown(server);
    if (down !== undefined) return new ToolError(`server ${server} is down: ${down}`, { tool: name, kind: "unavailable" });
    if (!name.includes(".")) return discoveryError(`"${shown}" is a server, not a tool; its tools: ${listed(catalogue.tools(server)) || "none"}`, name);
  }
  if (catalogue.servers().length === 0) return discoveryError(`there is no tool "${shown}": no server is connected`, name);
  const near = catalogue.nearest(name);
  const said = near.length ? `did you mean ${near.join(", ")}?` : "find one with searchTools(...)";
  const among = catalogue.isPartial() ? " that this program may call" : "";
  return discoveryError(`there is no tool "${shown}"${among}; ${said}`, name);
}

function discoveryError(message, tool) {
  return new ToolError(message, { tool, code: "GM-1401", kind: "unknown_tool" });
}

function listServers() {
  return catalogue.servers();
}

function listTools(server) {
  if (server === undefined || server === null) return catalogue.all().map((place) => place.join("."));
  const found = catalogue.serverCalled(`${server}`);
  if (found === undefined) throw discoveryError(noServer(`${server}`, catalogue.servers()), "listTools");
  return catalogue.tools(found).map((tool) => `${found}.${tool}`);
}

function getToolDefinition(name, options = {}) {
  if (typeof name === "object" && name !== null) [name, options] = [name.name, name];
  if (name !== undefined) return describeTool(options.server && !`${name}`.includes(".") ? `${options.server}.${name}` : name, options);
  if (options.server === undefined) throw new TypeError('getToolDefinition needs a name, such as "server.tool", or a server');
  return listTools(options.server).map((tool) => describeTool(tool, options)).join("\n");
}
