// Lines of the program: which one is being executed, and stack traces that show nothing else, with the places that its
// author knows.

const PRELUDE_NAME = "gristmill:prelude";
const DEFAULT_FILENAME = "program.ts";
const STACK_LINES_MAX = 12;
const FRAME = /^\s*at (?:(.*?) \()?(?:(.+?):(\d+)(?::(\d+))?|native)\)?$/;

// Names of this program and of earlier ones of the same session.
const programNames = new Set([DEFAULT_FILENAME]);
const skillFiles = new Set();

// What was rewritten in them, by their names: a comment behind the last line of each script says it.
const rewrites = new Map();
const REWRITES_MARK = "}) // ";

function noteRewrites(file, script) {
  const last = script.slice(script.lastIndexOf("\n") + 1);
  rewrites.set(file, last.startsWith(REWRITES_MARK) ? last.slice(REWRITES_MARK.length) : "[]");
}

/** A line that was rewritten: its author's text, and the stretches of it. Undefined for all others. */
function rewritten(file, line) {
  let lines = rewrites.get(file);
  if (typeof lines === "string") {
    // Nobody asks before something has failed.
    lines = new Map(fromJSONText(lines).map(([number, text, stretches]) => [number, { text, stretches }]));
    rewrites.set(file, lines);
  }
  return lines?.get(line);
}

/** Where something of a script is in its author's text. What stands before that on the first line has no column. */
function placeIn(file, line, column) {
  const found = rewritten(file, line);
  if (found === undefined) return { file, line, column: line > 1 ? column : undefined };
  // Of each stretch: the byte where it begins, the author's column there, and the bytes of a character.
  const { stretches } = found;
  let at = 0;
  while (stretches[at + 3] < column) at += 3;
  const [from, original, width] = stretches.slice(at, at + 3);
  if (line === 1 && at === 0 && width === 0) return { file, line: importLine(file), column: undefined };
  return { file, line, column: original + 1 + (width === 0 ? 0 : Math.floor((column - 1 - from) / width)) };
}

/** Imports are before the first line: the line of the latest. */
function importLine(file) {
  return file === run?.filename ? run.importLine : 1;
}

/** A line of the program as its author wrote it; undefined where there is none. */
function authorsLine(line) {
  const found = rewritten(run.filename, line);
  if (found !== undefined) return found.text;
  const lines = run.code.split("\n");
  return line > 1 && line < lines.length ? lines[line - 1] : undefined;
}

function framesOf(error) {
  let stack;
  try {
    stack = error.stack;
  } catch {
    return [];
  }
  if (typeof stack !== "string") return [];
  const frames = [];
  for (const text of stack.split("\n").slice(0, 200)) {
    const found = FRAME.exec(text);
    if (found === null || found[2] === undefined || found[2] === PRELUDE_NAME) continue;
    if (!programNames.has(found[2]) && !skillFiles.has(found[2])) continue;
    frames.push({ name: nameOfFrame(found[1]), ...placeIn(found[2], Number(found[3]), Number(found[4])) });
  }
  return frames;
}

function nameOfFrame(name) {
  return name === undefined || name.startsWith("<") ? "" : name;
}

/** The file of the program and the line that an error came from, or undefined. */
function placeOf(error) {
  if (error === null || typeof error !== "object") return undefined;
  if (Number.isInteger(error[LINE])) return { file: run.filename, line: error[LINE] };
  return framesOf(error).find((found) => programNames.has(found.file));
}

/** The line of the program that is being executed, or null. */
function programLine() {
  const { stack } = new ErrorType();
  const mark = `${run?.filename}:`;
  const at = typeof stack === "string" ? stack.indexOf(mark) : -1;
  if (at === -1) return null;
  const line = parseInt(stack.slice(at + mark.length, at + mark.length + 8), 10);
  return Number.isNaN(line) ? null : line;
}

// Where the program made a call: the answer comes when nothing of it is on the stack.
const LINE = Symbol("line");

/** The program's own frames, as Node writes them. */
function shortStack(error) {
  const lines = [];
  for (const frame of framesOf(error)) {
    const at = frame.column ? `${frame.file}:${frame.line}:${frame.column}` : `${frame.file}:${frame.line}`;
    const text = frame.name ? `    at ${frame.name} (${at})` : `    at ${at}`;
    if (lines[lines.length - 1] !== text) lines.push(text);
  }
  if (lines.length > STACK_LINES_MAX) {
    const left = lines.length - STACK_LINES_MAX;
    lines.splice(STACK_LINES_MAX - 2, left + 1, `    ... ${left + 1} more`);
  }
  return lines.join("\n");
}
