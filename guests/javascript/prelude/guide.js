// help(): what a program can do beside calling tools, in a few lines for each topic. What these texts name is there: a
// test calls every function of theirs, and counts their tokens.

const GUIDE = {
  "": `A program may call tools, loop, filter and keep data; what it prints and \`result\` come back. Also there:
searchTools(query), describeTool(name)  find tools, read a definition: help("tools")
readFile(path), writeFile(path, content)  files of the session: help("files")
readResult(handle)  what didn't fit in an answer: help("results")
saveSkill(name, code), listSkills()  code for later programs: help("skills")
analyze(rows, steps)  tables: filter, group, join, test: help("analysis")
getExecutionStats()  what programs took and saved: help("statistics")
state  values that a session keeps: help("state")
sanitizePii(value)  tokens in the place of personal data: help("privacy")
help("server.tool") shows one tool. Modules: fs, path, util, crypto and more of Node's, by import.`,
  tools: `searchTools(query, {server, limit: 10, detail: "summary"})  finds tools by what they do; console.log it
searchTools()  lists servers; listServers(), listTools(server)  names alone
describeTool("server.tool")  typed definition; help("server.tool") prints it
import { get_record } from "./servers/crm";
const row = await get_record({ id: "1" });  or: await callMCPTool("crm.get_record", { id: "1" })
const rows = await Promise.all(ids.map((id) => get_record({ id })));  in parallel
A tool that fails throws ToolError, with .code and .message.
await readResource("gristmill://...")  reads a server's resource.`,
  files: `/workspace is the working directory. Programs of the same session share it; pass \`session\` to execute_code.
writeFile(path, content)  text or bytes, makes folders; readFile(path)  text
listDirectory(path)  names; folders end with "/"
The module fs works too, there and in /tmp.
/servers and /skills can be read. Other files and the network aren't there.
reset()  removes every file of the session and every value of \`state\`.`,
  results: `A result or output that doesn't fit in an answer is kept whole; the answer has its handle.
readResult(handle)  the whole value
readResult(handle, "rows[3].name")  the part at a path
readResult(handle, { path: "rows", offset: 100, limit: 50 })  some items
analyze({ handle, steps: [...] })  filters and groups it: help("analysis")
Handles can't be listed. Results that nobody uses are removed after a while.
Return less: set \`result\` to what you need, or pass \`shape\` ("schema", "table", "sample") to execute_code.`,
  skills: `A skill is saved code that later programs import, in any session.
saveSkill(name, code, { description, test, tags })  checks, tests and saves it; code: a module with exports
  test: source with assert, or { call: "total([1, 2])", expect: 3 }; if it fails, nothing is saved
import { total } from "skills/name";  uses it
listSkills(query, tags)  what there is; searchTools(query) finds skills, too
loadSkill(name)  its source; deleteSkill(name)
A name is letters, digits and _. Skills of other callers change only with the user's approval.`,
  statistics: `getExecutionStats()  an object: executions, ok, failed, times, tool calls, tokens used and saved, most called tools
getExecutionStats({ session: "name" })  of one session; { all: true }: of all callers, if you may
For statistics of data use analyze(rows, [{ describe: {} }]): help("analysis").`,
  analysis: `const rows = await analyze(data, steps);  data: an array of objects; or analyze({ file: "sales.csv", steps }), or { handle, steps } of a stored result
Steps run in order, each over the table of the step before:
[{ filter: { field: "price", operator: ">", value: 10 } },
 { aggregate: { group_by: "kind", aggregations: { price: ["count", "mean", "p95"] } } },
 { sort: "-price_mean" }, { limit: 5 }]
Also: { transform: { compute: { total: "price * quantity" } } }, join ({ inputs: { cities: rows } }), validate, describe, correlate, timeseries, test, outliers.
An AnalysisError says which step failed and what to change.`,
  state: `state.cursor = page.next;  kept at once, for every later program of the session
state.get("cursor"); state.delete("cursor"); state.keys()
Values are JSON. What you read is a copy: assign it again after changing it.
Without a session (the argument \`session\` of execute_code) it ends with the program.
reset()  empties \`state\` and /workspace.`,
  privacy: `Depending on the user's rules, personal data in tools' answers are tokens such as [EMAIL_k3v9q2ab]. Pass them on as they are: where the user allows it, a tool gets the value.
sanitizePii(value)  the same text or JSON with tokens; restorePii(value)  values again, as far as allowed
privacy.same(one, other)  whether two tokens stand for the same; privacy.domain(token)  the domain of an email`,
};
// Only where hosts are allowed.
const HTTP_GUIDE = `const r = await fetch(url, {method: "POST", headers: {...}, body: JSON.stringify(value)})  as in browsers; GET without options
r.status, r.ok, r.headers.get("etag"), await r.text(), await r.json(), await r.bytes(), await r.arrayBuffer()
Only the hosts that the user allows; searchTools("http") names them. A host that isn't allowed, or a request that the user's rules \
refuse, throws ToolError. Credentials that the user set up are added by themselves: leave them out.
const all = await Promise.all(urls.map((url) => fetch(url)))  in parallel`;
const HTTP_GUIDE_NAMES = ["http", "fetch", "network"];
const GUIDE_OTHER_NAMES = {
  file: "files", workspace: "files", result: "results", handles: "results", skill: "skills", stats: "statistics", analyze: "analysis",
  tables: "analysis", tool: "tools", servers: "tools", search: "tools", session: "state", sessions: "state", pii: "privacy",
};

/** Prints a guide: `help()` for an overview, `help("files")`, `help("skills")`, `help("server.tool")`. */
function help(topic = "") {
  programConsole.log(aboutTopic(typeof topic === "string" ? topic.trim() : topic?.name ?? ""));
}

function aboutTopic(topic) {
  const plain = topic.toLowerCase().replace(/\(\)$/, "");
  const known = hasOwn(GUIDE_OTHER_NAMES, plain) ? GUIDE_OTHER_NAMES[plain] : plain;
  if (hasOwn(GUIDE, known)) return GUIDE[known];
  if (HTTP_GUIDE_NAMES.includes(plain)) return hostsAreAllowed() ? HTTP_GUIDE : NO_HOSTS;
  try {
    return describeTool(topic);
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    return `there is no topic or tool "${cut(topic, 100)}". Topics: ${keysOf(GUIDE).filter(Boolean).join(", ")}`;
  }
}
