// node:fs and node:fs/promises, on files.js.

class Stats {
  #kind;
  constructor([kind, size, mtimeMs, atimeMs, ctimeMs]) {
    this.#kind = kind;
    Object.assign(this, { size, mode: kind === "d" ? 0o40755 : 0o100644, nlink: 1, uid: 0, gid: 0, atimeMs, mtimeMs, ctimeMs, birthtimeMs: ctimeMs });
    Object.assign(this, { atime: new Date(atimeMs), mtime: new Date(mtimeMs), ctime: new Date(ctimeMs), birthtime: new Date(ctimeMs) });
  }
  isFile() {
    return this.#kind === "f";
  }
  isDirectory() {
    return this.#kind === "d";
  }
  isSymbolicLink() {
    return this.#kind === "l";
  }
  isFIFO() {
    return false;
  }
  isSocket() {
    return false;
  }
  isBlockDevice() {
    return false;
  }
  isCharacterDevice() {
    return false;
  }
}

class Dirent {
  #kind;
  constructor(name, parentPath, kind) {
    Object.assign(this, { name, parentPath, path: parentPath });
    this.#kind = kind;
  }
  isFile() {
    return this.#kind === "f";
  }
  isDirectory() {
    return this.#kind === "d";
  }
  isSymbolicLink() {
    return this.#kind === "l";
  }
}

function encodingOf(options) {
  const encoding = typeof options === "string" ? options : options?.encoding;
  return encoding === "buffer" ? undefined : encoding ?? undefined;
}

const F_OK = 0;
const constants = { F_OK, R_OK: 4, W_OK: 2, X_OK: 1, COPYFILE_EXCL: 1 };

/** Each does one thing, at once. */
const fsNow = {
  readFile(path, options) {
    const target = filePath(path);
    const encoding = encodingOf(options);
    if (encoding === undefined) return asBuffer(readBytes(target));
    return /^utf-?8$/i.test(encoding) ? readTextAt(target) : decodeBytes(readBytes(target), encoding);
  },
  writeFile(path, data, options) {
    const encoding = encodingOf(options);
    const target = filePath(path);
    const content = typeof data === "string" && encoding && !/^utf-?8$/i.test(encoding) ? encodeText(data, encoding) : contentOf(data);
    const flag = (typeof options === "object" && options?.flag) || "w";
    onFile("open", target, () => host.writeFile(target, content, flag));
  },
  appendFile(path, data) {
    const target = filePath(path);
    onFile("open", target, () => host.writeFile(target, contentOf(data), "a"));
  },
  readdir(path, options) {
    const target = filePath(path);
    const found = [];
    const walk = (folder, before) => {
      for (const [name, kind] of entriesOf(folder)) {
        found.push(options?.withFileTypes ? new Dirent(name, folder, kind) : before + name);
        if (options?.recursive && kind === "d") walk(`${folder}/${name}`, `${before}${name}/`);
      }
    };
    walk(target, "");
    return found;
  },
  stat(path, options) {
    const target = filePath(path);
    try {
      return new Stats(onFile("stat", target, () => host.stat(target)));
    } catch (error) {
      if (options?.throwIfNoEntry === false && error.code === "ENOENT") return undefined;
      throw error;
    }
  },
  lstat: (path, options) => fsNow.stat(path, options),
  access(path) {
    const target = filePath(path);
    onFile("access", target, () => host.stat(target));
  },
  mkdir(path, options) {
    const target = filePath(path);
    if (typeof options === "object" && options?.recursive) return makeFolders(target);
    onFile("mkdir", target, () => host.makeFolder(target));
    return undefined;
  },
  mkdtemp(prefix) {
    const target = filePath(prefix) + host.random(3).toHex();
    onFile("mkdtemp", target, () => host.makeFolder(target));
    return target;
  },
  rmdir(path, options) {
    const target = filePath(path);
    if (options?.recursive) return fsNow.rm(path, { recursive: true });
    onFile("rmdir", target, () => host.removeFolder(target));
    return undefined;
  },
  unlink(path) {
    const target = filePath(path);
    onFile("unlink", target, () => host.removeFile(target));
  },
  rm(path, options) {
    const target = filePath(path);
    let kind;
    try {
      [kind] = onFile("rm", target, () => host.stat(target));
    } catch (error) {
      if (options?.force && error.code === "ENOENT") return;
      throw error;
    }
    if (kind !== "d") return onFile("rm", target, () => host.removeFile(target));
    if (!options?.recursive) {
      const error = new ErrorType(`Path is a directory: rm returned EISDIR (is a directory) ${target}`);
      throw Object.assign(error, { code: "ERR_FS_EISDIR", path: target });
    }
    for (const [name] of entriesOf(target)) fsNow.rm(`${target}/${name}`, { recursive: true });
    onFile("rm", target, () => host.removeFolder(target));
  },
  rename(from, to) {
    const [source, target] = [filePath(from), filePath(to)];
    onFile("rename", source, () => host.rename(source, target), target);
  },
  copyFile(from, to, mode = 0) {
    const [source, target] = [filePath(from), filePath(to)];
    const bytes = readBytes(source);
    onFile("copyfile", source, () => host.writeFile(target, bytes, mode & 1 ? "wx" : "w"), target);
  },
  cp(from, to, options) {
    const [source, target] = [filePath(from), filePath(to)];
    const [kind] = onFile("cp", source, () => host.stat(source));
    if (kind !== "d") return fsNow.copyFile(source, target);
    if (!options?.recursive) throw fileError("EISDIR", "cp", source);
    makeFolders(target);
    for (const [name] of entriesOf(source)) fsNow.cp(`${source}/${name}`, `${target}/${name}`, options);
  },
  truncate(path, length = 0) {
    const bytes = fsNow.readFile(path);
    const resized = new Uint8Array(length);
    resized.set(bytes.subarray(0, length));
    fsNow.writeFile(path, resized);
  },
  realpath: (path) => {
    const target = filePath(path);
    onFile("realpath", target, () => host.stat(target));
    return target;
  },
  utimes() {},
  chmod() {},
};

const fsPromises = { constants };
const nodeFs = { constants, promises: fsPromises, Stats, Dirent, ...constants };

for (const [name, now] of Object.entries(fsNow)) {
  nodeFs[`${name}Sync`] = { [`${name}Sync`]: (...args) => now(...args) }[`${name}Sync`];
  fsPromises[name] = { [name]: async (...args) => now(...args) }[name];
  nodeFs[name] = {
    [name](...args) {
      const callback = args.pop();
      if (typeof callback !== "function") {
        throw new TypeError(`fs.${name} takes a callback: use fs.${name}Sync, or await fs.promises.${name}(...)`);
      }
      fsPromises[name](...args).then((value) => callback(null, value), (error) => callback(error));
    },
  }[name];
}
nodeFs.existsSync = function existsSync(path) {
  try {
    return exists(filePath(path));
  } catch {
    return false;
  }
};
nodeFs.exists = (path, callback) => queueMicrotask(() => callback(nodeFs.existsSync(path)));
for (const name of ["createReadStream", "createWriteStream", "openSync", "open", "watch", "watchFile", "symlinkSync", "linkSync"]) {
  nodeFs[name] = {
    [name]() {
      throw new ErrorType(`fs.${name} isn't available here: use fs.readFileSync, fs.writeFileSync and fs.appendFileSync`);
    },
  }[name];
}
fsPromises.open = async () => nodeFs.open();
