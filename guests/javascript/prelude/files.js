// Files as the host gives them, with Node's errors; and the helpers readFile, writeFile, listDirectory.

const TREES = ["servers", "skills", "results"];
const FILE_ROOTS = ["/workspace", "/tmp", "/servers", "/skills", "/results"];
const ERRNO = {
  ENOENT: [-2, "no such file or directory"],
  EPERM: [-1, "operation not permitted"],
  EIO: [-5, "i/o error"],
  EACCES: [-13, "permission denied"],
  EEXIST: [-17, "file already exists"],
  EXDEV: [-18, "cross-device link not permitted"],
  ENOTDIR: [-20, "not a directory"],
  EISDIR: [-21, "illegal operation on a directory"],
  EINVAL: [-22, "invalid argument"],
  EFBIG: [-27, "file too large"],
  ENOSPC: [-28, "no space left on device"],
  EROFS: [-30, "read-only file system"],
  ENAMETOOLONG: [-36, "name too long"],
  ENOTEMPTY: [-39, "directory not empty"],
  ELOOP: [-40, "too many symbolic links encountered"],
  EDQUOT: [-122, "the workspace is full"],
};

function fileError(code, syscall, path, dest) {
  const [errno, text] = ERRNO[code] ?? [-5, "i/o error"];
  const places = dest === undefined ? `'${path}'` : `'${path}' -> '${dest}'`;
  const error = new ErrorType(`${code}: ${text}, ${syscall} ${places}`);
  return Object.assign(error, { errno, code, syscall, path }, dest === undefined ? {} : { dest });
}

/** Calls a file function of the host; what it throws becomes an error of Node's. */
function onFile(syscall, path, work, dest) {
  try {
    return work(path);
  } catch (code) {
    if (typeof code === "string") throw fileError(code, syscall, path, dest);
    throw code;
  }
}

/** The absolute path that is meant; relative ones into a tree beside the workspace are found there. */
function filePath(given) {
  let path = given;
  if (path instanceof URL) path = decodeURIComponent(path.pathname);
  else if (path instanceof Uint8Array) path = host.decode(path);
  pathText(path);
  if (path.includes("\0")) throw new TypeError("The argument 'path' must be a string without null bytes");
  if (path.startsWith("/")) return nodePath.normalize(path);
  const resolved = nodePath.resolve(path);
  const plain = path.replace(/^(?:\.\/)+/, "");
  return TREES.includes(plain.split("/")[0]) && !exists(resolved) ? `/${normalParts(plain, true)}` : resolved;
}

function exists(path) {
  try {
    host.stat(path);
    return true;
  } catch {
    return false;
  }
}

function readBytes(path) {
  return onFile("open", path, () => {
    const [kind, size] = host.stat(path);
    if (kind === "d") throw fileError("EISDIR", "read", path);
    const bytes = new Uint8Array(size);
    const count = host.readInto(path, 0, bytes);
    return count === size ? bytes : bytes.slice(0, count);
  });
}

function readTextAt(path) {
  return onFile("open", path, () => host.readText(path));
}

/** Entries of a folder, sorted: `[name, kind]`. */
function entriesOf(path) {
  const flat = onFile("scandir", path, () => host.list(path));
  const found = [];
  for (let at = 0; at < flat.length; at += 2) found.push([flat[at], flat[at + 1]]);
  return found.sort(([one], [other]) => (one < other ? -1 : 1));
}

function namesIn(path) {
  try {
    return entriesOf(path).map(([name]) => name);
  } catch {
    return [];
  }
}

function makeFolders(path) {
  if (path === "/" || exists(path)) return undefined;
  const above = makeFolders(nodePath.dirname(path));
  try {
    onFile("mkdir", path, () => host.makeFolder(path));
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
  }
  return above ?? path;
}

function contentOf(data) {
  if (typeof data === "string") return data.toWellFormed();
  if (isBytes(data)) return bytesOf(data);
  const error = new TypeError(
    `The "data" argument must be of type string or an instance of Buffer, TypedArray, or DataView. Received ${typeName(data)}; for data write JSON.stringify(...)`,
  );
  error.code = "ERR_INVALID_ARG_TYPE";
  throw error;
}

/** The text of a file. Needs no await. */
function readFile(path, options) {
  const target = filePath(path);
  const encoding = typeof options === "string" ? options : options?.encoding;
  if (encoding !== undefined && !/^utf-?8$/i.test(encoding)) return decodeBytes(readBytes(target), encoding);
  try {
    return readTextAt(target);
  } catch (error) {
    throw withAdvice(error, target);
  }
}

/** Writes text or bytes, making parent folders. Gives the number of bytes. Needs no await. */
function writeFile(path, content) {
  const target = filePath(path);
  const data = contentOf(content);
  makeFolders(nodePath.dirname(target));
  onFile("open", target, () => host.writeFile(target, data, "w"));
  return typeof data === "string" ? host.byteLength(data) : data.length;
}

/** Sorted names in a folder; folders end with "/". Needs no await. */
function listDirectory(path = ".") {
  const target = filePath(path);
  try {
    return entriesOf(target).map(([name, kind]) => (kind === "d" ? `${name}/` : name));
  } catch (error) {
    throw withAdvice(error, target);
  }
}

function withAdvice(error, path) {
  const hint = fileHint(error, path);
  if (hint !== undefined && !error.message.includes(hint)) error.message += `; ${hint}`;
  return error;
}

/** What there is instead of a file that was not found, or may not be touched. */
function fileHint(error, path) {
  if (typeof path !== "string") return undefined;
  if (!FILE_ROOTS.some((root) => path === root || path.startsWith(`${root}/`)) && path !== "/") {
    return "programs see only /workspace and /tmp (and /servers, /skills and /results, read-only)";
  }
  const isInResults = path === "/results" || path.startsWith("/results/");
  if (isInResults && error.code === "EPERM") return "results can't be listed: open one by the handle from an answer";
  if (error.code === "EROFS" || error.code === "EPERM") return "this folder is read-only: write to /workspace";
  if (error.code !== "ENOENT") return undefined;
  if (isInResults && exists("/results")) {
    return "no such result: check the handle and the extension; unused results are removed after a while, and `gristmill results list` lists those that are left";
  }
  const folder = nodePath.dirname(path);
  const names = namesIn(folder);
  const [close] = closest(nodePath.basename(path), names);
  if (close !== undefined) return `did you mean "${close}"?`;
  if (!exists(folder)) return `there is no folder "${folder}"`;
  return names.length ? `"${folder}" has ${listed(names, 12)}` : `"${folder}" is empty`;
}
