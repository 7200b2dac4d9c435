// Answers with files: images, sound and other bytes of a tool become files of the workspace.
//
// Such an answer is `F` and JSON: `{"value", "files": [{"mime", "base64", "name"}]}`. Every `{"$file": n}`
// in the value gives way to where file n lies. The server chooses neither folder nor extension, replaces no
// file, and leaves none behind if one of them fails.

const FILES_MARK = "F";
const TOOL_FILES = "/workspace/tool_files";
const TOOL_FILES_MAX = 1000;
const TAKEN_MAX = 100_000;
const EXTENSIONS = {
  "application/gzip": "gz", "application/json": "json", "application/pdf": "pdf", "application/xml": "xml", "application/zip": "zip",
  "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
  "audio/aac": "aac", "audio/flac": "flac", "audio/mp3": "mp3", "audio/mp4": "m4a", "audio/mpeg": "mp3", "audio/ogg": "ogg",
  "audio/wav": "wav", "audio/wave": "wav", "audio/webm": "weba", "audio/x-wav": "wav", "image/avif": "avif", "image/bmp": "bmp",
  "image/gif": "gif", "image/jpeg": "jpg", "image/jpg": "jpg", "image/png": "png", "image/svg+xml": "svg", "image/tiff": "tif",
  "image/webp": "webp", "text/csv": "csv", "text/html": "html", "text/markdown": "md", "text/plain": "txt", "text/xml": "xml",
  "video/mp4": "mp4", "video/webm": "webm",
};

let toolFileCount = 0;
// Images that tools answered with, by path: a result that names one carries its bytes along.
const toolImages = new Set();

function unusable(message, code, kind = "tool") {
  return new ToolError(message, { code, kind });
}

function valueWithFiles(payload, tool) {
  let answer;
  try {
    answer = fromJSONText(payload.slice(FILES_MARK.length));
  } catch {
    answer = null;
  }
  if (!isArray(answer?.files) || !hasOwn(answer, "value")) throw unusable("the tool's answer has files, but cannot be read", "GM-1104");
  if (answer.files.length > TOOL_FILES_MAX) {
    throw unusable(`the tool's answer has ${answer.files.length} files; at most ${TOOL_FILES_MAX} are allowed`, undefined, "limit");
  }
  const root = { value: answer.value };
  const references = referencesIn(root);
  const numbers = [...new Set(references.map(({ number }) => number))].sort((one, other) => one - other);
  const missing = numbers.find((number) => !(number >= 0 && number < answer.files.length));
  if (missing !== undefined) throw unusable(`the tool's answer refers to file ${missing} but contains ${answer.files.length}`, "GM-1104");
  const placed = placeFiles(numbers.map((number) => [number, readToolFile(answer.files[number], number)]), tool);
  for (const { container, key, number } of references) container[key] = { ...placed.get(number) };
  return root.value;
}

/** Walks without recursion: the value may be deep. */
function referencesIn(root) {
  const found = [];
  const left = [root];
  while (left.length) {
    const container = left.pop();
    for (const key of keysOf(container)) {
      const member = container[key];
      if (member === null || typeof member !== "object") continue;
      if (!isArray(member) && keysOf(member).length === 1 && Number.isInteger(member.$file)) found.push({ container, key, number: member.$file });
      else left.push(member);
    }
  }
  return found;
}

function readToolFile(described, number) {
  if (typeof described?.base64 !== "string") throw unusable(`file ${number} of the tool's answer has no base64 text`, "GM-1104");
  let data;
  try {
    data = Uint8Array.fromBase64(described.base64, { lastChunkHandling: "strict" });
  } catch {
    throw unusable(`file ${number} of the tool's answer is not base64`, "GM-1104");
  }
  const told = typeof described.mime === "string" ? described.mime.split(";")[0].trim().toLowerCase() : "";
  const mime = told.slice(0, 100) || "application/octet-stream";
  const family = mime.split("/")[0];
  return { data, mime, extension: hasOwn(EXTENSIONS, mime) ? EXTENSIONS[mime] : "bin", type: ["image", "audio"].includes(family) ? family : "file" };
}

/** Writes all files or none. */
function placeFiles(files, tool) {
  const paths = [];
  const placed = new Map();
  const stem = tool.split(".").at(-1).slice(0, 60).replace(/[^A-Za-z0-9_-]/g, "_").replace(/^-+|-+$/g, "") || "tool";
  try {
    for (const [number, file] of files) {
      const path = writeToolFile(file, stem);
      paths.push(path);
      placed.set(number, { type: file.type, path, mime: file.mime, bytes: file.data.length });
      if (file.type === "image") toolImages.add(path);
    }
  } catch (error) {
    for (const path of paths) {
      try {
        host.removeFile(path);
      } catch {}
    }
    throw error;
  }
  return placed;
}

function writeToolFile(file, stem) {
  makeFolders(TOOL_FILES);
  for (let tries = 0; tries < TAKEN_MAX; tries++) {
    const path = `${TOOL_FILES}/${stem}-${++toolFileCount}.${file.extension}`;
    try {
      host.writeFile(path, file.data, "wx");
      return path;
    } catch (code) {
      if (code === "EEXIST") continue;
      const size = `${file.mime}, ${file.data.length.toLocaleString()} bytes`;
      const said = typeof code === "string" ? ERRNO[code]?.[1] ?? code : `${code}`;
      throw unusable(`the tool answered with a file (${size}) that doesn't fit in the workspace: ${said}; remove files, or ask the tool for less`, undefined, "limit");
    }
  }
  throw unusable(`${TOOL_FILES} is full; remove files from it`, undefined, "limit");
}
