// What lies in /servers: a folder for each server, in it a stub for each tool. Nothing there is executed:
// names of folders and files are all that counts.

const SERVERS = "/servers";
const NO_SERVERS = "no servers are connected to this gateway; the user connects them with `gristmill import` or `gristmill add`";
const STATE_CHARS_MAX = 500;

function readJSON(path) {
  try {
    const found = fromJSONText(host.readText(path));
    return found !== null && typeof found === "object" ? found : {};
  } catch {
    return {};
  }
}

const catalogue = {
  /** Whether names are missing that the gateway knows: it says itself why they can't be called. */
  isPartial: () => exists(`${SERVERS}/.partial`),
  /** A server that may be there although the tree lacks it. */
  notShown: (name) => (catalogue.isPartial() && catalogue.whyOutOfUse(name) === undefined ? name : undefined),
  servers: () => {
    try {
      return entriesOf(SERVERS).filter(([name, kind]) => kind === "d" && !name.startsWith(".")).map(([name]) => name);
    } catch {
      return [];
    }
  },
  /** The stems of a server's tools, sorted. */
  tools: (server) => namesIn(`${SERVERS}/${server}`).filter((name) => name.endsWith(".ts") && name !== "index.ts" && !name.startsWith(".")).map((name) => name.slice(0, -3)),
  /** The folder of the server that is meant, in any spelling. */
  serverCalled(name) {
    const known = catalogue.servers();
    if (known.includes(name)) return name;
    const folder = readJSON(`${SERVERS}/.names.json`)[name];
    return known.includes(folder) ? folder : matching(name, known);
  },
  /** The stem of the tool that is meant, in any spelling. */
  toolCalled(server, name) {
    const known = catalogue.tools(server);
    if (known.includes(name)) return name;
    const stem = catalogue.renamed(server)[name];
    return known.includes(stem) ? stem : matching(name, known);
  },
  renamed: (server) => {
    const { names } = readJSON(`${SERVERS}/${server}/.server.json`);
    return names !== null && typeof names === "object" ? names : {};
  },
  stub: (server, tool, extension = "ts") => readTextAt(`${SERVERS}/${server}/${tool}.${extension}`),
  /** What is to be known of a server beside its tools: that it is down, or holds some back. */
  state: (server) => {
    const { state } = readJSON(`${SERVERS}/${server}/.server.json`);
    return typeof state === "string" && state.trim() ? state.slice(0, STATE_CHARS_MAX).split(/\s+/).join(" ") : undefined;
  },
  whyDown: (server) => (catalogue.tools(server).length ? undefined : catalogue.state(server)),
  whyOutOfUse(name) {
    const { servers } = readJSON(`${SERVERS}/.out_of_use.json`);
    const meant = isArray(servers) ? matching(name, servers.filter((server) => typeof server === "string")) : undefined;
    if (meant === undefined) return undefined;
    return `the server \`${meant}\` is disabled or not approved; the user can check with \`gristmill list\``;
  },
  all: () => catalogue.servers().flatMap((server) => catalogue.tools(server).map((tool) => [server, tool])),
  /** Every tool that a name may mean: `server.tool`, `server/tool`, `mcp__server__tool`, or a tool alone. */
  meant(name) {
    const known = catalogue.all();
    const plain = fold(name.replace(/^mcp__/, "").replace(/[./]|__/g, "."));
    const exact = known.filter(([server, tool]) => `${server}.${tool}` === name || tool === name);
    if (exact.length) return exact;
    for (const server of catalogue.servers()) {
      for (const [own, stem] of Object.entries(catalogue.renamed(server))) {
        if (own === name || `${server}.${own}` === name) return [[server, stem]];
      }
    }
    const qualified = known.filter(([server, tool]) => fold(`${server}.${tool}`) === plain);
    return qualified.length ? qualified : known.filter(([, tool]) => fold(tool) === plain);
  },
  nearest(name, count = 5) {
    const known = catalogue.all().map((place) => place.join("."));
    const alone = name.split(".").at(-1);
    const byTool = closest(alone, known.map((whole) => whole.split(".").slice(1).join(".")), count);
    return known.filter((whole) => byTool.includes(whole.split(".").slice(1).join("."))).slice(0, count);
  },
};
