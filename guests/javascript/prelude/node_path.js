// node:path, for POSIX.

function pathText(value, name = "path") {
  if (typeof value === "string") return value;
  const error = new TypeError(`The "${name}" argument must be of type string. Received ${typeName(value)}`);
  error.code = "ERR_INVALID_ARG_TYPE";
  throw error;
}

function normalParts(path, isAbsolute) {
  const kept = [];
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") kept.push(part);
    else if (kept.length > 0 && kept.at(-1) !== "..") kept.pop();
    else if (!isAbsolute) kept.push("..");
  }
  return kept.join("/");
}

const nodePath = {
  sep: "/",
  delimiter: ":",
  normalize(path) {
    if (pathText(path) === "") return ".";
    const isAbsolute = path.startsWith("/");
    const joined = normalParts(path, isAbsolute);
    const slash = path.endsWith("/") && joined ? "/" : "";
    return isAbsolute ? `/${joined}${slash}` : joined ? joined + slash : path.endsWith("/") ? "./" : ".";
  },
  join(...parts) {
    const joined = parts.map((part) => pathText(part)).filter(Boolean).join("/");
    return joined === "" ? "." : nodePath.normalize(joined);
  },
  resolve(...parts) {
    let path = "";
    for (const part of [workingFolder, ...parts]) {
      const text = pathText(part, "paths[0]");
      path = text.startsWith("/") ? text : text ? `${path}/${text}` : path;
    }
    return `/${normalParts(path, true)}`;
  },
  isAbsolute: (path) => pathText(path).startsWith("/"),
  relative(from, to) {
    const start = nodePath.resolve(from).split("/").filter(Boolean);
    const end = nodePath.resolve(to).split("/").filter(Boolean);
    let shared = 0;
    while (shared < start.length && start[shared] === end[shared]) shared++;
    return [...start.slice(shared).map(() => ".."), ...end.slice(shared)].join("/");
  },
  dirname(path) {
    const trimmed = pathText(path).replace(/(?!^)\/+$/, "");
    const at = trimmed.lastIndexOf("/");
    return at === -1 ? "." : at === 0 ? "/" : trimmed.slice(0, at);
  },
  basename(path, suffix = "") {
    const name = pathText(path).replace(/\/+$/, "").split("/").at(-1);
    return suffix && name !== suffix && name.endsWith(suffix) ? name.slice(0, -suffix.length) : name;
  },
  extname(path) {
    const name = nodePath.basename(path);
    const at = name.lastIndexOf(".");
    return at <= 0 ? "" : name.slice(at);
  },
  parse(path) {
    const base = nodePath.basename(path);
    const ext = nodePath.extname(path);
    const root = path.startsWith("/") ? "/" : "";
    const folder = nodePath.dirname(path);
    return { root, dir: folder === "." && !path.startsWith(".") ? "" : folder, base, ext, name: base.slice(0, base.length - ext.length) };
  },
  format({ root = "", dir, base, name = "", ext = "" }) {
    const file = base ?? name + (ext && !ext.startsWith(".") ? `.${ext}` : ext);
    const folder = dir ?? root;
    return !folder ? file : folder === root ? `${folder}${file}` : `${folder}/${file}`;
  },
  toNamespacedPath: (path) => path,
};
nodePath.posix = nodePath;

let workingFolder = "/workspace";
